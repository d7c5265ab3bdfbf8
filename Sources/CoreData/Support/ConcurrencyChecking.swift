import Foundation

/// What is done about contexts and objects that are used off their queues, and about threads that wait where others wait for them
/// (``QueueWatchdog``).
///
/// The environment variable `CoreDataConcurrencyDebug`, or Apple's launch argument `-com.apple.CoreData.ConcurrencyDebug`, says `1` for
/// stopping the program at each use off a queue, and `0` for nothing. Where neither says anything, a debug build tells the first mistake
/// of each kind and goes on, and a release build looks at nothing.
enum ConcurrencyChecking {
    /// Whether uses of queues are looked at.
    static let isOn = stops || request == nil && isDebugBuild
    /// Whether a use off a queue stops the program, each use is looked at, and both sides of each are kept.
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
