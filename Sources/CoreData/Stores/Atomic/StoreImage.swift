import Foundation
import ModelFiles

/// The contents of a built-in atomic store's file, without a model.
struct StoreImage {
    /// One row.
    struct Record {
        let entity: String
        let number: Int64
        /// Values by attribute name, or `attribute.element` for composite attributes. A missing value is nil.
        var values: [String: PropertyListValue] = [:]
        /// The numbers of the destination rows by relationship name, in order.
        var destinations: [String: [Int64]] = [:]
        /// The names of the value types, if the file has them.
        var types: [String: String]?
        /// The types and destinations of relationships, if the file has them.
        var relationships: [String: (type: String, destination: String)]?
    }

    var metadata: [String: Any] = [:]
    /// The number for the next new row, greater than the number of any row so far.
    var nextNumber: Int64 = 1
    var records: [Record] = []
}

/// The file format of a store.
protocol StoreFileFormat {
    /// Reads the content of a store from the data of its file.
    ///
    /// - Parameter path: for errors.
    /// - Throws: 259 if the data has another format or is damaged.
    static func image(from data: Data, path: String) throws -> StoreImage

    /// Returns the data of the store's file.
    ///
    /// - Throws: 134030 for metadata that the file cannot contain.
    static func data(of image: StoreImage, model: NSManagedObjectModel?) throws -> Data

    /// Checks that the format can store the entities.
    ///
    /// - Throws: 134060 for entities or properties that the format cannot distinguish.
    static func check(_ entities: [NSEntityDescription]) throws
}

/// Conversion of attribute values for the file.
enum StoredValue {
    /// Adds the value of `attribute` to those of a record.
    ///
    /// - Throws: 134030 for a value that cannot be stored.
    static func add(
        _ value: SlotValue, of attribute: NSAttributeDescription, to values: inout [String: PropertyListValue]
    ) throws {
        guard let composite = attribute as? NSCompositeAttributeDescription else {
            values[attribute.name] = try plain(value, attribute)
            return
        }
        for leaf in composite.leaves {
            guard let part = CompositeRow.value(of: value, at: leaf) else { continue }
            values[composite.name(of: leaf)] = try plain(part, leaf.attribute)
        }
    }

    /// Returns the value of `attribute` in a record; `nil` if the attribute cannot have it.
    static func slot(
        of attribute: NSAttributeDescription, in values: [String: PropertyListValue], fold: (String) -> String = { $0 }
    ) -> SlotValue? {
        func slot(_ attribute: NSAttributeDescription, named name: String) -> SlotValue? {
            values[fold(name)].map { Self.slot($0, attribute) } ?? .null
        }
        guard let composite = attribute as? NSCompositeAttributeDescription else {
            return slot(attribute, named: attribute.name)
        }
        let parts = composite.leaves.map { slot($0.attribute, named: composite.name(of: $0)) }
        guard !parts.contains(where: { $0 == nil }) else { return nil }
        return CompositeRow.composed(parts.compactMap(\.self), composite)
    }

    private static func plain(_ value: SlotValue, _ attribute: NSAttributeDescription) throws -> PropertyListValue? {
        switch value {
        case .null, .reference: nil
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .text(let text): .string(text)
        case .data(let data): .data(data)
        case .uuid(let id): .string(id.uuidString)
        case .decimal(let number): .string(number.stringValue)
        case .object(let object): try TransformableCoding.data(from: object, attribute: attribute).map { .data($0) }
        }
    }

    /// Returns `nil` if the attribute cannot have such a value.
    private static func slot(_ value: PropertyListValue, _ attribute: NSAttributeDescription) -> SlotValue? {
        switch (attribute.attributeType, value) {
        case (.integer16AttributeType, .integer(let number)), (.integer32AttributeType, .integer(let number)),
            (.integer64AttributeType, .integer(let number)):
            .integer(number)
        case (.booleanAttributeType, .integer(let number)): .integer(number == 0 ? 0 : 1)
        case (.doubleAttributeType, .real(let number)), (.floatAttributeType, .real(let number)),
            (.dateAttributeType, .real(let number)):
            .real(number)
        case (.stringAttributeType, .string(let text)), (.URIAttributeType, .string(let text)): .text(text)
        case (.binaryDataAttributeType, .data(let data)): .data(data)
        case (.UUIDAttributeType, .string(let text)): UUID(uuidString: text).map(SlotValue.uuid)
        case (.decimalAttributeType, .string(let text)): decimal(text)
        case (.transformableAttributeType, .data(let data)):
            .object(TransformableCoding.object(from: data, attribute: attribute) ?? UncodedValue(data))
        default: nil
        }
    }

    private static func decimal(_ text: String) -> SlotValue? {
        if text == "NaN" { return .decimal(.notANumber) }
        return Decimal(string: text).map { .decimal(NSDecimalNumber(decimal: $0)) }
    }
}
