/// The latest values of several publishers, and the number of publishers that have not ended.
private final class Latest<First, Second>: @unchecked Sendable {
    let lock = NSLock()
    var first: [First] = []
    var second: [Second] = []
    var open = 2
    var isFirstOver = false
    var isSecondOver = false
}

/// Ends a feed after the end of all of its sources, or after the first failure.
private func end<Value, Failure: Error>(
    _ feed: Feed<Value, Failure>, _ completion: Subscribers.Completion<Failure>, _ remaining: () -> Int
) {
    if case .failure = completion { return feed.send(completion: completion) }
    if remaining() == 0 { feed.send(completion: .finished) }
}

extension Publisher {
    /// Sends the values of both publishers.
    public func merge<P: Publisher>(
        with other: P
    ) -> AnyPublisher<Output, Failure> where P.Output == Output, P.Failure == Failure {
        Publishers.MergeMany([eraseToAnyPublisher(), other.eraseToAnyPublisher()]).eraseToAnyPublisher()
    }

    /// Sends the latest values of both publishers after each value of one of them.
    public func combineLatest<P: Publisher>(
        _ other: P
    ) -> AnyPublisher<(Output, P.Output), Failure> where P.Failure == Failure {
        fed { feed in
            let latest = Latest<Output, P.Output>()
            func send(_ change: () -> Void) {
                let pair = latest.lock.withLock {
                    change()
                    return latest.first.first.flatMap { first in latest.second.first.map { (first, $0) } }
                }
                if let pair { feed.send(pair) }
            }
            func finish(_ completion: Subscribers.Completion<Failure>) {
                end(feed, completion) {
                    latest.lock.withLock {
                        latest.open -= 1
                        return latest.open
                    }
                }
            }
            flow(into: feed) { value in
                send { latest.first = [value] }
            } completion: {
                finish($0)
            }
            other.flow(into: feed) { value in
                send { latest.second = [value] }
            } completion: {
                finish($0)
            }
        }
    }

    /// Transforms the latest values of both publishers.
    public func combineLatest<P: Publisher, Value>(
        _ other: P, _ transform: @escaping (Output, P.Output) -> Value
    ) -> AnyPublisher<Value, Failure> where P.Failure == Failure {
        combineLatest(other).map { transform($0.0, $0.1) }
    }

    /// Sends the latest values of three publishers.
    public func combineLatest<P: Publisher, Q: Publisher>(
        _ second: P, _ third: Q
    ) -> AnyPublisher<(Output, P.Output, Q.Output), Failure> where P.Failure == Failure, Q.Failure == Failure {
        combineLatest(second).combineLatest(third).map { ($0.0.0, $0.0.1, $0.1) }
    }

    /// Sends pairs of the values of both publishers.
    public func zip<P: Publisher>(
        _ other: P
    ) -> AnyPublisher<(Output, P.Output), Failure> where P.Failure == Failure {
        fed { feed in
            let waiting = Latest<Output, P.Output>()
            func send(_ change: () -> Void) {
                let (pair, isOver) = waiting.lock.withLock { () -> ((Output, P.Output)?, Bool) in
                    change()
                    var pair: (Output, P.Output)?
                    if !waiting.first.isEmpty, !waiting.second.isEmpty {
                        pair = (waiting.first.removeFirst(), waiting.second.removeFirst())
                    }
                    let isOver =
                        waiting.isFirstOver && waiting.first.isEmpty || waiting.isSecondOver && waiting.second.isEmpty
                    return (pair, isOver)
                }
                if let pair { feed.send(pair) }
                if isOver { feed.send(completion: .finished) }
            }
            func finish(_ completion: Subscribers.Completion<Failure>, _ change: () -> Void) {
                if case .failure = completion { feed.send(completion: completion) } else { send(change) }
            }
            flow(into: feed) { value in
                send { waiting.first.append(value) }
            } completion: { end in
                finish(end) { waiting.isFirstOver = true }
            }
            other.flow(into: feed) { value in
                send { waiting.second.append(value) }
            } completion: { end in
                finish(end) { waiting.isSecondOver = true }
            }
        }
    }

