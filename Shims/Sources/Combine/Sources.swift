/// Sends one value to each subscriber.
public struct Just<Output>: Publisher {
    public typealias Failure = Never
    /// The value.
    public let output: Output

    /// Creates a publisher of a value.
    public init(_ output: Output) { self.output = output }

    /// Attaches a subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
        Publishers.Sequence<[Output], Never>(sequence: [output]).receive(subscriber: subscriber)
    }
}

/// Sends no values.
public struct Empty<Output, Failure: Error>: Publisher {
    /// True if it ends at once; false if it never ends.
    public let completeImmediately: Bool

    /// Creates a publisher without values.
    public init(completeImmediately: Bool = true) { self.completeImmediately = completeImmediately }

    /// Creates a publisher without values of given types.
    public init(completeImmediately: Bool = true, outputType: Output.Type, failureType: Failure.Type) {
        self.completeImmediately = completeImmediately
    }

    /// Attaches a subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        let feed = Feed<Output, Failure>(AnySubscriber(subscriber))
        subscriber.receive(subscription: feed)
        if completeImmediately { feed.send(completion: .finished) }
    }
}

/// Fails at once.
public struct Fail<Output, Failure: Error>: Publisher {
    /// The failure.
    public let error: Failure

    /// Creates a publisher that fails.
    public init(error: Failure) { self.error = error }

    /// Creates a publisher that fails, with given types.
    public init(outputType: Output.Type, failure: Failure) { error = failure }

    /// Attaches a subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        let feed = Feed<Output, Failure>(AnySubscriber(subscriber))
        subscriber.receive(subscription: feed)
        feed.send(completion: .failure(error))
    }
}

/// Makes a publisher for each subscriber.
public struct Deferred<Made: Publisher>: Publisher {
    public typealias Output = Made.Output
    public typealias Failure = Made.Failure
    /// Makes the publisher.
    public let createPublisher: () -> Made

    /// Creates a publisher of a function.
    public init(createPublisher: @escaping () -> Made) { self.createPublisher = createPublisher }

    /// Attaches a subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        createPublisher().receive(subscriber: subscriber)
    }
}

/// Sends one result, which is computed once.
public final class Future<Output, Failure: Error>: Publisher, @unchecked Sendable {
    /// Receives the result.
    public typealias Promise = (Result<Output, Failure>) -> Void

    private let lock = NSLock()
    private var result: Result<Output, Failure>?
    private var waiting: [Feed<Output, Failure>] = []

    /// Calls a function at once, which passes the result to its argument.
    public init(_ attemptToFulfill: @escaping (@escaping Promise) -> Void) {
        attemptToFulfill { result in
            let waiting = self.lock.withLock { () -> [Feed<Output, Failure>] in
                guard self.result == nil else { return [] }
                self.result = result
                defer { self.waiting = [] }
                return self.waiting
            }
            for feed in waiting { Self.send(result, to: feed) }
        }
    }

    /// Attaches a subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        let feed = Feed<Output, Failure>(AnySubscriber(subscriber))
        subscriber.receive(subscription: feed)
        let result = lock.withLock {
            if self.result == nil { waiting.append(feed) }
            return self.result
        }
        if let result { Self.send(result, to: feed) }
    }

    private static func send(_ result: Result<Output, Failure>, to feed: Feed<Output, Failure>) {
        switch result {
        case .success(let value):
            feed.send(value)
            feed.send(completion: .finished)
        case .failure(let error): feed.send(completion: .failure(error))
        }
    }
}

extension Publishers {
    /// Sends the elements of a sequence.
    public struct Sequence<Elements: Swift.Sequence, Failure: Error>: Publisher {
        public typealias Output = Elements.Element
        /// The elements.
        public let sequence: Elements

        /// Creates a publisher of a sequence.
        public init(sequence: Elements) { self.sequence = sequence }

        /// Attaches a subscriber.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            let feed = Feed<Output, Failure>(AnySubscriber(subscriber))
            subscriber.receive(subscription: feed)
            for element in sequence where !feed.isOver { feed.send(element) }
            feed.send(completion: .finished)
        }
    }
}

extension Sequence {
    /// A publisher of the elements.
    public var publisher: Publishers.Sequence<Self, Never> { Publishers.Sequence(sequence: self) }
}

extension Optional {
    /// A publisher of the value, if there is one.
    public var publisher: Publishers.Sequence<[Wrapped], Never> { Publishers.Sequence(sequence: map { [$0] } ?? []) }
}

extension Result {
    /// A publisher of the value or the failure.
    public var publisher: Future<Success, Failure> { Future { $0(self) } }
}
