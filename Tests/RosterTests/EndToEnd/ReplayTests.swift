import Foundation
import TestSupport
import Testing

/// `watch --replay`: replays the history of a store.
@Suite(.needs(.process)) struct ReplayTests {
    private let sample: SampleFolder

    init() throws { sample = try SampleFolder() }

    private func run(_ arguments: String...) throws -> [String] {
        let outcome = try RosterProcess.run(arguments)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return outcome.output.split(separator: "\n").map(String.init)
    }

    private func replay(_ more: String...) throws -> [[String: Any]] {
        let arguments = [
            "watch", sample.store, "Team", "--section", "qualifyingZone", "--sort", "teamName", "--replay", "--format",
            "json",
        ]
        let outcome = try RosterProcess.run(arguments + more)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try outcome.output.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
        }
    }

    @Test func aReplayHasTheEventsInTheirOrder() throws {
        let number = try replay().last { $0["event"] as? String == "transaction" }?["number"] as? Int ?? 0
        _ = try run("insert", sample.store, "Team", "teamName=Aland", "qualifyingZone=ATLANTIS")
        _ = try run("update", sample.store, "Team", "--where", "teamName == 'Japan'", "wins=99")
        _ = try run("delete", sample.store, "Team", "--where", "teamName == 'Aland'")
        let events = try replay("--since", String(number))
        let names = events.compactMap { $0["event"] as? String }
        #expect(
            names == [
                "fetched", "transaction", "willChange", "section", "object", "didChange", "transaction", "willChange",
                "object", "didChange", "transaction", "willChange", "section", "object", "didChange",
            ], "\(names)")
        let objects = events.filter { $0["event"] as? String == "object" }
        #expect(objects.compactMap { $0["type"] as? String } == ["insert", "update", "delete"], "\(objects)")
        // Of a deleted record, the history keeps only what the model specifies: here nothing.
        #expect(objects[0]["newIndexPath"] as? [Int] == [0, 0] && objects[2]["indexPath"] as? [Int] == [0, 0])
        #expect(objects[1]["changedKeys"] as? [String] == ["wins"])
        #expect((objects[0]["object"] as? String)?.contains("/Team/p") == true)
        #expect(events[0]["objects"] as? Int == 80)
        #expect(events.filter { $0["event"] as? String == "didChange" }.map { $0["objects"] as? Int } == [81, 81, 80])
    }

    @Test func theWholeHistoryBeginsWithNothing() throws {
        let events = try replay()
        #expect(events[0]["event"] as? String == "fetched" && events[0]["objects"] as? Int == 0)
        #expect(events.last?["event"] as? String == "didChange" && events.last?["objects"] as? Int == 80)
    }

    @Test func aFilmHasItsOwnRules() throws {
        for (flags, word) in [
            (["--replay", "--once"], "--replay"), (["--rate", "3"], "--replay"), (["--since", "1"], "--replay"),
        ] {
            let outcome = try RosterProcess.run(["watch", sample.store, "Team"] + flags)
            #expect(outcome.status == 2 && outcome.errors.contains(word), "\(outcome.errors)")
        }
    }

    @Test func aFilmRunsAtItsRate() throws {
        for wins in 1...3 {
            _ = try run("update", sample.store, "Team", "--where", "teamName == 'Japan'", "wins=\(wins)")
        }
        let last = try replay().last { $0["event"] as? String == "transaction" }?["number"] as? Int ?? 0
        let start = ContinuousClock.now
        _ = try replay("--since", String(last - 3), "--rate", "10")
        #expect(ContinuousClock.now - start >= .milliseconds(300))
    }
}
