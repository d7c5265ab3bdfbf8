import Foundation

/// Locking from the time before contexts had queues. It excludes only threads that also take the lock.
extension NSManagedObjectContext: NSLocking {
    /// Waits for the lock and takes it. It may be taken several times.
    @available(*, deprecated, message: "Use perform(_:) or performAndWait(_:)")
    public func lock() { legacyLock.lock() }

    /// Releases the lock. Call it once for each time that it was taken.
    @available(*, deprecated, message: "Use perform(_:) or performAndWait(_:)")
    public func unlock() { legacyLock.unlock() }

    /// Takes the lock if no other thread holds it. It may be taken several times.
    ///
    /// - Returns: true if the lock was taken and `unlock()` must be called.
    @available(*, deprecated, message: "Use perform(_:) or performAndWait(_:)")
    public func tryLock() -> Bool { legacyLock.try() }
}
