import Dispatch

/// Lengths of time that schedulers use.
public protocol SchedulerTimeIntervalConvertible {
    /// A number of seconds.
    static func seconds(_ s: Int) -> Self
    /// A number of seconds.
    static func seconds(_ s: Double) -> Self
    /// A number of milliseconds.
    static func milliseconds(_ ms: Int) -> Self
    /// A number of microseconds.
    static func microseconds(_ us: Int) -> Self
    /// A number of nanoseconds.
    static func nanoseconds(_ ns: Int) -> Self
}

/// Runs functions at a place and time.
public protocol Scheduler<SchedulerTimeType> {
    associatedtype SchedulerTimeType: Strideable where SchedulerTimeType.Stride: SchedulerTimeIntervalConvertible
    associatedtype SchedulerOptions

    /// The current time.
    var now: SchedulerTimeType { get }
    /// The smallest tolerance.
    var minimumTolerance: SchedulerTimeType.Stride { get }
    /// Runs a function as soon as possible.
    func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void)
    /// Runs a function after a date.
    func schedule(
        after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
        _ action: @escaping () -> Void)
}

/// Time of the schedulers of Dispatch and Foundation.
public struct SchedulerTime: Strideable, Hashable, Sendable {
    /// A length of time.
    public struct Stride: SchedulerTimeIntervalConvertible, SignedNumeric, Comparable, Hashable, Sendable,
        ExpressibleByFloatLiteral
    {
        /// The length in seconds.
        public var timeInterval: Double

        init(interval: Double) { timeInterval = interval }

        /// Creates a length of a number of seconds.
        public init(integerLiteral value: Int) { timeInterval = Double(value) }
        /// Creates a length of a number of seconds.
        public init(floatLiteral value: Double) { timeInterval = value }
        /// Creates a length of a number of seconds.
        public init?(exactly source: some BinaryInteger) { timeInterval = Double(source) }

        public static func seconds(_ s: Int) -> Stride { Stride(interval: Double(s)) }
        public static func seconds(_ s: Double) -> Stride { Stride(interval: s) }
        public static func milliseconds(_ ms: Int) -> Stride { Stride(interval: Double(ms) / 1e3) }
        public static func microseconds(_ us: Int) -> Stride { Stride(interval: Double(us) / 1e6) }
        public static func nanoseconds(_ ns: Int) -> Stride { Stride(interval: Double(ns) / 1e9) }

        public var magnitude: Double { timeInterval.magnitude }
        public static func < (left: Stride, right: Stride) -> Bool { left.timeInterval < right.timeInterval }
        public static func + (left: Stride, right: Stride) -> Stride {
            Stride(interval: left.timeInterval + right.timeInterval)
        }
        public static func - (left: Stride, right: Stride) -> Stride {
            Stride(interval: left.timeInterval - right.timeInterval)
        }
        public static func * (left: Stride, right: Stride) -> Stride {
            Stride(interval: left.timeInterval * right.timeInterval)
        }
        public static func *= (left: inout Stride, right: Stride) { left = left * right }
    }

    fileprivate let seconds: Double

    static var now: SchedulerTime { SchedulerTime(seconds: Double(DispatchTime.now().uptimeNanoseconds) / 1e9) }

    /// Length of time to another time.
    public func distance(to other: SchedulerTime) -> Stride { Stride(interval: other.seconds - seconds) }
    /// The time after a length of time.
    public func advanced(by n: Stride) -> SchedulerTime { SchedulerTime(seconds: seconds + n.timeInterval) }
}

/// Options of the schedulers of Dispatch and Foundation: none.
public struct SchedulerOptions: Sendable {
    /// Creates options.
    public init() {}
}

/// A scheduler whose times are `SchedulerTime`.
public protocol SystemScheduler: Scheduler, SendableMetatype
where SchedulerTimeType == SchedulerTime, SchedulerOptions == Combine.SchedulerOptions {
    /// Runs a function as soon as possible.
    func run(_ action: @escaping @Sendable () -> Void)
}

extension SystemScheduler {
    /// The current time.
    public var now: SchedulerTime { .now }
    /// The smallest tolerance.
    public var minimumTolerance: SchedulerTime.Stride { 0 }

    /// Runs a function as soon as possible.
    public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
        let work = Carried(value: action)
        run { work.value() }
    }

    /// Runs a function after a date.
    public func schedule(
        after date: SchedulerTime, tolerance: SchedulerTime.Stride, options: SchedulerOptions?,
        _ action: @escaping () -> Void
    ) {
        let work = Carried(value: (self, action))
        DispatchQueue.global().asyncAfter(deadline: .now() + SchedulerTime.now.distance(to: date).timeInterval) {
            let (scheduler, action) = work.value
            scheduler.schedule(options: nil, action)
        }
    }
}

