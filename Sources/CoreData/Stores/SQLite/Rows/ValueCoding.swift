import SQLiteAccess

/// The encoding of a slot's value in its column.
enum ValueCoding: UInt8, Sendable {
    /// Whole numbers and Booleans.
    case integer
    case real
    /// Seconds since 2001-01-01.
    case date
    /// Strings and URIs.
    case text
    case data
    /// Bytes with one in front that says whether they stand here or in a file.
    case externalData
    case uuid
    case decimal
    /// What the attribute's transformer makes of the value.
    case transformable
    /// A composite value: a column for each of its leaves.
    case composite
    /// The `Z_PK` of another row.
    case reference

    /// Whether an attribute's column holds values of a type of SQLite. A decimal that no number can hold is a blob; a composite
    /// has columns of its own.
    func holds(_ kind: ColumnKind) -> Bool {
        switch self {
        case .integer, .reference: kind == .integer
        case .real, .date: kind == .real || kind == .integer
        case .text: kind == .text
        case .decimal: kind != .text
        case .data, .externalData, .uuid, .transformable: kind == .blob
        case .composite: false
        }
    }

    /// The coding of an attribute's column; `nil` for one that is not kept in a column of its own.
    init?(_ attribute: NSAttributeDescription) {
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType:
            self = .integer
        case .doubleAttributeType, .floatAttributeType: self = .real
        case .dateAttributeType: self = .date
        case .stringAttributeType, .URIAttributeType: self = .text
        case .binaryDataAttributeType: self = attribute.allowsExternalBinaryDataStorage ? .externalData : .data
        case .UUIDAttributeType: self = .uuid
        case .decimalAttributeType: self = .decimal
        case .transformableAttributeType: self = .transformable
        case .compositeAttributeType: self = .composite
        case .undefinedAttributeType, .objectIDAttributeType: return nil
        }
    }
}
