import Foundation

/// `\Team.wins` stands for the key `wins`, and `\Team.homeVenue?.name` for the key path `homeVenue.name`.
extension NSManagedObject: KeyPathNaming {
    static func key(of keyPath: AnyKeyPath) -> String? { KeyPathNames.key(of: keyPath, root: self) }
}

/// Finds the keys behind Swift's key paths of managed properties.
///
/// A key path to a computed property does not know its name. So it is tried out once, by a ``KeyPathSearch``. A property that depends on
/// several, or on none, or makes another value of one, stands for no key.
enum KeyPathNames {
    private static let known = Known()

    /// What was found. Key paths are immutable, though they are not marked as sendable.
    // SAFETY: the lock guards all of it.
    private final class Known: @unchecked Sendable {
        private let lock = NSLock()
        private var keys: [AnyKeyPath: String?] = [:]

        subscript(keyPath: AnyKeyPath) -> String?? {
            get { lock.withLock { keys[keyPath] } }
            set { lock.withLock { keys[keyPath] = newValue } }
        }
    }

    /// `nil` if the class has no entity in the models in use, or the key path is of no modelled property.
    static func key(of keyPath: AnyKeyPath, root: NSManagedObject.Type) -> String? {
        if let found = known[keyPath] { return found }
        guard root != NSManagedObject.self, let entity = ManagedObjectClasses.knownEntity(of: root) else { return nil }
        let key = KeyPathSearch(keyPath, root, entity).key()
        known[keyPath] = .some(key)
        return key
    }
}
