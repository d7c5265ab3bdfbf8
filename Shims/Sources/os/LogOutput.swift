import Glibc

/// The place where messages are written: standard error. Tests replace it.
///
/// The environment variable `OS_LOG_LEVEL` names the least severe level that is written: `debug`, `info`, `default`,
/// `error`, `fault`, or `off`. Without it, the level is `default`. Private values are hidden, unless `OS_LOG_PRIVATE` is
/// set to `1`.
struct LogOutput: Sendable {
    /// The least severe level; nil if nothing is written.
    let least: OSLogType?
    let showsPrivate: Bool
    let write: @Sendable (String) -> Void

    @TaskLocal static var current = LogOutput(
        level: variable("OS_LOG_LEVEL"), showsPrivate: variable("OS_LOG_PRIVATE") == "1"
    ) { line in
        let bytes = Array("\(line)\n".utf8)
        // One call for each line, so that lines of several threads are not mixed.
        // SAFETY: the system reads at most `count` bytes, which the array holds during the call.
        _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    init(level: String?, showsPrivate: Bool = false, write: @escaping @Sendable (String) -> Void) {
        switch level {
        case "debug": least = .debug
        case "info": least = .info
        case "error": least = .error
        case "fault": least = .fault
        case "off": least = nil
        default: least = .default
        }
        (self.showsPrivate, self.write) = (showsPrivate, write)
    }

    private static func variable(_ name: String) -> String? {
        // SAFETY: the text is copied before the environment can change.
        getenv(name).map { String(cString: $0) }
    }
}
