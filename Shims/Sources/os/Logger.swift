/// Writes messages of a subsystem and category to the log.
public struct Logger: Sendable {
    private let log: OSLog

    /// Creates a logger for the default log.
    public init() { log = .default }

    /// Creates a logger for a subsystem and category.
    public init(subsystem: String, category: String) { log = OSLog(subsystem: subsystem, category: category) }

    /// Creates a logger for a log.
    public init(_ logObj: OSLog) { log = logObj }

    /// Writes a message at the default level.
    public func log(_ message: OSLogMessage) { log.write(.default, message.text) }

    /// Writes a message at a level.
    public func log(level: OSLogType, _ message: OSLogMessage) { log.write(level, message.text) }

    /// Writes a message at the debug level.
    public func trace(_ message: OSLogMessage) { log.write(.debug, message.text) }

    /// Writes a message at the debug level.
    public func debug(_ message: OSLogMessage) { log.write(.debug, message.text) }

    /// Writes a message at the info level.
    public func info(_ message: OSLogMessage) { log.write(.info, message.text) }

    /// Writes a message at the default level.
    public func notice(_ message: OSLogMessage) { log.write(.default, message.text) }

    /// Writes a message at the error level.
    public func warning(_ message: OSLogMessage) { log.write(.error, message.text) }

    /// Writes a message at the error level.
    public func error(_ message: OSLogMessage) { log.write(.error, message.text) }

    /// Writes a message at the fault level.
    public func critical(_ message: OSLogMessage) { log.write(.fault, message.text) }

    /// Writes a message at the fault level.
    public func fault(_ message: OSLogMessage) { log.write(.fault, message.text) }
}
