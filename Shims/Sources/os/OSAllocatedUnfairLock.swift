import Glibc

/// A lock that protects a value. Copies share the lock and the value.
public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
    /// A mutex at a fixed address, with the value.
    private final class Storage {
        let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        var state: State

        init(_ state: State) {
            self.state = state
            // SAFETY: the memory is allocated, and freed after the last use of the storage.
            pthread_mutex_init(mutex, nil)
        }

        deinit {
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }
    }

    private let storage: Storage

    /// Creates a lock for a value that is not Sendable.
    public init(uncheckedState initialState: State) { storage = Storage(initialState) }

    /// Creates a lock for a value.
    public init(initialState: State) where State: Sendable { storage = Storage(initialState) }

    /// Creates a lock without a value.
    public init() where State == Void { storage = Storage(()) }

    /// Calls a function with the value while the lock is held.
    public func withLockUnchecked<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(storage.mutex)
        defer { pthread_mutex_unlock(storage.mutex) }
        return try body(&storage.state)
    }

    /// Calls a function with the value while the lock is held.
    public func withLock<Result: Sendable>(_ body: @Sendable (inout State) throws -> Result) rethrows -> Result {
        try withLockUnchecked(body)
    }

    /// Calls a function with the value, or returns nil if another thread holds the lock.
    public func withLockIfAvailable<Result: Sendable>(
        _ body: @Sendable (inout State) throws -> Result
    ) rethrows -> Result? {
        guard pthread_mutex_trylock(storage.mutex) == 0 else { return nil }
        defer { pthread_mutex_unlock(storage.mutex) }
        return try body(&storage.state)
    }
}

extension OSAllocatedUnfairLock where State == Void {
    /// Waits for the lock and takes it.
    public func lock() { pthread_mutex_lock(storage.mutex) }

    /// Releases the lock.
    public func unlock() { pthread_mutex_unlock(storage.mutex) }

    /// Takes the lock. Returns false if another thread holds it.
    public func lockIfAvailable() -> Bool { pthread_mutex_trylock(storage.mutex) == 0 }

    /// Calls a function while the lock is held.
    public func withLock<Result: Sendable>(_ body: @Sendable () throws -> Result) rethrows -> Result {
        pthread_mutex_lock(storage.mutex)
        defer { pthread_mutex_unlock(storage.mutex) }
        return try body()
    }
}
