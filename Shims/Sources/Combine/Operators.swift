extension Publisher {
    /// A publisher whose subscribers receive what a function makes of each value; nil skips the value.
    ///
    /// - Parameter start: Called for each subscriber; returns the function.
    private func transformed<Value>(_ start: @escaping () -> (Output) -> Value?) -> AnyPublisher<Value, Failure> {
        AnyPublisher(attaching: { subscriber in
            let transform = start()
            self.subscribe(
                AnySubscriber<Output, Failure>(
                    receiveSubscription: { subscriber.receive(subscription: $0) },
                    receiveValue: { transform($0).map { subscriber.receive($0) } ?? .max(1) },
                    receiveCompletion: { subscriber.receive(completion: $0) }))
        })
    }

    /// Transforms the values.
    public func map<Value>(_ transform: @escaping (Output) -> Value) -> AnyPublisher<Value, Failure> {
        transformed { { .some(transform($0)) } }
    }

    /// Transforms the values, and skips nil.
    public func compactMap<Value>(_ transform: @escaping (Output) -> Value?) -> AnyPublisher<Value, Failure> {
        transformed { transform }
    }

    /// Skips the values that do not satisfy a condition.
    public func filter(_ isIncluded: @escaping (Output) -> Bool) -> AnyPublisher<Output, Failure> {
        transformed { { isIncluded($0) ? .some($0) : nil } }
    }

    /// Skips values that are equal to the previous value.
    public func removeDuplicates(
        by predicate: @escaping (Output, Output) -> Bool
    ) -> AnyPublisher<Output, Failure> {
        transformed {
            var previous: [Output] = []
            return { value in
                if let last = previous.first, predicate(last, value) { return nil }
                previous = [value]
                return .some(value)
            }
        }
    }

    /// Combines each value with the last result.
    public func scan<Value>(
        _ initial: Value, _ next: @escaping (Value, Output) -> Value
    ) -> AnyPublisher<Value, Failure> {
        transformed {
            var result = initial
            return { value in
                result = next(result, value)
                return .some(result)
            }
        }
    }

    /// Skips the first values.
    public func dropFirst(_ count: Int = 1) -> AnyPublisher<Output, Failure> {
        transformed {
            var left = count
            return { value in
                left -= 1
                return left >= 0 ? nil : .some(value)
            }
        }
    }

    /// Sends no values, only the end.
    public func ignoreOutput() -> AnyPublisher<Never, Failure> { transformed { { _ in nil } } }

    /// Replaces nil by a value.
    public func replaceNil<Value>(with output: Value) -> AnyPublisher<Value, Failure> where Output == Value? {
        map { $0 ?? output }
    }

    /// Calls functions with the events of the publisher.
    public func handleEvents(
        receiveSubscription: ((any Subscription) -> Void)? = nil, receiveOutput: ((Output) -> Void)? = nil,
        receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)? = nil, receiveCancel: (() -> Void)? = nil,
        receiveRequest: ((Subscribers.Demand) -> Void)? = nil
    ) -> AnyPublisher<Output, Failure> {
        fed { feed in
            receiveRequest?(.unlimited)
            if let receiveCancel { feed.add(AnyCancellable { if !feed.isFinished { receiveCancel() } }) }
            receiveSubscription?(feed)
            flow(into: feed) {
                receiveOutput?($0)
                feed.send($0)
            } completion: {
                receiveCompletion?($0)
                feed.send(completion: $0)
            }
        }
    }

    /// Sends the first values.
    public func prefix(_ count: Int) -> AnyPublisher<Output, Failure> {
        fed { feed in
            var left = count
            if left <= 0 { return feed.send(completion: .finished) }
            flow(into: feed) {
                left -= 1
                feed.send($0)
                if left <= 0 { feed.send(completion: .finished) }
            } completion: {
                feed.send(completion: $0)
            }
        }
    }

    /// Sends the first value.
    public func first() -> AnyPublisher<Output, Failure> { prefix(1) }

    /// Sends the first value that satisfies a condition.
    public func first(where predicate: @escaping (Output) -> Bool) -> AnyPublisher<Output, Failure> {
        filter(predicate).prefix(1)
    }

    /// Sends the last value at the end.
    public func last() -> AnyPublisher<Output, Failure> {
        reduce([Output]()) { [$1] }.compactMap(\.first)
    }

    /// Sends the values as one array at the end.
    public func collect() -> AnyPublisher<[Output], Failure> { reduce([]) { $0 + [$1] } }

    /// Sends the number of values at the end.
    public func count() -> AnyPublisher<Int, Failure> { reduce(0) { count, _ in count + 1 } }

    /// Sends the combination of all values at the end.
    public func reduce<Value>(
        _ initial: Value, _ next: @escaping (Value, Output) -> Value
    ) -> AnyPublisher<Value, Failure> {
        fed { feed in
            var result = initial
            flow(into: feed) {
                result = next(result, $0)
            } completion: {
                if case .finished = $0 { feed.send(result) }
                feed.send(completion: $0)
            }
        }
    }

    /// Sends values before those of this publisher.
    public func prepend(_ values: Output...) -> AnyPublisher<Output, Failure> {
        Publishers.Sequence(sequence: values).append(self)
    }

    /// Sends values after those of this publisher.
    public func append(_ values: Output...) -> AnyPublisher<Output, Failure> {
        append(Publishers.Sequence(sequence: values))
    }

    /// Sends the values of a publisher after those of this one.
    public func append<P: Publisher>(
        _ publisher: P
    ) -> AnyPublisher<Output, Failure> where P.Output == Output, P.Failure == Failure {
        fed { feed in
            flow(into: feed) {
                feed.send($0)
            } completion: {
                guard case .finished = $0 else { return feed.send(completion: $0) }
                publisher.flow(into: feed) {
                    feed.send($0)
                } completion: {
                    feed.send(completion: $0)
                }
            }
        }
    }

    /// Shares one subscription among all subscribers.
    public func share() -> AnyPublisher<Output, Failure> {
        let subject = PassthroughSubject<Output, Failure>()
        let users = Users()
        return AnyPublisher(attaching: { subscriber in
            let sink = subject.sink(
                receiveCompletion: { subscriber.receive(completion: $0) },
                receiveValue: { _ = subscriber.receive($0) })
            let feed = Feed<Output, Failure>(AnySubscriber())
            feed.add(sink)
            feed.add(AnyCancellable { users.remove() })
            subscriber.receive(subscription: feed)
            users.add { self.subscribe(subject) }
        })
    }
}

extension Publisher where Output: Equatable {
    /// Skips values that are equal to the previous value.
    public func removeDuplicates() -> AnyPublisher<Output, Failure> { removeDuplicates(by: ==) }
}

/// Counts the subscribers of a shared publisher.
private final class Users: @unchecked Sendable {
    private let lock = NSRecursiveLock()
    private var count = 0
    private var source: AnyCancellable?

    func add(_ start: () -> AnyCancellable) {
        lock.withLock {
            count += 1
            if count == 1 { source = start() }
        }
    }

    func remove() {
        lock.withLock {
            count -= 1
            if count == 0 { source = nil }
        }
    }
}
