import Foundation

/// Something that a test needs beyond its own process, as `Scripts/test` names it.
enum Topic: String {
    case process

    /// True if `ROSTER_TESTS` names it, or is not set.
    var isChosen: Bool {
        guard let names = ProcessInfo.processInfo.environment["ROSTER_TESTS"] else { return true }
        return names.split(separator: " ").contains { $0 == rawValue }
    }
}
