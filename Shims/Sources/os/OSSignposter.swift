/// Identifies an interval of signposts.
public struct OSSignpostID: Hashable, Sendable {
    /// Number of the interval.
    public let rawValue: UInt64

    /// Creates an identifier from a number.
    public init(_ value: UInt64) { rawValue = value }
    /// Creates an identifier. Signposts are not recorded, so all are equal.
    public init(log: OSLog) { self = .exclusive }
    /// Creates an identifier for an object. Signposts are not recorded, so all are equal.
    public init(log: OSLog, object: AnyObject) { self = .exclusive }

    /// The identifier of intervals that do not overlap.
    public static let exclusive = OSSignpostID(0xEEEE_B0B5_B2B2_EEEE)
    /// An identifier that is not valid.
    public static let invalid = OSSignpostID(.max)
    /// An identifier for nothing.
    public static let null = OSSignpostID(0)
}

/// The kind of a signpost.
public enum OSSignpostType: Sendable {
    /// The start of an interval.
    case begin
    /// The end of an interval.
    case end
    /// A point in time.
    case event
}

/// Accepts a signpost. It is not recorded.
public func os_signpost(
    _ type: OSSignpostType, log: OSLog, name: StaticString, signpostID: OSSignpostID = .exclusive
) {}

/// Accepts a signpost with a message. It is not recorded.
public func os_signpost(
    _ type: OSSignpostType, log: OSLog, name: StaticString, signpostID: OSSignpostID = .exclusive,
    _ format: StaticString, _ arguments: Any?...
) {}

/// An interval that has begun.
public final class OSSignpostIntervalState: Sendable {
    init() {}
}

/// Accepts signposts. They are not recorded.
public struct OSSignposter: Sendable {
    /// Creates a signposter.
    public init() {}
    /// Creates a signposter for a subsystem and category.
    public init(subsystem: String, category: String) {}
    /// Creates a signposter for a subsystem and a category with a meaning.
    public init(subsystem: String, category: OSLog.Category) {}
    /// Creates a signposter for a logger.
    public init(logger: Logger) {}
    /// Creates a signposter for a log.
    public init(logHandle: OSLog) {}

    /// A signposter that records nothing.
    public static let disabled = OSSignposter()

    /// False: signposts are not recorded.
    public var isEnabled: Bool { false }

    /// Returns an identifier.
    public func makeSignpostID() -> OSSignpostID { .exclusive }
    /// Returns an identifier for an object.
    public func makeSignpostID(from object: AnyObject) -> OSSignpostID { .exclusive }

    /// Begins an interval.
    public func beginInterval(_ name: StaticString, id: OSSignpostID = .exclusive) -> OSSignpostIntervalState {
        .init()
    }
    /// Begins an interval with a message.
    public func beginInterval(
        _ name: StaticString, id: OSSignpostID = .exclusive, _ message: @autoclosure () -> OSLogMessage
    ) -> OSSignpostIntervalState { .init() }

    /// Ends an interval.
    public func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState) {}
    /// Ends an interval with a message.
    public func endInterval(
        _ name: StaticString, _ state: OSSignpostIntervalState, _ message: @autoclosure () -> OSLogMessage
    ) {}

    /// Marks a point in time.
    public func emitEvent(_ name: StaticString, id: OSSignpostID = .exclusive) {}
    /// Marks a point in time with a message.
    public func emitEvent(
        _ name: StaticString, id: OSSignpostID = .exclusive, _ message: @autoclosure () -> OSLogMessage
    ) {}

    /// Runs a task as an interval.
    public func withIntervalSignpost<Result>(
        _ name: StaticString, id: OSSignpostID = .exclusive, around task: () throws -> Result
    ) rethrows -> Result { try task() }
    /// Runs a task as an interval with a message.
    public func withIntervalSignpost<Result>(
        _ name: StaticString, id: OSSignpostID = .exclusive, _ message: @autoclosure () -> OSLogMessage,
        around task: () throws -> Result
    ) rethrows -> Result { try task() }
}
