import Foundation

/// Converts `\Team.wins` to the key `wins`, and `\Team.homeVenue?.name` to the key path `homeVenue.name`.
extension NSManagedObject: KeyPathNaming {
    /// The dotted key path for a key path of this class: `name` for `\Team.name`. An addition to Apple's interface, where Objective-C
    /// knows the names. On any thread.
    ///
    /// - Returns: nil if the class has no entity in the models in use, or `keyPath` does not read a modelled property.
    public static func key(of keyPath: AnyKeyPath) -> String? { KeyPathNames.key(of: keyPath, root: self) }
}

/// A cache of the keys for Swift key paths of managed properties.
///
/// A key path to a computed property does not contain its name, so a ``KeyPathSearch`` evaluates it once. A property
/// that is computed, from any number of others, has no key.
enum KeyPathNames {
    private static let known = Known()

    /// The keys found so far. Key paths are immutable, though not marked as sendable.
    // SAFETY: the lock protects all of it.
    private final class Known: @unchecked Sendable {
        private let lock = NSLock()
        private var keys: [ObjectIdentifier: [AnyKeyPath: String?]] = [:]

        subscript(keyPath: AnyKeyPath, root: NSManagedObject.Type) -> String?? {
            get { lock.withLock { keys[ObjectIdentifier(root)]?[keyPath] } }
            set { lock.withLock { keys[ObjectIdentifier(root), default: [:]][keyPath] = newValue } }
        }
    }

    /// The key; `nil` for a class without an entity in the models in use, or a property outside the model.
    static func key(of keyPath: AnyKeyPath, root: NSManagedObject.Type) -> String? {
        if let found = known[keyPath, root] { return found }
        guard root != NSManagedObject.self, let entity = ManagedObjectClasses.knownEntity(of: root) else { return nil }
        let key = KeyPathSearch(keyPath, root, entity).key()
        known[keyPath, root] = .some(key)
        return key
    }
}
