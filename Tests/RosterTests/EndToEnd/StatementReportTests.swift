import Foundation
import TestSupport
import Testing

/// `--sql` of the built program.
@Suite(.needs(.process)) struct StatementReportTests {
    private let sample: SampleFolder

    init() throws { sample = try SampleFolder() }

    @Test func everyVerbWritesItsStatementsWithValuesRowsAndTime() throws {
        let outcome = try RosterProcess.run(["count", sample.store, "Team", "--where", "wins > 7", "--sql"])
        #expect(outcome.status == 0)
        #expect(outcome.lines.count == 1 && Int(outcome.lines[0]) != nil)
        let count = try #require(outcome.errorLines.first { $0.contains("COUNT(") && $0.contains("ZTEAM") })
        #expect(count.hasPrefix("CoreData: sql: SELECT"))
        #expect(count.contains("> 7"))
        #expect(count.firstMatch(of: /\[1 rows, \d+\.\d{3} ms\]$/) != nil, "\(count)")
        #expect(!outcome.errors.contains("CoreData: plan: "))
        let insert = try RosterProcess.run([
            "insert", sample.store, "Team", "teamName=Ruritania", "qualifyingZone=Europe", "--sql",
        ])
        #expect(insert.status == 0, "\(insert.errors)")
        #expect(insert.errorLines.contains { $0.contains("INSERT") && $0.contains("'Ruritania'") })
    }

    @Test func plansComeWhereTheyAreAskedFor() throws {
        let outcome = try RosterProcess.run([
            "list", sample.store, "Team", "--sort", "teamName", "--limit", "1", "--sql", "--plans",
        ])
        #expect(outcome.status == 0)
        #expect(outcome.errorLines.contains { $0.hasPrefix("CoreData: plan: SCAN t0") })
        let alone = try RosterProcess.run(["count", sample.store, "Team", "--plans"])
        #expect(alone.status == 2)
        #expect(alone.errors.contains("--plans is only valid with --sql"))
    }

    /// Records that others name are read together, also where each section has one record.
    @Test(arguments: [
        ["list", "Team"], ["list", "Team", "--section", "homeVenue.country"],
        ["list", "Team", "--section", "teamName"],
        ["list", "Team", "--columns", "teamName,homeVenue.capacity / 1000 as size", "--format", "csv"],
        ["export", "Team"], ["export", "Team", "--sort", "wins", "--format", "csv"],
    ]) func relatedRecordsAreReadByOneQuery(words: [String]) throws {
        let outcome = try RosterProcess.run([words[0], sample.store] + words.dropFirst() + ["--sql"])
        #expect(outcome.status == 0 && outcome.lines.count >= 80, "\(outcome.errors)")
        let reads = outcome.errorLines.filter { $0.contains("FROM ZVENUE ") }
        #expect(reads.count == 1, "\(reads)")
        #expect(outcome.errorLines.filter { $0.contains("t0.ZTEAMNAME") && $0.contains(" IN (") }.count <= 1)
    }

    @Test func aFileGetsThemAtItsEnd() throws {
        let log = sample.path("statements.log")
        for round in 1...2 {
            let outcome = try RosterProcess.run(["count", sample.store, "Team", "--sql=\(log)"])
            #expect(outcome.status == 0 && outcome.errors == "")
            let text = try String(contentsOfFile: log, encoding: .utf8)
            #expect(text.components(separatedBy: "FROM ZTEAM AS t0 [1 rows").count == round + 1, "\(text)")
        }
        let permissions = try FileManager.default.attributesOfItem(atPath: log)[.posixPermissions] as? Int
        #expect(permissions == 0o600)
    }

    @Test func statementsAreNotWrittenToAStore() throws {
        let before = try Data(contentsOf: URL(fileURLWithPath: sample.store))
        let confused = try RosterProcess.run(["count", sample.store, "Team", "--sql=\(sample.store)"])
        #expect(confused.status == 1)
        #expect(confused.errorLines.count == 1 && confused.errors.contains("it is a store"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: sample.store)) == before)
        let missing = try RosterProcess.run(["count", sample.store, "Team", "--sql=/nowhere/x.log"])
        #expect(missing.status == 1)
        #expect(missing.errors.contains("cannot write /nowhere/x.log: No such file"))
    }

    @Test func statementsThatCannotBeWrittenAreAnError() throws {
        let full = try RosterProcess.run(["count", sample.store, "Team", "--sql=/dev/full"])
        #expect(full.status == 1 && full.errorLines.count == 1, "\(full.errors)")
        #expect(full.errors.contains("cannot write /dev/full: No space left on device"))
        #expect(try RosterProcess.run(["count", sample.store, "Team", "--sql=/dev/null"]).status == 0)
    }

    @Test func statementsAreNotWrittenToAFileOfAStore() throws {
        for name in ["WorldCup.sqlite-wal", "WorldCup.sqlite-journal"] {
            let outcome = try RosterProcess.run(["count", sample.store, "Team", "--sql=\(sample.path(name))"])
            #expect(outcome.status == 1 && outcome.errorLines.count == 1, "\(outcome.errors)")
            #expect(outcome.errors.contains("it belongs to the store"))
        }
        #expect(try RosterProcess.run(["count", sample.store, "Team"]).output == "80")
    }

    @Test func theTerminalProgramWantsAFile() throws {
        let outcome = try RosterProcess.run([sample.store, "--sql"])
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("--sql=FILE"))
    }

    @Test func programsNameTheFileInTheirEnvironment() throws {
        let log = sample.path("environment.log")
        let outcome = try RosterProcess.run(
            ["count", sample.store, "Team"], environment: ["CoreDataSQLDebug": "1", "CoreDataSQLDebugFile": log])
        #expect(outcome.status == 0 && outcome.errors == "")
        #expect(try String(contentsOfFile: log, encoding: .utf8).contains("CoreData: sql: SELECT COUNT(*) FROM ZTEAM"))
    }
}
