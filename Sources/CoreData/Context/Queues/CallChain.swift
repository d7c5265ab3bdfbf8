import Foundation

/// The chain of blocks that a thread's work belongs to: its own, or that of the thread which waits for it.
enum CallChain {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// The chain that the thread works for. Never 0.
    static var current: UInt {
        pthread_getspecific(key).map { UInt(bitPattern: $0) } ?? UInt(pthread_self())
    }

    /// Runs `body` as a part of `chain`.
    static func continuing(_ chain: UInt, _ body: () -> Void) {
        let previous = pthread_getspecific(key)
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: chain))
        body()
        pthread_setspecific(key, previous)
    }
}
