import Foundation

/// `NotificationCenter.notifications(named:object:)`, which Foundation has on Apple's platforms only.
extension NotificationCenter {
    /// The notifications of that name as an asynchronous sequence; of one poster, if `object` is given, which is not kept
    /// alive.
    ///
    /// Each iterator gets what is posted after it was made, and keeps it until it is asked for. Objects in the notifications of a
    /// context belong to its queue: hand on their IDs, or use the notifications that carry IDs.
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

        /// Gives the notifications that were posted since it was made, in their order.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var stream: AsyncStream<UncheckedSendable<Notification>>.Iterator

            /// Waits for the next notification; `nil` when the task was cancelled.
            public mutating func next() async -> Notification? { await stream.next()?.value }
        }
    }
}
