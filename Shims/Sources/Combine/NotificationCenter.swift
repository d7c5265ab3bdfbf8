extension NotificationCenter {
    /// Sends the notifications of a name.
    public struct Publisher: Combine.Publisher {
        public typealias Output = Notification
        public typealias Failure = Never
        /// The center.
        public let center: NotificationCenter
        /// The name of the notifications.
        public let name: Notification.Name
        /// The object that posts them; nil for all objects.
        public let object: AnyObject?

        /// Creates a publisher of notifications.
        public init(center: NotificationCenter, name: Notification.Name, object: AnyObject? = nil) {
            (self.center, self.name, self.object) = (center, name, object)
        }

        /// Attaches a subscriber.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Notification, S.Failure == Never {
            let feed = Feed<Notification, Never>(AnySubscriber(subscriber), .drop)
            subscriber.receive(subscription: feed)
            let observer = Carried(
                value: center.addObserver(forName: name, object: object, queue: nil) { feed.send($0) })
            let center = center
            feed.add(AnyCancellable { center.removeObserver(observer.value) })
        }
    }

    /// A publisher of the notifications of a name.
    public func publisher(for name: Notification.Name, object: AnyObject? = nil) -> Publisher {
        Publisher(center: self, name: name, object: object)
    }
}
