/// A publisher to which a program sends values.
public protocol Subject<Output, Failure>: AnyObject, Publisher {
    /// Sends a value to the subscribers.
    func send(_ value: Output)
    /// Sends the end of the values to the subscribers.
    func send(completion: Subscribers.Completion<Failure>)
    /// Requests all values of a subscription.
    func send(subscription: any Subscription)
}

extension Subject where Output == Void {
    /// Sends a value without contents.
    public func send() { send(()) }
}

/// The subscribers of a subject.
private final class Audience<Output, Failure: Error>: @unchecked Sendable {
    private let lock = NSLock()
    private var feeds: [Feed<Output, Failure>] = []
    private var completion: Subscribers.Completion<Failure>?
    private var latest: Output?
    private let isKept: Bool

    /// - Parameter value: The current value; nil if the subject has none.
    init(_ value: Output?) { (latest, isKept) = (value, value != nil) }

    var value: Output? { lock.withLock { latest } }

    func add(_ subscriber: AnySubscriber<Output, Failure>) {
        let feed = Feed(subscriber, isKept ? .keepLast : .drop)
        let (first, completion) = lock.withLock { () -> (Output?, Subscribers.Completion<Failure>?) in
            guard self.completion == nil else { return (nil, self.completion) }
            feeds.append(feed)
            return (latest, nil)
        }
        feed.add(AnyCancellable { [weak self, weak feed] in if let feed { self?.remove(feed) } })
        if let first { feed.send(first) }
        subscriber.receive(subscription: feed)
        if let completion { feed.send(completion: completion) }
    }

    func send(_ value: Output) {
        let feeds = lock.withLock { () -> [Feed<Output, Failure>] in
            guard completion == nil else { return [] }
            if isKept { latest = value }
            return self.feeds
        }
        for feed in feeds { feed.send(value) }
    }

    func send(completion: Subscribers.Completion<Failure>) {
        let feeds = lock.withLock { () -> [Feed<Output, Failure>] in
            self.completion = self.completion ?? completion
            defer { self.feeds = [] }
            return self.feeds
        }
        for feed in feeds { feed.send(completion: completion) }
    }

    private func remove(_ feed: Feed<Output, Failure>) { lock.withLock { feeds.removeAll { $0 === feed } } }
}

/// A subject without a current value. Values that a subscriber did not request are lost.
public final class PassthroughSubject<Output, Failure: Error>: Subject, @unchecked Sendable {
    private let audience = Audience<Output, Failure>(nil)

    /// Creates a subject.
    public init() {}

    /// Attaches a subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        audience.add(AnySubscriber(subscriber))
    }

    /// Sends a value to the subscribers.
    public func send(_ value: Output) { audience.send(value) }
    /// Sends the end of the values to the subscribers.
    public func send(completion: Subscribers.Completion<Failure>) { audience.send(completion: completion) }
    /// Requests all values of a subscription.
    public func send(subscription: any Subscription) { subscription.request(.unlimited) }
}

/// A subject with a current value, which each subscriber receives first.
public final class CurrentValueSubject<Output, Failure: Error>: Subject, @unchecked Sendable {
    private let audience: Audience<Output, Failure>
    private let initial: Output

    /// Creates a subject with a value.
    public init(_ value: Output) {
        initial = value
        audience = Audience(value)
    }

    /// The current value. Setting it sends it.
    public var value: Output {
        get { audience.value ?? initial }
        set { audience.send(newValue) }
    }

    /// Attaches a subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        audience.add(AnySubscriber(subscriber))
    }

    /// Sends a value to the subscribers.
    public func send(_ value: Output) { audience.send(value) }
    /// Sends the end of the values to the subscribers.
    public func send(completion: Subscribers.Completion<Failure>) { audience.send(completion: completion) }
    /// Requests all values of a subscription.
    public func send(subscription: any Subscription) { subscription.request(.unlimited) }
}
