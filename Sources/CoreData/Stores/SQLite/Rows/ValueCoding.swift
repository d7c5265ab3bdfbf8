import SQLiteAccess

/// The encoding of a slot's value in its column.
enum ValueCoding: UInt8, Sendable {
    /// Integers and Booleans.
    case integer
    case real
    /// Seconds since 2001-01-01.
    case date
    /// Strings and URIs.
    case text
    case data
    /// Bytes after a first byte that shows if the value is here or in a file.
    case externalData
    case uuid
    case decimal
    /// The output of the attribute's transformer.
    case transformable
    /// A composite value: a column for each of its leaves.
    case composite
    /// The `Z_PK` of another row.
    case reference

    /// True if an attribute's column may contain values of an SQLite type. A decimal that does not fit a number is a
    /// blob; a composite attribute has other columns.
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

    /// Creates the coding of an attribute's column; `nil` for an attribute without one.
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
