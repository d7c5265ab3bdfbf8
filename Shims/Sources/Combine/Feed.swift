/// A subscription that sends values one at a time, as many as the subscriber requests.
///
/// A value that is sent while another is delivered follows it, also if another thread sends it.
final class Feed<Output, Failure: Error>: Subscription, @unchecked Sendable {
    /// Treatment of values that the subscriber did not request yet.
    enum Overflow { case keepAll, keepLast, drop }

    private let lock = NSLock()
    private let overflow: Overflow
    private var subscriber: AnySubscriber<Output, Failure>?
    private var demand = Subscribers.Demand.none
    private var values: [Output] = []
    private var completion: Subscribers.Completion<Failure>?
    private var isDelivering = false
    private var isCancelled = false
    /// Upstream subscriptions and other activities that end with this one.
    private var parts: [AnyCancellable] = []

    init(_ subscriber: AnySubscriber<Output, Failure>, _ overflow: Overflow = .keepAll) {
        (self.subscriber, self.overflow) = (subscriber, overflow)
    }

    /// True after the end of the values and after a cancellation.
    var isOver: Bool { lock.withLock { isCancelled || completion != nil } }

    /// True after the end of the values.
    var isFinished: Bool { lock.withLock { completion != nil } }

    /// Cancels an activity when this subscription ends; immediately if it has ended.
    func add(_ part: AnyCancellable) {
        let isOver = lock.withLock {
            if !isCancelled { parts.append(part) }
            return isCancelled
        }
        if isOver { part.cancel() }
    }

    func send(_ value: Output) {
        lock.withLock {
            guard !isCancelled, completion == nil else { return }
            switch overflow {
            case .keepLast where !(demand > values.count) && !values.isEmpty: values[values.count - 1] = value
            case .drop where !(demand > values.count): break
            default: values.append(value)
            }
        }
        deliver()
    }

    func send(completion: Subscribers.Completion<Failure>) {
        lock.withLock { self.completion = self.completion ?? completion }
        deliver()
    }

    func request(_ demand: Subscribers.Demand) {
        lock.withLock { self.demand += demand }
        deliver()
    }

    func cancel() {
        let ended = lock.withLock {
            let ended = (subscriber, parts)
            isCancelled = true
            (subscriber, parts, values) = (nil, [], [])
            return ended
        }
        for part in ended.1 { part.cancel() }
    }

    private enum Step { case value(Output), end(Subscribers.Completion<Failure>), none }

    private func deliver() {
        let isBusy = lock.withLock {
            defer { isDelivering = true }
            return isDelivering
        }
        if isBusy { return }
        while true {
            let (step, subscriber) = lock.withLock { next() }
            switch step {
            case .value(let value):
                let more = subscriber?.receive(value) ?? .none
                lock.withLock { demand += more }
            case .end(let completion):
                subscriber?.receive(completion: completion)
                cancel()
            case .none: return
            }
        }
    }

    /// The next step and its receiver. The lock is held.
    private func next() -> (Step, AnySubscriber<Output, Failure>?) {
        if subscriber != nil, !values.isEmpty, demand > 0 {
            demand -= 1
            return (.value(values.removeFirst()), subscriber)
        }
        if values.isEmpty, let completion, let subscriber {
            self.subscriber = nil
            return (.end(completion), subscriber)
        }
        isDelivering = false
        return (.none, nil)
    }
}

extension Publisher {
    /// A publisher with a feed for each subscriber. `start` connects the feed to its sources.
    func fed<Value, Problem: Error>(
        _ start: @escaping (Feed<Value, Problem>) -> Void
    ) -> AnyPublisher<Value, Problem> {
        AnyPublisher(attaching: { subscriber in
            let feed = Feed(subscriber)
            subscriber.receive(subscription: feed)
            start(feed)
        })
    }

    /// Sends the values of this publisher to functions for as long as a feed exists.
    func flow<Value, Problem: Error>(
        into feed: Feed<Value, Problem>, _ value: @escaping (Output) -> Void,
        completion: @escaping (Subscribers.Completion<Failure>) -> Void
    ) {
        feed.add(sink(receiveCompletion: completion, receiveValue: value))
    }
}

/// A value that closures carry to another thread, which is the only one that uses it then.
struct Carried<Value>: @unchecked Sendable {
    let value: Value
}
