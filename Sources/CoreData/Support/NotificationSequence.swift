import Foundation

/// `NotificationCenter.notifications(named:object:)`, which Foundation has on Apple's platforms only.
extension NotificationCenter {
    /// An asynchronous sequence of the notifications of that name; only from `object` if given, which is not
    /// retained.
    ///
    /// Each iterator buffers the notifications posted after its creation. Objects in a context's notifications belong
    /// to its queue: pass on their IDs, or use the notifications that carry IDs.
    public func notifications(named name: Notification.Name, object: AnyObject? = nil) -> Notifications {
        Notifications(center: self, name: name, object: object)
    }

    /// Notifications as they are posted. Ends when the task that iterates is cancelled.
    // SAFETY: immutable; the weak reference is read atomically by the runtime.
    public final class Notifications: AsyncSequence, @unchecked Sendable {
        public typealias Element = Notification

        private let center: NotificationCenter
        private let name: Notification.Name
        private weak var object: AnyObject?
        private let isOfOnePoster: Bool

        fileprivate init(center: NotificationCenter, name: Notification.Name, object: AnyObject?) {
            self.center = center
            self.name = name
            self.object = object
            isOfOnePoster = object != nil
        }

        public func makeAsyncIterator() -> Iterator {
            let (stream, continuation) = AsyncStream.makeStream(of: UncheckedSendable<Notification>.self)
            guard !isOfOnePoster || object != nil else {
                continuation.finish()
                return Iterator(stream: stream.makeAsyncIterator())
            }
            let token = center.addObserver(forName: name, object: object, queue: nil) {
                continuation.yield(UncheckedSendable($0))
            }
            let observation = UncheckedSendable((center, token))
            continuation.onTermination = { _ in observation.value.0.removeObserver(observation.value.1) }
            return Iterator(stream: stream.makeAsyncIterator())
        }

        /// Returns the notifications posted since its creation, in order.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var stream: AsyncStream<UncheckedSendable<Notification>>.Iterator

            /// Waits for the next notification; `nil` if the task was cancelled.
            public mutating func next() async -> Notification? { await stream.next()?.value }
        }
    }
}
