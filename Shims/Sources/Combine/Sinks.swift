/// Cancels an activity when it is cancelled or released.
public final class AnyCancellable: Cancellable, Hashable, @unchecked Sendable {
    private let lock = NSLock()
    private var action: (() -> Void)?

    /// Creates a cancellable of a function.
    public init(_ cancel: @escaping () -> Void) { action = cancel }

    /// Hides the type of a cancellable.
    public init<C: Cancellable>(_ canceller: C) { action = { canceller.cancel() } }

    deinit { action?() }

    /// Cancels the activity, once.
    public func cancel() {
        let action = lock.withLock {
            defer { self.action = nil }
            return self.action
        }
        action?()
    }

    /// Keeps the activity in a set of cancellables.
    public func store(in set: inout Set<AnyCancellable>) { set.insert(self) }

    /// Keeps the activity in a collection of cancellables.
    public func store<C: RangeReplaceableCollection<AnyCancellable>>(in collection: inout C) { collection.append(self) }

    /// True if both are the same object.
    public static func == (left: AnyCancellable, right: AnyCancellable) -> Bool { left === right }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Subscribers {
    /// A subscriber that accepts all values.
    public final class Sink<Input, Failure: Error>: Subscriber, Cancellable, @unchecked Sendable {
        private let lock = NSLock()
        private var subscription: (any Subscription)?
        private var isOver = false
        private var onValue: ((Input) -> Void)?
        private var onCompletion: ((Completion<Failure>) -> Void)?

        /// Creates a subscriber of functions.
        public init(
            receiveCompletion: @escaping (Completion<Failure>) -> Void, receiveValue: @escaping (Input) -> Void
        ) {
            (onCompletion, onValue) = (receiveCompletion, receiveValue)
        }

        /// Requests all values.
        public func receive(subscription: any Subscription) {
            let isAccepted = lock.withLock {
                guard !isOver, self.subscription == nil else { return false }
                self.subscription = subscription
                return true
            }
            isAccepted ? subscription.request(.unlimited) : subscription.cancel()
        }

        /// Receives a value.
        public func receive(_ input: Input) -> Demand {
            lock.withLock { onValue }?(input)
            return .none
        }

        /// Receives the end of the values.
        public func receive(completion: Completion<Failure>) { end().completion?(completion) }

        /// Ends the subscription.
        public func cancel() { end().subscription?.cancel() }

        private func end() -> (subscription: (any Subscription)?, completion: ((Completion<Failure>) -> Void)?) {
            lock.withLock {
                let ended = (subscription, onCompletion)
                isOver = true
                (subscription, onValue, onCompletion) = (nil, nil, nil)
                return ended
            }
        }
    }
}

extension Publisher {
    /// Calls functions with the values and with their end, until the result is released.
    public func sink(
        receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void,
        receiveValue: @escaping (Output) -> Void
    ) -> AnyCancellable {
        let sink = Subscribers.Sink(receiveCompletion: receiveCompletion, receiveValue: receiveValue)
        subscribe(sink)
        return AnyCancellable(sink)
    }
}

extension Publisher where Failure == Never {
    /// Calls a function with the values, until the result is released.
    public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
        sink(receiveCompletion: { _ in }, receiveValue: receiveValue)
    }

    /// Assigns the values to a property, until the result is released.
    public func assign<Root>(to keyPath: ReferenceWritableKeyPath<Root, Output>, on object: Root) -> AnyCancellable {
        sink { object[keyPath: keyPath] = $0 }
    }

    /// Assigns the values to a published property, for as long as the property exists.
    public func assign(to published: inout Published<Output>.Publisher) { published.storage.follow(self) }

    /// The values as an asynchronous sequence.
    public var values: AsyncStream<Output> {
        AsyncStream { continuation in
            let sink = sink(
                receiveCompletion: { _ in continuation.finish() },
                receiveValue: { continuation.yield(Carried(value: $0).value) })
            continuation.onTermination = { _ in sink.cancel() }
        }
    }
}
