import Foundation

extension NotificationCenter {
    /// Calls `block` on a queue for each notification; the poster waits for it.
    ///
    /// Foundation's method waits for the main queue on any thread but the main thread. In a program with an
    /// asynchronous `main`, such as a test, the main queue may run on any thread, so a save on the main actor would
    /// deadlock. Calls with a queue resolve to this method, those without to Foundation's.
    ///
    /// - Parameters:
    ///   - name: the name of the notifications; `nil` means all.
    ///   - obj: the object of the notifications; `nil` means all.
    ///   - queue: the queue of `block`. On the main queue `block` is called in place.
    ///   - block: the block to call.
    /// - Returns: a token to pass to `removeObserver(_:)`.
    @preconcurrency
    public func addObserver(
        forName name: NSNotification.Name?, object obj: Any?, queue: OperationQueue,
        using block: @escaping @Sendable (Notification) -> Void
    ) -> any NSObjectProtocol {
        let foundations: OperationQueue? = queue
        guard queue === OperationQueue.main else {
            return addObserver(forName: name, object: obj, queue: foundations, using: block)
        }
        return addObserver(forName: name, object: obj, queue: nil) { notification in
            WorkQueue.make(isMain: true).sync { block(notification) }
        }
    }
}
