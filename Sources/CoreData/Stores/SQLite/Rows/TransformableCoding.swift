import Foundation
import ModelFiles

/// The bytes of a transformable value of which no object can be made here. Only copies of stores read values so
/// (``StoreQuery/keepsUncoded``); objects of a context never have one.
package final class UncodedValue: NSObject {
    let data: Data

    package init(_ data: Data) { self.data = data }

    package override func isEqual(_ object: Any?) -> Bool { (object as? UncodedValue)?.data == data }

    package override var hash: Int { data.hashValue }

    /// The bytes of a value, or of all within the dictionary of a composite one; `nil` where all could be understood.
    static func data(in object: Any) -> Data? {
        if let kept = object as? UncodedValue { return kept.data }
        guard let parts = object as? [String: Any] else { return nil }
        let found = parts.sorted { $0.key < $1.key }.compactMap { data(in: $0.value) }
        return found.isEmpty ? nil : Data(found.joined())
    }
}

/// Transformable values as bytes: what the attribute's value transformer makes of them, by default a keyed archive.
///
/// The transformers of the unarchiving family turn data into objects, so they are used in reverse for writing; any other
/// turns objects into data.
package enum TransformableCoding {
    /// - Parameter isOptional: whether a value is archived if the transformer is missing: in a store in memory, where Apple's
    ///   framework transforms nothing.
    private static func transformer(of attribute: NSAttributeDescription, isOptional: Bool) -> ValueTransformer? {
        let name = attribute.valueTransformerName ?? ""
        let named = name.isEmpty ? nil : ValueTransformer.transformer(named: NSValueTransformerName(name))
        guard named == nil, name.isEmpty || isOptional else { return named }
        return ValueTransformer.transformer(named: .keyedUnarchiveFromDataTransformerName)
    }

    private static func givesObjects(_ transformer: ValueTransformer) -> Bool {
        transformer is NSSecureUnarchiveFromDataTransformer || transformer is KeyedUnarchiveTransformer
    }

    /// `nil`, which is stored as nothing, where the program's transformer gives `nil`.
    ///
    /// - Throws: 134030 where the value cannot be transformed, or the attribute has a transformer that is not here.
    package static func data(
        from object: NSObject, attribute: NSAttributeDescription, archivesWithoutTransformer: Bool = false
    ) throws -> Data? {
        if let kept = object as? UncodedValue { return kept.data }
        guard let transformer = transformer(of: attribute, isOptional: archivesWithoutTransformer) else {
            throw refusal(attribute, "there is no value transformer named \(attribute.valueTransformerName ?? "")")
        }
        let value = AttributeCoercion.value(.object(object), type: .transformableAttributeType)
        let made =
            givesObjects(transformer)
            ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
        if let data = made as? Data { return data }
        guard let made else {
            guard givesObjects(transformer) else { return nil }
            let kind = value.map { "\(type(of: $0))" } ?? "nil"
            throw refusal(attribute, "a value of the class \(kind) cannot be archived")
        }
        throw refusal(
            attribute, "its value transformer \(type(of: transformer)) gives a \(type(of: made)) instead of data")
    }

    private static func refusal(_ attribute: NSAttributeDescription, _ reason: String) -> NSError {
        CoreDataError.make(
            134030, "Cannot save \(attribute.owningEntity?.name ?? "").\(attribute.name): \(reason).",
            userInfo: [NSValidationKeyErrorKey: attribute.name])
    }

    /// Why ``object(from:attribute:)`` gives nothing.
    static func obstacle(_ data: Data, _ attribute: NSAttributeDescription) -> String {
        guard let transformer = transformer(of: attribute, isOptional: false) else {
            return "there is no value transformer named \(attribute.valueTransformerName ?? "")"
        }
        guard givesObjects(transformer) else {
            return "the value transformer \(type(of: transformer)) makes nothing of a value"
        }
        guard let archive = try? KeyedArchive(data) else { return "a value is not a keyed archive" }
        guard KeyedArchiveCoding.isLimited(archive) else {
            return "a value contains itself, is nested too deeply, or expands to too many objects"
        }
        let unknown = archive.classNames.filter { !ArchivedValues.classNames.contains($0) }.sorted().joined(
            separator: ", ")
        return unknown.isEmpty ? "a value is a damaged archive" : "a value of the class \(unknown) cannot be made here"
    }

    /// `nil` where the transformer is not here, or makes nothing of the bytes.
    package static func object(
        from data: Data, attribute: NSAttributeDescription, archivesWithoutTransformer: Bool = false
    ) -> NSObject? {
        guard let transformer = transformer(of: attribute, isOptional: archivesWithoutTransformer) else { return nil }
        let made: Any?
        if givesObjects(transformer) {
            made = transformer.transformedValue(data)
        } else {
            guard type(of: transformer).allowsReverseTransformation() else { return nil }
            made = transformer.reverseTransformedValue(data)
        }
        guard case .object(let object)? = AttributeCoercion.slotValue(made, type: .transformableAttributeType) else {
            return nil
        }
        return object
    }
}
