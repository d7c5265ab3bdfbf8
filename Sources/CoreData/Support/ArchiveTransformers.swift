import CoreDataPredicates
import Foundation
import ModelFiles

/// Transforms secure keyed archives to objects; in reverse, objects to archives. Subclasses override
/// ``allowedTopLevelClasses`` to allow other classes.
// SAFETY: has no state.
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer, @unchecked Sendable {
    /// The classes allowed for the archived object and the objects inside it.
    open class var allowedTopLevelClasses: [AnyClass] {
        [
            NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self,
            NSURL.self, NSUUID.self, NSNull.self,
        ]
    }

    /// The archived object; `nil` if the data is not an archive or holds an object of another class.
    open override func transformedValue(_ value: Any?) -> Any? {
        (value as? Data).flatMap { KeyedArchiveCoding.object(in: $0, classes: Self.allowedTopLevelClasses) }
    }

    /// The archive of an object; `nil` if its class is not allowed.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let object = value as? NSObject, Self.allowedTopLevelClasses.contains(where: { object.isKind(of: $0) })
        else { return nil }
        return try? KeyedArchiveCoding.archive(of: object, isSecure: true)
    }
}

/// Reads objects of any class from keyed archives, for old models that ask for it.
// SAFETY: has no state.
final class KeyedUnarchiveTransformer: ValueTransformer, @unchecked Sendable {
    override func transformedValue(_ value: Any?) -> Any? {
        (value as? Data).flatMap { KeyedArchiveCoding.object(in: $0, classes: nil) }
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? NSObject).flatMap { try? KeyedArchiveCoding.archive(of: $0, isSecure: false) }
    }
}

/// Reads and writes keyed archives. A damaged archive cannot stop the program.
enum KeyedArchiveCoding {
    /// Returns the keyed archive of an object.
    ///
    /// - Throws: 134030 if the object, or one inside it, cannot be archived.
    static func archive(of object: NSObject, isSecure: Bool) throws -> Data {
        // Foundation's archiver stops the program at an object that cannot be archived.
        if let culprit = uncodable(object) {
            throw CoreDataError.make(134030, "A value of the class \(type(of: culprit)) cannot be archived.")
        }
        return try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: isSecure)
    }

    /// True if Foundation can read archived objects of the class. It stops the program at objects of other classes.
    private static func isReadable(_ name: String, _ classes: [AnyClass]?) -> Bool {
        if ArchivedValues.classNames.contains(name) { return true }
        if let type = NSClassFromString(name), !NSStringFromClass(type).contains("."), !ArchiveShapes.knows(name) {
            // A Foundation class that was not tested with damaged archives.
            return false
        }
        guard let type = NSKeyedUnarchiver.class(forClassName: name) ?? NSClassFromString(name),
            type is any NSCoding.Type
        else { return false }
        guard let classes else { return true }
        return type is any NSSecureCoding.Type
            && classes.contains { (type as? NSObject.Type)?.isSubclass(of: $0) == true }
    }

    /// The first object in nested collections that cannot be archived; `nil` if all can.
    private static func uncodable(_ value: Any) -> Any? {
        switch value {
        case let dictionary as NSDictionary:
            dictionary.lazy.compactMap { uncodable($0.key) ?? uncodable($0.value) }.first
        case let array as NSArray: array.lazy.compactMap(uncodable).first
        case let set as NSSet: set.lazy.compactMap(uncodable).first
        case let set as NSOrderedSet: set.lazy.compactMap(uncodable).first
        // Foundation's archiver asks for the hash of each object.
        default: (value as? NSObject) is any NSCoding && Hashing.isSafe(value) ? nil : value
        }
    }

    /// Maximum nesting of objects in an archive that is read.
    private static let deepestNesting = 512

    /// True if a walk over all objects ends soon.
    static func isLimited(_ archive: KeyedArchive) -> Bool {
        var nesting = ArchiveNesting(archive: archive)
        return nesting.isWithin(deepestNesting)
    }

    /// Returns the object in a keyed archive.
    ///
    /// - Parameter classes: the classes allowed for the object; `nil` for any.
    /// - Returns: `nil` if the bytes are not an archive that can be read here.
    static func object(in data: Data, classes: [AnyClass]?) -> NSObject? {
        guard let archive = try? KeyedArchive(data) else { return nil }
        var nesting = ArchiveNesting(archive: archive)
        guard nesting.isWithin(deepestNesting) else { return nil }
        if nesting.isWithin(ArchivedValues.deepestNesting) {
            var values = ArchivedValues(archive: archive)
            if let value = values.root() { return classes?.contains { value.isKind(of: $0) } ?? true ? value : nil }
        }
        FormerArchiveNames.areKnown
        guard archive.isWhole,
            archive.classNames.allSatisfy({ isReadable($0, classes) }), ArchiveShapes(archive: archive).areSound,
            // Foundation traps on property lists that its own writer never produces, so rewrite the archive first.
            let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: archive.rewritten)
        else { return nil }
        unarchiver.requiresSecureCoding = classes != nil
        // Otherwise an archive of an unknown class would stop the program.
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        defer { unarchiver.finishDecoding() }
        let key = NSKeyedArchiveRootObjectKey
        let found = classes.map { unarchiver.decodeObject(of: $0, forKey: key) } ?? unarchiver.decodeObject(forKey: key)
        return unarchiver.error == nil ? found as? NSObject : nil
    }
}

/// The other transformers that are registered from the start.
enum BuiltInTransformers {
    static var all: [NSValueTransformerName: ValueTransformer] {
        [
            .negateBooleanTransformerName: NegateBooleanTransformer(), .isNilTransformerName: IsNilTransformer(),
            .isNotNilTransformerName: IsNotNilTransformer(),
            .unarchiveFromDataTransformerName: KeyedUnarchiveTransformer(),
            .keyedUnarchiveFromDataTransformerName: KeyedUnarchiveTransformer(),
            .secureUnarchiveFromDataTransformerName: NSSecureUnarchiveFromDataTransformer(),
            NSValueTransformerName("NSSecureUnarchiveFromDataTransformer"): NSSecureUnarchiveFromDataTransformer(),
        ]
    }

    // SAFETY: has no state.
    private final class NegateBooleanTransformer: ValueTransformer, @unchecked Sendable {
        override func transformedValue(_ value: Any?) -> Any? {
            NSNumber(value: !((value as? NSNumber)?.boolValue ?? false))
        }
    }

    // SAFETY: has no state.
    private final class IsNilTransformer: ValueTransformer, @unchecked Sendable {
        override class func allowsReverseTransformation() -> Bool { false }
        override func transformedValue(_ value: Any?) -> Any? { NSNumber(value: value == nil) }
    }

    // SAFETY: has no state.
    private final class IsNotNilTransformer: ValueTransformer, @unchecked Sendable {
        override class func allowsReverseTransformation() -> Bool { false }
        override func transformedValue(_ value: Any?) -> Any? { NSNumber(value: value != nil) }
    }
}
