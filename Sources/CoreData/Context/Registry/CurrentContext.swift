import Foundation

/// The context whose block the current thread runs, for requests that are executed without a context.
enum CurrentContext {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// The context of the innermost `perform` or `performAndWait` on this thread.
    // SAFETY: `entering` keeps the context alive while its address is stored.
    static var value: NSManagedObjectContext? {
        guard let pointer = pthread_getspecific(key) else { return nil }
        return Unretained<NSManagedObjectContext>(address: pointer).object
    }

    /// Runs `body` as a block of `context`, which it keeps alive.
    // SAFETY: the context outlives `body`, and the address is removed after it, even if it throws.
    static func entering<Result, Failure: Error>(
        _ context: NSManagedObjectContext, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let outer = pthread_getspecific(key)
        pthread_setspecific(key, Unretained(context).address)
        defer {
            pthread_setspecific(key, outer)
            withExtendedLifetime(context) {}
        }
        return try body()
    }
}
