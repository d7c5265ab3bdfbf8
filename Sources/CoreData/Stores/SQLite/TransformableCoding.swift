import Foundation

/// Transformable values as bytes: a keyed archive, unless the attribute names another transformer.
enum TransformableCoding {
    /// - Throws: 134030 where the value cannot be archived.
    static func data(from object: NSObject, attribute: NSAttributeDescription) throws -> Data {
        do {
            return try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
        } catch {
            throw CoreDataError.make(
                134030,
                "Cannot save \(attribute.owningEntity?.name ?? "").\(attribute.name): "
                    + "a value of the class \(type(of: object)) cannot be archived.", underlying: error)
        }
    }

    /// `nil` where the bytes are no archive that can be read.
    static func object(from data: Data, attribute: NSAttributeDescription) -> NSObject? {
        guard let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data) else { return nil }
        unarchiver.requiresSecureCoding = false
        // Else an archive of a class that is not here would stop the program.
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        defer { unarchiver.finishDecoding() }
        return unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey) as? NSObject
    }
}
