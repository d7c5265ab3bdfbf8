import Foundation

extension NSManagedObject {
    /// Same as `mutableSetValue(forKey:)`, for the object at the end of the path.
    ///
    /// - Precondition: The path leads to an object.
    public final func mutableSetValue(forKeyPath keyPath: String) -> NSMutableSet {
        let (holder, key) = holder(of: keyPath)
        return holder.mutableSetValue(forKey: key)
    }

    /// Same as `mutableOrderedSetValue(forKey:)`, for the object at the end of the path.
    ///
    /// - Precondition: The path leads to an object.
    public final func mutableOrderedSetValue(forKeyPath keyPath: String) -> NSMutableOrderedSet {
        let (holder, key) = holder(of: keyPath)
        return holder.mutableOrderedSetValue(forKey: key)
    }

    private func holder(of keyPath: String) -> (NSManagedObject, key: String) {
        guard let dot = keyPath.lastIndex(of: ".") else { return (self, keyPath) }
        guard let holder = value(forKeyPath: String(keyPath[..<dot])) as? NSManagedObject else {
            preconditionFailure("There is no object at the key path '\(keyPath[..<dot])' of '\(objectID)'.")
        }
        return (holder, String(keyPath[keyPath.index(after: dot)...]))
    }
}
