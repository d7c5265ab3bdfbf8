import Foundation
import SQLiteAccess
import Testing

/// A store that is put in the place of another one never gets what stands in the log of that other one.
@Suite struct StaleLogTests {
    enum Log: CaseIterable { case empty, small, whole }
    enum Restored: String, CaseIterable { case identical, older, newer, other }

    private let sample: SampleFolder

    init() throws { sample = try SampleFolder() }

    @discardableResult
    private func run(_ arguments: String...) throws -> String {
        let outcome = try RosterProcess.run(arguments)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return outcome.output
    }

    private func copy(_ source: String, _ name: String) throws -> String {
        try FileManager.default.copyItem(atPath: source, toPath: sample.path(name))
        return sample.path(name)
    }

    /// The stores that are put in the place of the sample, main files only, as a backup is that was made carelessly.
    private func backups() throws -> [Restored: String] {
        let older = try copy(sample.store, "older.sqlite")
        // The state at which the log begins.
        try run("update", sample.store, "Team", "--where", "teamName = 'Japan'", "wins=76")
        let identical = try copy(sample.store, "identical.sqlite")
        let newer = try copy(sample.store, "newer.sqlite")
        try run("update", newer, "Team", "--where", "teamName BEGINSWITH 'B'", "wins=77")
        let other = sample.path("other.sqlite")
        try run("create", other, "--model", SampleFolder.model)
        try run("insert", other, "Team", "teamName=Atlantis", "qualifyingZone=OFC", "wins=77")
        return [.identical: identical, .older: older, .newer: newer, .other: other]
    }

    /// Leaves a log of that kind beside the store, by a program that is killed.
    private func leave(_ log: Log) throws {
        let arguments = log == .empty ? ["watch", sample.store, "Team"] : ["simulate", sample.store, "--rate", "1"]
        let program = try LiveProcess(roster: arguments)
        try #require(program.wait(20) { !$0.isEmpty }, "\(program.errorLines)")
        if log == .whole {
            let outcome = try RosterProcess.shell("sqlite3 -cmd '.timeout 5000' \"$1\" VACUUM", [sample.store])
            try #require(outcome.status == 0, "\(outcome.errors)")
        }
        program.killAtOnce()
        program.waitForEnd()
        let size = try? FileManager.default.attributesOfItem(atPath: sample.store + "-wal")[.size] as? Int
        try #require((size ?? 0 > 0) == (log != .empty))
    }

    private func files() throws -> [Data] {
        try ["", "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: sample.store + $0)) }
    }

    @Test(arguments: Log.allCases, Restored.allCases)
    func theLogOfAKilledProgram(log: Log, restored: Restored) throws {
        let backup = try #require(backups()[restored])
        let expected = try run("list", backup, "Team", "--format", "json")
        try leave(log)
        // The file is written anew, or another one takes its name.
        let isInPlace = restored == .identical || restored == .other
        let command = isInPlace ? "cat \"$1\" > \"$2\"" : "cp \"$1\" \"$2.new\" && mv \"$2.new\" \"$2\""
        try #require(RosterProcess.shell(command, [backup, sample.store]).status == 0)
        let before = log == .empty ? [] : try files()
        let outcome = try RosterProcess.run(["list", sample.store, "Team", "--format", "json"])
        guard log != .empty else {
            #expect(outcome.status == 0 && outcome.output == expected, "\(outcome.errors)")
            return
        }
        #expect(outcome.status == 1 && outcome.output.isEmpty)
        let writing = try RosterProcess.run(["update", sample.store, "Team", "--where", "TRUEPREDICATE", "wins=1"])
        #expect(writing.status == 1)
        #expect(try files() == before)
        // The line that the message gives helps.
        let line = try #require(outcome.errors.firstMatch(of: /keep it[^:]*: (mv \S+ \S+)\. Or/)).1
        try #require(RosterProcess.shell(String(line)).status == 0)
        #expect(try run("list", sample.store, "Team", "--format", "json") == expected)
        #expect(try RosterProcess.shell("sqlite3 \"$1\" 'PRAGMA integrity_check'", [sample.store]).output == "ok")
    }

    @Test(arguments: Restored.allCases)
    func theLogOfAProgramThatEnded(restored: Restored) throws {
        let backup = try #require(backups()[restored])
        let expected = try run("list", backup, "Team", "--format", "json")
        try run("simulate", sample.store, "--count", "3")
        try #require(RosterProcess.shell("cat \"$1\" > \"$2\"", [backup, sample.store]).status == 0)
        #expect(try run("list", sample.store, "Team", "--format", "json") == expected)
    }

    /// What a killed program left is the store's own wherever both files are copied together, in the order of their names, and
    /// after anything that copies a part of the log to the main file.
    @Test func ownLogsAreRead() throws {
        try leave(.small)
        try #require(
            RosterProcess.shell("mkdir \"$1/away\" && cp \"$2\"* \"$1/away/\"", [sample.url.path, sample.store]).status
                == 0)
        let expected = try run("list", sample.store, "Team", "--format", "json")
        #expect(try run("list", sample.path("away/WorldCup.sqlite"), "Team", "--format", "json") == expected)
        // The other decision.
        let line = "sqlite3 \"$1\" 'PRAGMA wal_checkpoint(TRUNCATE)'"
        try #require(RosterProcess.shell(line, [sample.store]).status == 0)
        #expect(try run("list", sample.store, "Team", "--format", "json") == expected)
    }

    /// A store that is replaced while a program has it open: neither that program nor the next one mixes the two.
    @Test func aStoreThatIsReplacedWhileItIsOpen() throws {
        let backup = try #require(backups()[.newer])
        let expected = try run("list", backup, "Team", "--format", "json")
        let program = try LiveProcess(roster: ["simulate", sample.store, "--rate", "5"])
        try #require(program.wait(20) { !$0.isEmpty }, "\(program.errorLines)")
        try #require(
            RosterProcess.shell("cp \"$1\" \"$2.new\" && mv \"$2.new\" \"$2\"", [backup, sample.store]).status == 0)
        let second = try RosterProcess.run(["list", sample.store, "Team", "--format", "json"])
        #expect(second.status == 1 || second.output == expected)
        #expect(program.waitForEnd() == 1)
        #expect(program.errorLines.last?.contains("another file stands in its place") ?? false, "\(program.errorLines)")
        _ = try RosterProcess.shell("rm -f \"$1-wal\" \"$1-shm\"", [sample.store])
        #expect(try run("list", sample.store, "Team", "--format", "json") == expected)
    }

    @Test func programsWhoseStoreIsTakenAwaySaySo() throws {
        let writer = try LiveProcess(roster: ["simulate", sample.store, "--rate", "5"])
        let reader = try LiveProcess(roster: ["watch", sample.store, "Team"])
        try #require(writer.wait(20) { !$0.isEmpty } && reader.wait(20) { !$0.isEmpty })
        let place = sample.path("moved.sqlite")
        try FileManager.default.moveItem(atPath: sample.store, toPath: place)
        #expect(writer.waitForEnd() == 1)
        #expect(reader.waitForEnd() == 1)
        for program in [writer, reader] {
            #expect(program.errorLines.last?.contains(place) ?? false, "\(program.errorLines)")
        }
        #expect(!FileManager.default.fileExists(atPath: sample.store))
    }
}