    /// Sends the values of the publishers that a function makes of each value.
    public func flatMap<P: Publisher>(
        maxPublishers: Subscribers.Demand = .unlimited, _ transform: @escaping (Output) -> P
    ) -> AnyPublisher<P.Output, Failure> where P.Failure == Failure {
        fed { feed in
            let open = Latest<Never, Never>()
            open.open = 1
            func finish(_ completion: Subscribers.Completion<Failure>) {
                end(feed, completion) {
                    open.lock.withLock {
                        open.open -= 1
                        return open.open
                    }
                }
            }
            flow(into: feed) { value in
                open.lock.withLock { open.open += 1 }
                transform(value).flow(into: feed) {
                    feed.send($0)
                } completion: {
                    finish($0)
                }
            } completion: {
                finish($0)
            }
        }
    }
}

extension Publisher where Output: Publisher, Output.Failure == Failure {
    /// Sends the values of the latest publisher.
    public func switchToLatest() -> AnyPublisher<Output.Output, Failure> {
        fed { feed in
            let current = Latest<AnyCancellable, Never>()
            current.open = 1
            func finish(_ completion: Subscribers.Completion<Failure>) {
                end(feed, completion) {
                    current.lock.withLock {
                        current.open -= 1
                        return current.open
                    }
                }
            }
            feed.add(AnyCancellable { current.lock.withLock { current.first }.first?.cancel() })
            flow(into: feed) { publisher in
                let previous = current.lock.withLock { current.first }
                // The previous publisher does not end by itself any more.
                previous.first?.cancel()
                current.lock.withLock { current.open = current.open - (previous.isEmpty ? 0 : 1) + 1 }
                var hasEnded = false
                let sink = publisher.sink(
                    receiveCompletion: {
                        hasEnded = true
                        current.lock.withLock { current.first = [] }
                        finish($0)
                    }, receiveValue: { feed.send($0) })
                current.lock.withLock { current.first = hasEnded ? [] : [sink] }
            } completion: {
                finish($0)
            }
        }
    }
}

extension Publishers {
    /// Sends the values of several publishers.
    public struct MergeMany<Upstream: Publisher>: Publisher {
        public typealias Output = Upstream.Output
        public typealias Failure = Upstream.Failure
        /// The publishers.
        public let publishers: [Upstream]

        /// Creates a publisher of several publishers.
        public init(_ publishers: Upstream...) { self.publishers = publishers }

        /// Creates a publisher of several publishers.
        public init(_ publishers: some Swift.Sequence<Upstream>) { self.publishers = Array(publishers) }

        /// Attaches a subscriber.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            Publishers.Sequence<[Upstream], Failure>(sequence: publishers).flatMap { $0 }.receive(
                subscriber: subscriber)
        }
    }

    /// Sends the values of two publishers.
    public static func Merge<A: Publisher, B: Publisher>(
        _ first: A, _ second: B
    ) -> AnyPublisher<A.Output, A.Failure> where A.Output == B.Output, A.Failure == B.Failure {
        first.merge(with: second)
    }

    /// Sends the latest values of two publishers.
    public static func CombineLatest<A: Publisher, B: Publisher>(
        _ first: A, _ second: B
    ) -> AnyPublisher<(A.Output, B.Output), A.Failure> where A.Failure == B.Failure {
        first.combineLatest(second)
    }

    /// Sends the latest values of three publishers.
    public static func CombineLatest3<A: Publisher, B: Publisher, C: Publisher>(
        _ first: A, _ second: B, _ third: C
    ) -> AnyPublisher<(A.Output, B.Output, C.Output), A.Failure> where A.Failure == B.Failure, A.Failure == C.Failure {
        first.combineLatest(second, third)
    }

    /// Sends pairs of the values of two publishers.
    public static func Zip<A: Publisher, B: Publisher>(
        _ first: A, _ second: B
    ) -> AnyPublisher<(A.Output, B.Output), A.Failure> where A.Failure == B.Failure {
        first.zip(second)
    }
}
