import Foundation

/// Transformable values as bytes: a keyed archive. Values of other transformers are left alone.
enum TransformableCoding {
    /// The names under which Apple's framework knows the keyed archive.
    private static let archiveTransformers: Set = [
        "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformer", "NSKeyedUnarchiveFromData",
        "NSUnarchiveFromData",
    ]

    private static func isArchived(_ attribute: NSAttributeDescription) -> Bool {
        guard let name = attribute.valueTransformerName, !name.isEmpty else { return true }
        return archiveTransformers.contains(name)
    }

    /// - Throws: 134030 where the value cannot be archived, or the attribute has a transformer that is not here.
    static func data(from object: NSObject, attribute: NSAttributeDescription) throws -> Data {
        guard isArchived(attribute) else {
            throw CoreDataError.make(
                134030,
                "Cannot save \(attribute.owningEntity?.name ?? "").\(attribute.name): there is no value transformer named "
                    + "\(attribute.valueTransformerName ?? "").")
        }
        do {
            return try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
        } catch {
            throw CoreDataError.make(
                134030,
                "Cannot save \(attribute.owningEntity?.name ?? "").\(attribute.name): "
                    + "a value of the class \(type(of: object)) cannot be archived.", underlying: error)
        }
    }

    /// `nil` where the bytes are no archive that can be read here.
    static func object(from data: Data, attribute: NSAttributeDescription) -> NSObject? {
        guard isArchived(attribute), let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data) else { return nil }
        unarchiver.requiresSecureCoding = false
        // Else an archive of a class that is not here would stop the program.
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        defer { unarchiver.finishDecoding() }
        return unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey) as? NSObject
    }
}
