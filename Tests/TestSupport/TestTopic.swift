import Foundation
import Testing

/// Something that a test needs beyond its own process. `Scripts/test` leaves such tests out, `--all` runs them, `--only TOPIC` runs one kind.
public enum TestTopic: String, CaseIterable, Sendable {
    /// Programs are started: the terminal program, the test program once more, `sqlite3`; some are killed.
    case process
    /// The terminal program runs in a terminal.
    case terminal
    /// A PostgreSQL server runs.
    case server
    /// Thousands of random cases.
    case campaign

    /// The topics that `ROSTER_TESTS` names, with spaces between them; all where it is not set.
    public static let chosen: Set<TestTopic> = {
        guard let names = ProcessInfo.processInfo.environment["ROSTER_TESTS"] else { return Set(allCases) }
        return Set(names.split(separator: " ").compactMap { TestTopic(rawValue: String($0)) })
    }()

    public var isChosen: Bool { Self.chosen.contains(self) }
}

extension Trait where Self == ConditionTrait {
    /// Runs the test or suite only where this topic was chosen. `Scripts/test --only` finds tests by this text.
    public static func needs(_ topic: TestTopic) -> Self {
        .enabled(if: topic.isChosen, "needs Scripts/test --only \(topic.rawValue)")
    }
}
