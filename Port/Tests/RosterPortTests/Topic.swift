import Foundation

/// A resource outside the test's process that a test needs, with its name in `Scripts/test`.
enum Topic: String {
    case process

    /// True if `ROSTER_TESTS` names it, or is not set.
    var isChosen: Bool {
        guard let names = ProcessInfo.processInfo.environment["ROSTER_TESTS"] else { return true }
        return names.split(separator: " ").contains { $0 == rawValue }
    }
}
