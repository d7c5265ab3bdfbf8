import CoreData
import Foundation
import Testing

@testable import RosterCommands

/// Another program deletes teams while matches are played.
@Suite struct DeletedTeamTests {
    /// Deletes all teams but one after the first match was printed.
    private final class Deleting: TextOutput {
        let sample: SampleStore
        var lines: [String] = []

        init(_ sample: SampleStore) { self.sample = sample }

        func write(_ text: String) throws {
            lines.append(text)
            guard lines.count == 1 else { return }
            try DeleteCommand(store: sample.location, entity: "Team", predicate: "teamName != 'Japan'")
                .run(in: TestSurroundings().surroundings())
        }
        func flush() throws {}
    }

    @Test func noMatchIsAnnouncedThatWasNotSaved() throws {
        let sample = try SampleStore()
        let played = try sample.list("Team", RecordQuery(), columns: ["wins", "draws", "losses"])
        let output = Deleting(sample)
        let quiet = TestSurroundings().surroundings()
        let surroundings = CommandSurroundings(
            output: output, progress: quiet.progress, interruption: quiet.interruption, textStyle: quiet.textStyle,
            note: quiet.note)
        #expect(played.count == 81)
        let error = #expect(throws: CommandError.self) {
            try SimulateCommand(store: sample.location, count: 20, seed: 1).run(in: surroundings)
        }
        #expect(error?.message.contains("deleted the team") == true, "\(error?.message ?? "")")
        #expect(output.lines.count == 1)
    }
}