extension Scheduler {
    /// Runs a function as soon as possible.
    public func schedule(_ action: @escaping () -> Void) { schedule(options: nil, action) }
}

extension DispatchQueue: SystemScheduler {
    public typealias SchedulerTimeType = SchedulerTime
    public typealias SchedulerOptions = Combine.SchedulerOptions
    /// Runs a function as soon as possible.
    public func run(_ action: @escaping @Sendable () -> Void) { async(execute: action) }
}

extension OperationQueue: SystemScheduler {
    public typealias SchedulerTimeType = SchedulerTime
    public typealias SchedulerOptions = Combine.SchedulerOptions
    /// Runs a function as soon as possible.
    public func run(_ action: @escaping @Sendable () -> Void) { addOperation(action) }
}

extension RunLoop: SystemScheduler {
    public typealias SchedulerTimeType = SchedulerTime
    public typealias SchedulerOptions = Combine.SchedulerOptions
    /// Runs a function in the next turn of the loop.
    public func run(_ action: @escaping @Sendable () -> Void) { perform(action) }
}

/// Runs functions at once.
public struct ImmediateScheduler: Scheduler, Sendable {
    public typealias SchedulerTimeType = SchedulerTime
    public typealias SchedulerOptions = Never
    /// The scheduler.
    public static let shared = ImmediateScheduler()

    /// The current time.
    public var now: SchedulerTime { .now }
    /// The smallest tolerance.
    public var minimumTolerance: SchedulerTime.Stride { 0 }
    /// Runs a function at once.
    public func schedule(options: Never?, _ action: @escaping () -> Void) { action() }
    /// Runs a function at once.
    public func schedule(
        after date: SchedulerTime, tolerance: SchedulerTime.Stride, options: Never?, _ action: @escaping () -> Void
    ) { action() }
}

extension Publisher {
    /// Delivers the values on a scheduler.
    public func receive<S: Scheduler>(
        on scheduler: S, options: S.SchedulerOptions? = nil
    ) -> AnyPublisher<Output, Failure> {
        fed { feed in
            flow(into: feed) { value in
                scheduler.schedule(options: options) { feed.send(value) }
            } completion: { end in
                scheduler.schedule(options: options) { feed.send(completion: end) }
            }
        }
    }

    /// Subscribes on a scheduler.
    public func subscribe<S: Scheduler>(
        on scheduler: S, options: S.SchedulerOptions? = nil
    ) -> AnyPublisher<Output, Failure> {
        fed { feed in
            scheduler.schedule(options: options) {
                flow(into: feed) {
                    feed.send($0)
                } completion: {
                    feed.send(completion: $0)
                }
            }
        }
    }

    /// Delivers the values later.
    public func delay<S: Scheduler>(
        for interval: S.SchedulerTimeType.Stride, scheduler: S
    ) -> AnyPublisher<Output, Failure> {
        fed { feed in
            func later(_ action: @escaping () -> Void) {
                scheduler.schedule(
                    after: scheduler.now.advanced(by: interval), tolerance: scheduler.minimumTolerance, options: nil,
                    action)
            }
            flow(into: feed) { value in
                later { feed.send(value) }
            } completion: { end in
                later { feed.send(completion: end) }
            }
        }
    }

    /// Delivers a value if no other one follows it for a while.
    public func debounce<S: Scheduler>(
        for dueTime: S.SchedulerTimeType.Stride, scheduler: S, options: S.SchedulerOptions? = nil
    ) -> AnyPublisher<Output, Failure> {
        fed { feed in
            let latest = Waiting<Output>()
            flow(into: feed) { value in
                let number = latest.set(value)
                scheduler.schedule(
                    after: scheduler.now.advanced(by: dueTime), tolerance: scheduler.minimumTolerance, options: options
                ) {
                    if let value = latest.take(number) { feed.send(value) }
                }
            } completion: { end in
                scheduler.schedule(options: options) {
                    if let value = latest.take(nil) { feed.send(value) }
                    feed.send(completion: end)
                }
            }
        }
    }
}

/// The value that a debounce has not delivered yet.
private final class Waiting<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: [Value] = []
    private var number = 0

    func set(_ value: Value) -> Int {
        lock.withLock {
            self.value = [value]
            number += 1
            return number
        }
    }

    /// Removes the value, if it is the one of that number.
    func take(_ number: Int?) -> Value? {
        lock.withLock { number ?? self.number == self.number ? value.popLast() : nil }
    }
}
