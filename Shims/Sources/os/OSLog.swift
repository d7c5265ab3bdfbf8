/// The level of a message.
public struct OSLogType: RawRepresentable, Hashable, Sendable {
    /// Number of the level; higher numbers are more severe, except for `default`.
    public let rawValue: UInt8

    /// Creates a level from its number.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Creates a level from its number.
    public init(_ rawValue: UInt8) { self.rawValue = rawValue }

    /// Messages about what the program does.
    public static let `default` = OSLogType(0x00)
    /// Messages that help to find a fault.
    public static let info = OSLogType(0x01)
    /// Messages for development.
    public static let debug = OSLogType(0x02)
    /// Errors of the program.
    public static let error = OSLogType(0x10)
    /// Faults of the program or of the system.
    public static let fault = OSLogType(0x11)

    /// Name of the level in the log.
    var name: String {
        switch self {
        case .default: "default"
        case .info: "info"
        case .debug: "debug"
        case .error: "error"
        case .fault: "fault"
        default: String(rawValue)
        }
    }

    /// Position of the level from the least severe to the most severe.
    var severity: UInt8 {
        switch self {
        case .debug: 0
        case .info: 1
        case .default: 2
        default: rawValue
        }
    }
}

/// A log of a subsystem and category.
public final class OSLog: Sendable {
    /// Categories with a meaning for Apple's tools. Here they are names.
    public struct Category: Sendable {
        let name: String

        /// The category of points of interest.
        public static let pointsOfInterest = Category(name: "PointsOfInterest")
        /// The category of signposts that are off by default.
        public static let dynamicTracing = Category(name: "DynamicTracing")
        /// The category of signposts with backtraces.
        public static let dynamicStackTracing = Category(name: "DynamicStackTracing")
    }

    let subsystem: String
    let category: String
    private let isOff: Bool

    /// Creates a log for a subsystem and category.
    public convenience init(subsystem: String, category: String) {
        self.init(subsystem: subsystem, category: category, isOff: false)
    }

    /// Creates a log for a subsystem and a category with a meaning.
    public convenience init(subsystem: String, category: Category) {
        self.init(subsystem: subsystem, category: category.name, isOff: false)
    }

    private init(subsystem: String, category: String, isOff: Bool) {
        (self.subsystem, self.category, self.isOff) = (subsystem, category, isOff)
    }

    /// The log of messages without a subsystem.
    public static let `default` = OSLog(subsystem: "", category: "")
    /// A log that writes nothing.
    public static let disabled = OSLog(subsystem: "", category: "", isOff: true)

    /// True if messages of a level are written.
    public func isEnabled(type: OSLogType) -> Bool {
        !isOff && LogOutput.current.least.map { type.severity >= $0.severity } ?? false
    }

    /// False: signposts are not recorded.
    public var signpostsEnabled: Bool { false }

    func write(_ level: OSLogType, _ text: (LogOutput) -> String) {
        guard isEnabled(type: level) else { return }
        let output = LogOutput.current
        let source = subsystem.isEmpty && category.isEmpty ? "" : "[\(subsystem):\(category)] "
        output.write("\(level.name): \(source)\(text(output))")
    }
}
