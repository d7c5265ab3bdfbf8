import Foundation

/// Converts `\Team.wins` to the key `wins`, and `\Team.homeVenue?.name` to the key path `homeVenue.name`.
extension NSManagedObject: KeyPathNaming {
    static func key(of keyPath: AnyKeyPath) -> String? { KeyPathNames.key(of: keyPath, root: self) }
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
        private var keys: [AnyKeyPath: String?] = [:]

        subscript(keyPath: AnyKeyPath) -> String?? {
            get { lock.withLock { keys[keyPath] } }
            set { lock.withLock { keys[keyPath] = newValue } }
        }
    }

    /// The key; `nil` for a class without an entity in the models in use, or a property outside the model.
    static func key(of keyPath: AnyKeyPath, root: NSManagedObject.Type) -> String? {
        if let found = known[keyPath] { return found }
        guard root != NSManagedObject.self, let entity = ManagedObjectClasses.knownEntity(of: root) else { return nil }
        let key = KeyPathSearch(keyPath, root, entity).key()
        known[keyPath] = .some(key)
        return key
    }
}
