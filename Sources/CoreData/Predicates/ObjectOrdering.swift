import Foundation

/// How the values of an attribute are ordered, and that they are.
enum SlotOrder {
    case number
    case text
    case bytes

    /// `nil` for an attribute whose values have no order: a transient, transformable, composite or undefined one, or data
    /// that may lie outside the store's file.
    init?(_ attribute: NSAttributeDescription) {
        if attribute.isTransient { return nil }
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
            .doubleAttributeType, .floatAttributeType, .booleanAttributeType, .dateAttributeType:
            self = .number
        case .stringAttributeType, .URIAttributeType: self = .text
        case .UUIDAttributeType: self = .bytes
        case .binaryDataAttributeType:
            if attribute.allowsExternalBinaryDataStorage { return nil }
            self = .bytes
        default: return nil
        }
    }
}
