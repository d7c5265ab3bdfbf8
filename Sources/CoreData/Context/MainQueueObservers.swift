import Foundation

extension NotificationCenter {
    /// Has `block` called on a queue for each notification; who posts waits for it.
    ///
    /// Foundation's own waits for the main queue wherever the thread is another one than the main thread. But a program whose
    /// `main` is asynchronous, as that of tests is, has its main queue on any thread: a save on the main actor would wait for
    /// itself for good. Calls with a queue find this one, those without any Foundation's.
    ///
    /// - Parameters:
    ///   - name: the notifications; `nil` means all.
    ///   - obj: whose notifications; `nil` means all.
    ///   - queue: where `block` is called. On the main queue it is called in place.
    ///   - block: what is called.
    /// - Returns: what ends it with `removeObserver(_:)`.
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
