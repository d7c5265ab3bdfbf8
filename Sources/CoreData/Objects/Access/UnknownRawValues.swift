import Foundation
import Synchronization

/// Attribute values for which an enumeration has no case.
///
/// Such a value stops the program if the property is not optional. An exception is the search for the key of a key
/// path, whose sample values need not be cases: there the read is recorded, and another value is returned.
@usableFromInline
enum UnknownRawValues {
    /// Properties that were read during searches for keys.
    private struct Reads {
        var searches = 0
        var noted: [ObjectIdentifier: Set<String>] = [:]
    }

    private static let reads = Mutex(Reads())

    /// Runs `search`, which reads properties of objects without a context.
    static func noting<Result>(_ search: () -> Result) -> Result {
        reads.withLock { $0.searches += 1 }
        defer {
            reads.withLock { reads in
                reads.searches -= 1
                if reads.searches == 0 { reads.noted = [:] }
            }
        }
        return search()
    }

    /// True if the property was read, and its type has no case for its value.
    static func wereRead(of object: NSManagedObject, _ name: String) -> Bool {
        reads.withLock { $0.noted[ObjectIdentifier(object)]?.contains(name) == true }
    }

    private static func note(_ object: NSManagedObject, _ name: StaticString) -> Bool {
        guard object.managedObjectContext == nil else { return false }
        return reads.withLock { reads in
            guard reads.searches > 0 else { return false }
            reads.noted[ObjectIdentifier(object), default: []].insert("\(name)")
            return true
        }
    }

    /// Records the read of an optional property and returns `nil`.
    @usableFromInline @inline(never)
    static func none<Value>(of object: NSManagedObject, _ name: StaticString) -> Value? {
        _ = note(object, name)
        return nil
    }

    @usableFromInline @inline(never)
    static func standIn<Value: RawRepresentable>(
        for raw: Value.RawValue, of object: NSManagedObject, _ name: StaticString
    ) -> Value {
        if note(object, name), let other: Value = anyValue(of: object, "\(name)") { return other }
        preconditionFailure(
            "The value '\(raw)' of '\(name)' of '\(object.objectID)' is not a case of \(Value.self); "
                + "give the attribute a default value, or make the property optional.")
    }

    /// The attribute's default value, or the first case found.
    private static func anyValue<Value: RawRepresentable>(of object: NSManagedObject, _ name: String) -> Value? {
        let given = object.entity.attributesByName[name]?.defaultValue as? Value.RawValue
        if let value = given.flatMap(Value.init(rawValue:)) { return value }
        if let type = Value.self as? any CaseIterable.Type, let value = first(of: type) as? Value { return value }
        guard let type = Value.RawValue.self as? any BinaryInteger.Type else { return nil }
        return (0..<128).lazy.compactMap { number in
            (type.init(exactly: number) as? Value.RawValue).flatMap(Value.init(rawValue:))
        }.first
    }

    private static func first<Cases: CaseIterable>(of type: Cases.Type) -> Any? { Cases.allCases.first }
}
