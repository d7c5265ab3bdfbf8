import Foundation
import ModelFiles

/// The bytes of a transformable value that cannot be decoded here. Only copies of stores read such values
/// (``StoreQuery/keepsUncoded``); objects of a context never have one.
package final class UncodedValue: NSObject {
    let data: Data

    package init(_ data: Data) { self.data = data }

    package override func isEqual(_ object: Any?) -> Bool { (object as? UncodedValue)?.data == data }

    package override var hash: Int { data.hashValue }

    /// Returns the bytes of an undecoded value, or of all in a composite value's dictionary; `nil` if there are none.
    static func data(in object: Any) -> Data? {
        if let kept = object as? UncodedValue { return kept.data }
        guard let parts = object as? [String: Any] else { return nil }
        let found = parts.sorted { $0.key < $1.key }.compactMap { data(in: $0.value) }
        return found.isEmpty ? nil : Data(found.joined())
    }
}

/// Conversion of transformable values to and from bytes with the attribute's transformer, by default a keyed archive.
///
/// Transformers of the unarchiving family convert data to objects, so they are reversed for writing. All others convert
/// objects to data.
package enum TransformableCoding {
    /// - Parameter isOptional: true to archive a value if its transformer is missing. That is for a store in memory, in
    ///   which Apple's framework transforms nothing.
    private static func transformer(of attribute: NSAttributeDescription, isOptional: Bool) -> ValueTransformer? {
        let name = attribute.valueTransformerName ?? ""
        let named = name.isEmpty ? nil : ValueTransformer.transformer(named: NSValueTransformerName(name))
        guard named == nil, name.isEmpty || isOptional else { return named }
        return ValueTransformer.transformer(named: .keyedUnarchiveFromDataTransformerName)
    }

    private static func givesObjects(_ transformer: ValueTransformer) -> Bool {
        transformer is NSSecureUnarchiveFromDataTransformer || transformer is KeyedUnarchiveTransformer
    }

    /// Returns `nil`, which is stored as NULL, if the program's transformer returns `nil`.
    ///
    /// - Throws: 134030 if the value cannot be transformed, or the attribute's transformer is missing.
    package static func data(
        from object: NSObject, attribute: NSAttributeDescription, archivesWithoutTransformer: Bool = false
    ) throws -> Data? {
        if let kept = object as? UncodedValue { return kept.data }
        guard let transformer = transformer(of: attribute, isOptional: archivesWithoutTransformer) else {
            throw refusal(
                attribute, "this program has no value transformer named \(attribute.valueTransformerName ?? "")")
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
            attribute, "its value transformer \(type(of: transformer)) returned a \(type(of: made)) instead of data")
    }

    private static func refusal(_ attribute: NSAttributeDescription, _ reason: String) -> NSError {
        CoreDataError.make(
            134030, "Cannot save \(attribute.owningEntity?.name ?? "").\(attribute.name): \(reason).",
            userInfo: [NSValidationKeyErrorKey: attribute.name])
    }

    /// Returns the reason why ``object(from:attribute:)`` returns `nil`.
    static func obstacle(_ data: Data, _ attribute: NSAttributeDescription) -> String {
        guard let transformer = transformer(of: attribute, isOptional: false) else {
            return "this program has no value transformer named \(attribute.valueTransformerName ?? "")"
        }
        guard givesObjects(transformer) else {
            return "the value transformer \(type(of: transformer)) cannot read a value"
        }
        guard let archive = try? KeyedArchive(data) else { return "a value is not a keyed archive" }
        guard KeyedArchiveCoding.isLimited(archive) else {
            return "a value contains itself, is nested too deeply, or expands to too many objects"
        }
        let unknown = archive.classNames.filter { !ArchivedValues.classNames.contains($0) }.sorted().joined(
            separator: ", ")
        return unknown.isEmpty
            ? "a value is a damaged archive" : "this program cannot decode a value of the class \(unknown)"
    }

    /// Returns `nil` if the transformer is missing or cannot decode the bytes.
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
