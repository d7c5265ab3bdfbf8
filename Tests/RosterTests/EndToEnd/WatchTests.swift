import Foundation
import TestSupport
import Testing

@testable import CoreData

/// `watch` in one process, writers in others.
@Suite(.needs(.process)) struct WatchTests {
    private let sample: SampleFolder

    init() throws { sample = try SampleFolder() }

    private func watch(_ more: [String] = []) throws -> LiveProcess {
        let arguments = [
            "watch", sample.store, "Team", "--section", "qualifyingZone", "--sort", "wins:desc,teamName", "--format",
            "json",
        ]
        let process = try LiveProcess(roster: arguments + more)
        try #require(process.wait(60) { !$0.isEmpty }, "\(process.errorLines)")
        return process
    }

    /// The events of the batch that a command causes in `process`.
    private func batch(of process: LiveProcess, _ arguments: [String]) throws -> [WatchEvent] {
        let before = process.lines.count
        let outcome = try RosterProcess.run(arguments)
        try #require(outcome.status == 0, "\(outcome.errors)")
        let arrived = process.wait(60) { $0.dropFirst(before).contains { $0.hasPrefix(#"{"event":"didChange""#) } }
        try #require(arrived, "\(process.lines.dropFirst(before)) \(process.errorLines)")
        return try process.lines.dropFirst(before).map(WatchEvent.init)
    }

    @Test func windowsAndAggregatesAreFollowed() throws {
        let process = try LiveProcess(roster: [
            "watch", sample.store, "Team", "--sort", "wins:desc,teamName", "--limit", "3", "--sum", "wins", "--format",
            "json", "--timeout", "900",
        ])
        defer { process.killAtOnce() }
        try #require(process.wait(60) { !$0.isEmpty }, "\(process.errorLines)")
        #expect(try WatchEvent(process.lines[0]).fields["objects"] as? Int == 3)
        let change = try batch(
            of: process, ["update", sample.store, "Team", "--where", "teamName == 'Japan'", "wins=999"])
        #expect(change.map(\.event) == ["willChange", "object", "object", "aggregates", "didChange"])
        #expect(change[1].type == "delete")
        #expect(change[1].path("indexPath") == [0, 2])
        #expect(change[2].type == "insert")
        #expect(change[2].path("newIndexPath") == [0, 0])
        #expect(((change[3].fields["sum"] as? [String: Any])?["wins"] as? Int ?? 0) > 999)
    }

    @Test func anUpdateIsOneMoveOrUpdate() throws {
        let process = try watch(["--timeout", "60"])
        defer { process.killAtOnce() }
        let first = try WatchEvent(process.lines[0])
        #expect(first.event == "fetched")
        #expect((first.fields["objects"] as? Int) == 80)
        #expect(
            (first.fields["sections"] as? [[String: Any]])?.map { $0["name"] as? String } == [
                "AFC", "CAF", "CONCACAF", "CONMEBOL", "OFC", "UEFA",
            ])
        let move = try batch(of: process, ["update", sample.store, "Team", "--where", "teamName == 'Japan'", "wins=1"])
        #expect(move.map(\.event) == ["willChange", "object", "didChange"])
        #expect(move[1].type == "move")
        #expect(move[1].path("indexPath") == [0, 0])
        #expect(move[1].values["wins"] as? Int == 1)
        #expect(move[1].fields["changedKeys"] as? [String] == ["wins"])
        let update = try batch(
            of: process, ["update", sample.store, "Team", "--where", "teamName == 'Brazil'", "favorite=true"])
        #expect(update.map(\.event) == ["willChange", "object", "didChange"])
        #expect(update[1].type == "update")
        #expect(update[1].path("indexPath") == [3, 0])
    }

    // MARK: Consecutive changes

    /// Changes are polled ten times a second.
    @Test func changesArriveAsTheyAreMade() throws {
        #expect(RemoteChangeWatcher.Pace().interval == .milliseconds(100))
        let process = try watch(["--timeout", "900"])
        defer { process.killAtOnce() }
        for number in 1...3 {
            let change = ["update", sample.store, "Team", "--where", "teamName == 'Japan'", "wins=\(number)"]
            let updated = try batch(of: process, change)
            #expect(updated.compactMap { $0.event == "object" ? $0.values["wins"] as? Int : nil } == [number])
        }
        for number in 4...6 {
            let inserted = try batch(
                of: process, ["insert", sample.store, "Team", "teamName=New \(number)", "qualifyingZone=N\(number)"])
            #expect(inserted.map(\.event) == ["willChange", "section", "object", "didChange"])
        }
    }

    @Test func eachMatchOfAStreamArrives() throws {
        let process = try watch(["--timeout", "900"])
        defer { process.killAtOnce() }
        let (before, start) = (try matchesPlayed(), process.lines.count)
        let season = try LiveProcess(roster: ["simulate", sample.store, "--count", "100", "--seed", "2"])
        #expect(season.waitForEnd() == 0)
        try #require(season.lines.count == 100, "\(season.errorLines)")
        var told = 0
        let caughtUp = process.wait(120) { lines in
            told = (try? matches(toldIn: lines.dropFirst(start), before: before)) ?? 0
            return told >= 100
        }
        #expect(caughtUp && told == 100, "\(told) matches arrived")
    }

    /// Number of matches that each team has played.
    private func matchesPlayed() throws -> [String: Int] {
        let columns = ["--columns", "teamName,wins,draws,losses", "--format", "json"]
        let lines = try RosterProcess.run(["export", sample.store, "Team"] + columns).lines
        return try Dictionary(
            uniqueKeysWithValues: lines.map { line in
                let fields = try WatchEvent(line).fields
                return (fields["teamName"] as? String ?? "", Self.matches(in: fields))
            })
    }

    private static func matches(in fields: [String: Any]) -> Int {
        ["wins", "draws", "losses"].reduce(0) { $0 + (fields[$1] as? Int ?? 0) }
    }

    /// Number of reported matches. Each match involves two teams, and a batch may contain several.
    private func matches(toldIn lines: some Sequence<String>, before: [String: Int]) throws -> Int {
        var (played, told) = (before, 0)
        let total = before.values.reduce(0, +)
        for line in lines {
            let event = try WatchEvent(line)
            if event.event == "object" {
                played[event.values["teamName"] as? String ?? ""] = Self.matches(in: event.values)
            } else if event.event == "didChange" {
                told = (played.values.reduce(0, +) - total) / 2
            }
        }
        return told
    }

    @Test func anInsertIntoANewZoneIsOneSectionAndOneObject() throws {
        let process = try watch(["--once"])
        let batch = try batch(of: process, ["insert", sample.store, "Team", "teamName=Testland", "qualifyingZone=NEW"])
        #expect(batch.map(\.event) == ["willChange", "section", "object", "didChange"])
        #expect(batch[1].type == "insert")
        #expect(batch[1].fields["index"] as? Int == 4)
        #expect(batch[1].fields["name"] as? String == "NEW")
        #expect(batch[2].type == "insert")
        #expect(batch[2].path("indexPath") == nil)
        #expect(batch[2].path("newIndexPath") == [4, 0])
        #expect(batch[3].fields["sections"] as? Int == 7)
        #expect(process.waitForEnd() == 0)
        let second = try watch(["--once"])
        let gone = try self.batch(of: second, ["delete", sample.store, "Team", "--where", "teamName == 'Testland'"])
        #expect(gone.map(\.event) == ["willChange", "section", "object", "didChange"])
        #expect(gone[1].type == "delete" && gone[2].type == "delete")
        #expect(gone[2].path("indexPath") == [4, 0])
        #expect(second.waitForEnd() == 0)
    }

    @Test func aSeasonReplayedIsTheListOfAFreshFetch() throws {
        // Each round starts processes, which is slow while other tests run.
        let process = try watch(["--timeout", "900"])
        defer { process.killAtOnce() }
        let order = [
            "--section", "qualifyingZone", "--sort", "wins:desc,teamName", "--columns", "teamName", "--format", "csv",
        ]
        let before = try RosterProcess.run(["list", sample.store, "Team"] + order).lines.dropFirst()
        let counts = try #require(try WatchEvent(process.lines[0]).fields["sections"] as? [[String: Any]])
        var replay = WatchReplay(names: Array(before), counts: counts.map { $0["count"] as? Int ?? 0 })
        let season = try RosterProcess.run(["simulate", sample.store, "--count", "200", "--seed", "1"])
        #expect(season.lines.count == 200, "\(season.errors)")
        let after = Array(try RosterProcess.run(["list", sample.store, "Team"] + order).lines.dropFirst())
        var applied = 1
        let caughtUp = process.wait(60) { lines in
            guard (try? replay.apply(lines, from: &applied)) != nil else { return false }
            return replay.names == after
        }
        #expect(caughtUp, "replayed \(replay.names) instead of \(after)")
        #expect(Set(before) == Set(after))
    }

    @Test func aTimeThatIsOverAndCtrlCAreGoodEnds() throws {
        #expect(try watch(["--timeout", "0.3"]).waitForEnd() == 0)
        let once = try watch(["--timeout", "0.3", "--once"])
        #expect(once.waitForEnd() == 1)
        #expect(once.errorLines.count == 1)
        let stopped = try watch()
        stopped.interrupt()
        #expect(stopped.waitForEnd() == 0)
        #expect(stopped.errorLines == [])
    }
}
