@_exported import Foundation

/// Delivers values to subscribers over time.
public protocol Publisher<Output, Failure> {
    associatedtype Output
    associatedtype Failure: Error

    /// Attaches a subscriber.
    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure
}

extension Publisher {
    /// Attaches a subscriber.
    public func subscribe<S: Subscriber>(_ subscriber: S) where S.Input == Output, S.Failure == Failure {
        receive(subscriber: subscriber)
    }

    /// Sends the values to a subject.
    public func subscribe<S: Subject>(_ subject: S) -> AnyCancellable where S.Output == Output, S.Failure == Failure {
        sink(receiveCompletion: { subject.send(completion: $0) }, receiveValue: { subject.send($0) })
    }

    /// Hides the type of the publisher.
    public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> { AnyPublisher(self) }
}

/// Receives values from a publisher.
public protocol Subscriber<Input, Failure>: CustomCombineIdentifierConvertible {
    associatedtype Input
    associatedtype Failure: Error

    /// Receives the subscription, with which the subscriber requests values.
    func receive(subscription: any Subscription)
    /// Receives a value, and returns the number of further values to send.
    func receive(_ input: Input) -> Subscribers.Demand
    /// Receives the end of the values.
    func receive(completion: Subscribers.Completion<Failure>)
}

/// An activity that can be cancelled.
public protocol Cancellable {
    /// Cancels the activity.
    func cancel()
}

extension Cancellable {
    /// Keeps the activity in a set of cancellables.
    public func store(in set: inout Set<AnyCancellable>) { AnyCancellable(self).store(in: &set) }

    /// Keeps the activity in a collection of cancellables.
    public func store<C: RangeReplaceableCollection<AnyCancellable>>(in collection: inout C) {
        AnyCancellable(self).store(in: &collection)
    }
}

/// Connects a subscriber to a publisher.
public protocol Subscription: Cancellable, CustomCombineIdentifierConvertible {
    /// Requests further values.
    func request(_ demand: Subscribers.Demand)
}

/// Identity of a subscriber or a subscription.
public struct CombineIdentifier: Hashable, Sendable {
    private let value: ObjectIdentifier
    private let owner: Token
    private final class Token: Sendable {}

    /// Creates a unique identifier.
    public init() {
        owner = Token()
        value = ObjectIdentifier(owner)
    }

    /// Creates the identifier of an object.
    public init(_ object: AnyObject) {
        owner = Token()
        value = ObjectIdentifier(object)
    }

    /// True if both identify the same.
    public static func == (left: CombineIdentifier, right: CombineIdentifier) -> Bool { left.value == right.value }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

/// A type with an identity.
public protocol CustomCombineIdentifierConvertible {
    /// The identity.
    var combineIdentifier: CombineIdentifier { get }
}

extension CustomCombineIdentifierConvertible where Self: AnyObject {
    /// The identity of the object.
    public var combineIdentifier: CombineIdentifier { CombineIdentifier(self) }
}

/// Types that subscribers use.
public enum Subscribers {
    /// The number of values that a subscriber accepts.
    public struct Demand: Hashable, Sendable {
        /// The number; nil without a limit.
        public let max: Int?

        /// Any number of values.
        public static let unlimited = Demand(max: nil)
        /// No values.
        public static let none = Demand(max: 0)
        /// A number of values.
        public static func max(_ value: Int) -> Demand { Demand(max: value) }

        /// The sum of two demands.
        public static func + (left: Demand, right: Demand) -> Demand {
            guard let first = left.max, let second = right.max else { return .unlimited }
            let (sum, overflows) = first.addingReportingOverflow(second)
            return overflows ? .unlimited : Demand(max: sum)
        }

        /// Adds a demand.
        public static func += (left: inout Demand, right: Demand) { left = left + right }

        /// True if the demand exceeds a number.
        public static func > (left: Demand, right: Int) -> Bool { left.max.map { $0 > right } ?? true }

        /// Subtracts a number.
        public static func -= (left: inout Demand, right: Int) {
            if let count = left.max { left = Demand(max: Swift.max(0, count - right)) }
        }
    }

    /// The end of the values.
    public enum Completion<Failure: Error> {
        /// All values were sent.
        case finished
        /// The publisher failed.
        case failure(Failure)
    }
}

extension Subscribers.Completion: Sendable {}
extension Subscribers.Completion: Equatable where Failure: Equatable {}

/// Types that publishers use.
public enum Publishers {}

/// A publisher whose type is hidden.
public struct AnyPublisher<Output, Failure: Error>: Publisher {
    private let attach: (AnySubscriber<Output, Failure>) -> Void

    /// Hides the type of a publisher.
    public init<P: Publisher>(_ publisher: P) where P.Output == Output, P.Failure == Failure {
        attach = (publisher as? AnyPublisher)?.attach ?? { publisher.receive(subscriber: $0) }
    }

    /// - Parameter attach: Called for each subscriber.
    init(attaching attach: @escaping (AnySubscriber<Output, Failure>) -> Void) { self.attach = attach }

    /// Attaches a subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        attach(AnySubscriber(subscriber))
    }
}

/// A subscriber whose type is hidden.
public struct AnySubscriber<Input, Failure: Error>: Subscriber {
    /// The identity of the subscriber.
    public let combineIdentifier: CombineIdentifier
    private let onSubscription: (any Subscription) -> Void
    private let onValue: (Input) -> Subscribers.Demand
    private let onCompletion: (Subscribers.Completion<Failure>) -> Void

    /// Hides the type of a subscriber.
    public init<S: Subscriber>(_ subscriber: S) where S.Input == Input, S.Failure == Failure {
        combineIdentifier = subscriber.combineIdentifier
        onSubscription = { subscriber.receive(subscription: $0) }
        onValue = { subscriber.receive($0) }
        onCompletion = { subscriber.receive(completion: $0) }
    }

    /// Creates a subscriber of functions.
    public init(
        receiveSubscription: ((any Subscription) -> Void)? = nil, receiveValue: ((Input) -> Subscribers.Demand)? = nil,
        receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)? = nil
    ) {
        combineIdentifier = CombineIdentifier()
        onSubscription = receiveSubscription ?? { $0.request(.unlimited) }
        onValue = receiveValue ?? { _ in .none }
        onCompletion = receiveCompletion ?? { _ in }
    }

    /// Receives the subscription.
    public func receive(subscription: any Subscription) { onSubscription(subscription) }
    /// Receives a value.
    public func receive(_ value: Input) -> Subscribers.Demand { onValue(value) }
    /// Receives the end of the values.
    public func receive(completion: Subscribers.Completion<Failure>) { onCompletion(completion) }
}
