import Foundation

/// Settings for checking contexts and objects used off their queues, and threads whose waits may deadlock
/// (``QueueWatchdog``).
///
/// The environment variable `CoreDataConcurrencyDebug`, or Apple's launch argument
/// `-com.apple.CoreData.ConcurrencyDebug`, is `1` to stop the program at each use off a queue, and `0` to check
/// nothing. If neither is set, a debug build reports the first mistake of each kind and continues, and a release
/// build checks nothing.
enum ConcurrencyChecking {
    /// True if uses of queues are checked.
    static let isOn = stops || request == nil && isDebugBuild
    /// True if a use off a queue stops the program. Then every use is checked, and the stacks of both sides are kept.
    static let stops = request == true

    private static let request: Bool? = {
        if let text = ProcessInfo.processInfo.environment["CoreDataConcurrencyDebug"] { return text != "0" }
        let arguments = CommandLine.arguments
        guard let index = arguments.firstIndex(of: "-com.apple.CoreData.ConcurrencyDebug"), index + 1 < arguments.count
        else { return nil }
        return arguments[index + 1] != "0"
    }()

    private static var isDebugBuild: Bool {
        #if DEBUG
            true
        #else
            false
        #endif
    }
}
