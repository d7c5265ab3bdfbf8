import Foundation

/// Locking from the time before contexts had queues. The lock excludes only threads that take it, too.
extension NSManagedObjectContext: NSLocking {
    /// Waits for the lock and takes it. It may be taken several times.
    @available(*, deprecated, message: "Use perform(_:) or performAndWait(_:)")
    public func lock() { legacyLock.lock() }

    /// Gives the lock back, once for each time that it was taken.
    @available(*, deprecated, message: "Use perform(_:) or performAndWait(_:)")
    public func unlock() { legacyLock.unlock() }

    /// Takes the lock if no other thread has it. It may be taken several times.
    ///
    /// - Returns: whether the lock was taken, and `unlock()` is owed.
    @available(*, deprecated, message: "Use perform(_:) or performAndWait(_:)")
    public func tryLock() -> Bool { legacyLock.try() }
}
