import Foundation

/// Locking from the time before contexts had queues. The lock excludes only threads that take it, too.
extension NSManagedObjectContext: NSLocking {
    @available(*, deprecated, message: "Use perform(_:) or performAndWait(_:)")
    public func lock() { legacyLock.lock() }

    @available(*, deprecated, message: "Use perform(_:) or performAndWait(_:)")
    public func unlock() { legacyLock.unlock() }

    /// - Returns: whether the lock was taken, and `unlock()` is owed.
    @available(*, deprecated, message: "Use perform(_:) or performAndWait(_:)")
    public func tryLock() -> Bool { legacyLock.try() }
}
