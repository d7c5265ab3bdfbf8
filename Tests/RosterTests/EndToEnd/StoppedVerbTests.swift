import Foundation
import TestSupport
import Testing

/// Verbs that get SIGTERM or SIGINT while they are in one endless statement, or in work that looks for nothing.
@Suite(.needs(.process)) struct StoppedVerbTests {
    private let sample: SampleFolder
    private static let count = 3000
    /// A condition that takes 3000³ steps.
    private static let endless =
        "SUBQUERY(homeVenue.teams, $a, SUBQUERY($a.homeVenue.teams, $b, $b.wins == $a.wins + 1000000).@count > 0).@count > 0"

    init() throws {
        sample = try SampleFolder()
        let lines = (0..<Self.count).map { "Team \($0),AFC,Maracanã,\($0)" }
        let file = try sample.file(
            "many.csv", "teamName,qualifyingZone,homeVenue,wins\n" + lines.joined(separator: "\n"))
        let outcome = try RosterProcess.run(["import", sample.store, "Team", file])
        try #require(outcome.status == 0, "\(outcome.errors)")
    }

    /// Sends a signal to a verb that is at work for some time, and expects one line.
    private func stop(_ number: Int32, _ words: [String], location: SourceLocation = #_sourceLocation) throws {
        let process = try LiveProcess(roster: words)
        // The statement is endless: any time is in it.
        usleep(1_500_000)
        #expect(process.isRunning, "\(process.errorLines)", sourceLocation: location)
        kill(process.identifier, number)
        let status = process.waitForEnd()
        // A verb that had to be ended has the status of the signal.
        #expect([1, 128 + number].contains(status), sourceLocation: location)
        #expect(process.errorLines == ["roster \(words[0]): interrupted"], sourceLocation: location)
    }

    @Test(arguments: [SIGTERM, SIGINT]) func anEndlessStatementIsStopped(number: Int32) throws {
        let store = sample.store
        for words in [
            ["count", store, "Team"], ["list", store, "Team"], ["export", store, "Team", sample.path("out.json")],
            ["update", store, "Team", "wins=1"], ["delete", store, "Team"], ["watch", store, "Team"],
        ] {
            try stop(number, words + ["--where", Self.endless])
        }
        #expect(try RosterProcess.run(["count", store, "Team"]).output == "\(Self.count + 80)")
        #expect(try RosterProcess.run(["check", store]).status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: sample.url.path)
        #expect(!names.contains { $0.hasPrefix("out.json") }, "\(names)")
    }

    /// A pattern that is matched inside of one step of SQLite.
    @Test func workThatDoesNotLookIsEnded() throws {
        let text = String(repeating: "a", count: 5000)
        let outcome = try RosterProcess.run(["insert", sample.store, "Team", "teamName=\(text)", "qualifyingZone=AFC"])
        try #require(outcome.status == 0, "\(outcome.errors)")
        let patterns = (30..<42).map { "teamName MATCHES '(.*a){\($0)}b'" }.joined(separator: " OR ")
        try stop(SIGTERM, ["count", sample.store, "Team", "--where", patterns])
    }
}
