import Foundation
import Testing

/// A requirement of a test beyond its own process. `Scripts/test` skips such tests, `--all` runs them, `--only TOPIC`
/// runs one kind.
public enum TestTopic: String, CaseIterable, Sendable {
    /// Starts programs: `roster`, the test program itself, `sqlite3`; some are killed.
    case process
    /// Runs `roster` in a terminal.
    case terminal
    /// Uses a PostgreSQL server.
    case server
    /// Runs thousands of random cases.
    case campaign

    /// The topics in `ROSTER_TESTS`, separated by spaces; all if it is not set.
    public static let chosen: Set<TestTopic> = {
        guard let names = ProcessInfo.processInfo.environment["ROSTER_TESTS"] else { return Set(allCases) }
        return Set(names.split(separator: " ").compactMap { TestTopic(rawValue: String($0)) })
    }()

    public var isChosen: Bool { Self.chosen.contains(self) }
}

extension Trait where Self == ConditionTrait {
    /// Runs the test or suite only if this topic is chosen. `Scripts/test --only` finds tests by this text.
    public static func needs(_ topic: TestTopic) -> Self {
        .enabled(if: topic.isChosen, "needs Scripts/test --only \(topic.rawValue)")
    }
}
