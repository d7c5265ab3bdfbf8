import Foundation
import TestSupport
import Testing

@testable import Roster

/// The built program: exit statuses, standard output and standard error.
@Suite(.needs(.process)) struct CommandLineTests {
    private let sample: SampleFolder

    init() throws { sample = try SampleFolder() }

    /// Runs the program and expects a status and exactly one line on standard error that contains `text`.
    private func expectRefusal(
        _ status: Int32, _ text: String, _ arguments: [String], location: SourceLocation = #_sourceLocation
    ) throws {
        let outcome = try RosterProcess.run(arguments)
        #expect(outcome.status == status, "\(outcome.errors)", sourceLocation: location)
        #expect(outcome.errorLines.count == 1, "\(outcome.errors)", sourceLocation: location)
        #expect(outcome.errors.contains(text), "\(outcome.errors)", sourceLocation: location)
        #expect(outcome.errors.hasPrefix("roster"), "\(outcome.errors)", sourceLocation: location)
        #expect(outcome.output == "", sourceLocation: location)
    }

    // MARK: Help

    @MainActor @Test func helpNamesEveryVerb() throws {
        let outcome = try RosterProcess.run(["--help"])
        #expect(outcome.status == 0)
        #expect(outcome.errors == "")
        for verb in VerbTable.verbs { #expect(outcome.output.contains("roster \(verb.name) ")) }
        #expect(outcome.lines.allSatisfy { $0.count <= 100 })
    }

    @MainActor @Test func everyVerbHasHelp() throws {
        for verb in VerbTable.verbs {
            let words = verb.name.split(separator: " ").map(String.init)
            for arguments in [words + ["--help"], words + ["-h", "superfluous"]] {
                let outcome = try RosterProcess.run(arguments)
                #expect(outcome.status == 0)
                #expect(outcome.output.hasPrefix("Usage: roster \(verb.name) "))
                for flag in verb.allFlags { #expect(outcome.output.contains("--\(flag.name)")) }
            }
        }
    }

    // MARK: Other statuses

    @Test func diffHasTheStatusesOfDiff() throws {
        let other = sample.path("other.sqlite")
        try FileManager.default.copyItem(atPath: sample.store, toPath: other)
        let same = try RosterProcess.run(["diff", sample.store, other])
        #expect(same.status == 0 && same.output == "" && same.errors == "")
        let change = try RosterProcess.run([
            "update", other, "Team", "--where", "teamName == 'Japan'", "localName=日本 🏆",
        ])
        #expect(change.status == 0)
        let different = try RosterProcess.run(["diff", sample.store, other, "Team"])
        #expect(different.status == 1 && different.errors == "")
        #expect(different.lines.count == 1 && different.output.hasSuffix("→ \"日本 🏆\""), "\(different.output)")
        try expectRefusal(2, "no store at", ["diff", sample.store, sample.path("none.sqlite")])
        try expectRefusal(2, "OTHER is missing", ["diff", sample.store])
    }

    @Test func skippedLinesAreStatusThree() throws {
        let file = try sample.file("bad.csv", "teamName;wins\nJapan;1 000\nBrazil\n")
        let outcome = try RosterProcess.run(["import", sample.store, "Team", file, "--skip-bad"])
        #expect(outcome.status == 3 && outcome.errorLines.count == 1)
        #expect(
            outcome.errors.contains("bad.csv:3: record 2: has 1 field, but the first line has 2"), "\(outcome.errors)")
        #expect(outcome.output == "imported 1 record: 0 new, 1 changed, 0 unchanged; 1 skipped")
    }

    // MARK: Misuse

    @Test func misuseIsStatusTwo() throws {
        let store = sample.store
        try expectRefusal(2, "unknown verb “lst”; did you mean list?", ["lst", store, "Team"])
        try expectRefusal(2, "unknown verb “frobnicate” (see", ["frobnicate", store, "Team"])
        try expectRefusal(2, "--version takes no other arguments", ["--version", "x"])
        // A path with a space, given without quotation marks, is two arguments.
        try expectRefusal(1, "no file “/nowhere/My”", ["/nowhere/My", "Store.sqlite"])
        try expectRefusal(2, "unknown flag --limt", ["list", store, "Team", "--limt", "3"])
        try expectRefusal(2, "--limit must be a whole number", ["list", store, "Team", "--limit", "x"])
        try expectRefusal(2, "--format must be table|json|csv|tsv", ["list", store, "Team", "--format", "xml"])
        try expectRefusal(2, "ENTITY is missing", ["list", store])
        try expectRefusal(2, "--format must be text|json|xcdatamodel|dot|mermaid", ["model", store, "--format", "csv"])
        try expectRefusal(2, "--output FILE is missing", ["model", "compile", "X.xcdatamodeld"])
        try expectRefusal(2, "unexpected argument “Venue”", ["count", store, "Team", "Venue"])
        try expectRefusal(2, "invalid predicate", ["list", store, "Team", "--where", "wins > > 3"])
        try expectRefusal(2, "no entity “Tem”", ["list", store, "Tem"])
        try expectRefusal(2, "no property “winz”", ["list", store, "Team", "--where", "winz > 3"])
        for verb in ["count", "list", "export", "watch"] {
            try expectRefusal(2, "wins", [verb, store, "Team", "--where", "wins = \"abc\""])
            try expectRefusal(
                2, "not a regular expression", [verb, store, "Team", "--where", "teamName MATCHES \"[\""])
        }
        try expectRefusal(2, "wins", ["delete", store, "Team", "--where", "wins = \"abc\""])
        try expectRefusal(2, "wins", ["update", store, "Team", "--where", "wins = \"abc\"", "wins=3"])
        try expectRefusal(2, "no property “zone”", ["list", store, "Team", "--section", "zone"])
        try expectRefusal(2, "wins: “abc” is not a whole number", ["insert", store, "Team", "teamName=X", "wins=abc"])
        try expectRefusal(2, "out of range", ["update", store, "Team", "--where", "wins > 3", "wins=99999999999"])
        try expectRefusal(2, "--where PREDICATE is missing", ["delete", store, "Team"])
        try expectRefusal(2, "--model FILE is missing", ["create", sample.path("new.sqlite")])
        try expectRefusal(2, "the direction must be asc or desc", ["list", store, "Team", "--sort", "wins:down"])
    }

    // MARK: Failure

    @Test func failureIsStatusOne() throws {
        let text = try sample.file("text.sqlite", String(repeating: "no store\n", count: 200))
        let truncated = try sample.file("cut.json", "[{\"teamName\":\"T\",\"qualifyingZone\":\"X\"},{\"team")
        try expectRefusal(1, "no store at", ["count", sample.path("nothing.sqlite"), "Team"])
        try expectRefusal(1, text, ["count", text, "Team"])
        try expectRefusal(1, "neither an existing store nor a verb", [sample.path("nothing.sqlite")])
        try expectRefusal(1, "cut.json:1: record 2: the text ends", ["import", sample.store, "Team", truncated])
        let cutAtLine = try sample.file(
            "line.json", "[{\"teamName\":\"T\",\"qualifyingZone\":\"X\"},\n{\"teamName\":\n")
        try expectRefusal(1, "line.json:2: record 2: expected a value", ["import", sample.store, "Team", cutAtLine])
        try expectRefusal(1, "cannot read", ["import", sample.store, "Team", sample.path("nothing.json")])
        try expectRefusal(1, "no model at", ["create", sample.path("new.sqlite"), "--model", sample.path("no.momd")])
        try expectRefusal(1, "this is not a model", ["create", sample.path("new.sqlite"), "--model", truncated])
        try expectRefusal(1, "no Team has this teamName", ["show", sample.store, "Team:Atlantis"])
        try expectRefusal(
            1, "no Venue has this name", ["update", sample.store, "Team", "--where", "wins > 3", "homeVenue=No"])
        try expectRefusal(1, "wins", ["update", sample.store, "Team", "--where", "teamName == 'Japan'", "wins=-1"])
        try expectRefusal(1, "teamName", ["insert", sample.store, "Team", "teamName=Japan", "qualifyingZone=AFC"])
        let both = ["update", sample.store, "Team", "--where", "teamName == 'Japan'", "wins=-1", "draws=-1"]
        try expectRefusal(1, "; ", both)
        let joined = try RosterProcess.run(both).errors
        #expect(!joined.contains(".;"))
        #expect(!FileManager.default.fileExists(atPath: sample.path("nothing.sqlite")))
        #expect(!FileManager.default.fileExists(atPath: sample.path("new.sqlite")))
        #expect(try RosterProcess.run(["count", sample.store, "Team"]).output == "80")
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["ROSTER_SANITIZER"] == nil))
    func aStoreThatCannotBeWrittenLosesNothing() throws {
        // A limit of the file size has the effect of a full disk.
        var text = "teamName,qualifyingZone\n"
        for number in 0..<20_000 { text += "A team with a name of some length and the number \(number),OFC\n" }
        let file = try sample.file("many.csv", text)
        let outcome = try RosterProcess.shell(
            "ulimit -f 700; exec \"$roster\" import \"$1\" Team \"$2\"", [sample.store, file])
        #expect(outcome.status == 1)
        #expect(outcome.errorLines.count == 1, "\(outcome.errors)")
        let count = try #require(Int(try RosterProcess.run(["count", sample.store, "Team"]).output))
        #expect((count - 80).isMultiple(of: 1000) && count < 20_000)
        let before = count == 80 ? "nothing was imported" : "\(count - 80) records were already imported"
        #expect(outcome.errors.contains("; \(before)"), "\(outcome.errors)")
        #expect(outcome.errors.contains("Cannot save to the store"), "\(outcome.errors)")
    }

    @Test(.enabled(if: Tools.canMount)) func aFullDiskLosesNothing() throws {
        let folder = sample.path("disk")
        let mounted = try RosterProcess.shell("mkdir \"$1\" && mount -t tmpfs -o size=1m tmpfs \"$1\"", [folder])
        try #require(mounted.status == 0, "\(mounted.errors)")
        defer { _ = try? RosterProcess.shell("umount \"$1\"", [folder]) }
        let store = folder + "/WorldCup.sqlite"
        try FileManager.default.copyItem(atPath: sample.store, toPath: store)
        var text = "teamName,qualifyingZone\n"
        for number in 0..<20_000 { text += "A team with a name of some length and the number \(number),OFC\n" }
        let outcome = try RosterProcess.run(["import", store, "Team", "-"], input: text)
        #expect(outcome.status == 1)
        #expect(outcome.errorLines.count == 1, "\(outcome.errors)")
        let count = try #require(Int(try RosterProcess.run(["count", store, "Team"]).output))
        #expect((count - 80).isMultiple(of: 1000) && count < 20_000)
        let before = count == 80 ? "nothing was imported" : "\(count - 80) records were already imported"
        #expect(outcome.errors.contains("; \(before)"), "\(outcome.errors)")
        #expect(outcome.errors.contains("Cannot save to the store"), "\(outcome.errors)")
        _ = try RosterProcess.shell("cat /dev/zero >\"$1/rest\" 2>/dev/null", [folder])
        let shown = try RosterProcess.run(["export", store, "Team", folder + "/out.json"])
        #expect(shown.status == 1 && shown.errorLines.count == 1, "\(shown.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder + "/out.json"))
    }

    @Test(.enabled(if: RosterProcess.canDropPrivileges, "the program cannot be run as somebody else"))
    func aReadOnlyStoreIsReportedAndRead() throws {
        func mode(_ mode: Int, _ path: String) throws {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        let arguments = ["update", sample.store, "Team", "--where", "teamName == 'Japan'", "wins=8"]
        defer { try? mode(0o700, sample.url.path) }
        for (file, folder) in [(0o444, 0o755), (0o644, 0o555)] {
            try mode(file, sample.store)
            try mode(folder, sample.url.path)
            let outcome = try RosterProcess.runUnprivileged(arguments)
            #expect(outcome.status == 1 && outcome.errorLines.count == 1, "\(outcome.errors)")
            #expect(outcome.errors.contains(sample.store), "\(outcome.errors)")
            // Reading does not require write permission.
            let count = try RosterProcess.runUnprivileged(["count", sample.store, "Team", "--where", "wins == 7"])
            #expect(count.output == "3", "\(count.errors)")
        }
    }

    /// A log left by a killed program is read even if the folder is read-only, or the error states why not.
    @Test(.enabled(if: RosterProcess.canDropPrivileges, "the program cannot be run as somebody else"))
    func aStoreInAFolderThatMayNotBeWritten() throws {
        let writer = try sample.followed(wins: 50)
        writer.killAtOnce()
        writer.waitForEnd()
        func mode(_ mode: Int, _ path: String) throws {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        defer { try? mode(0o700, sample.url.path) }
        func count(without missing: [String]) throws -> RosterProcess.Outcome {
            try mode(0o755, sample.url.path)
            for suffix in missing { try? FileManager.default.removeItem(atPath: sample.store + suffix) }
            let files = try FileManager.default.contentsOfDirectory(atPath: sample.url.path).sorted()
            for file in files { try mode(0o444, sample.path(file)) }
            try mode(0o555, sample.url.path)
            let outcome = try RosterProcess.runUnprivileged(["count", sample.store, "Team", "--where", "wins == 50"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: sample.url.path).sorted() == files)
            return outcome
        }
        let whole = try count(without: [])
        #expect(whole.output == "80" && whole.status == 0, "\(whole.errors)")
        let withoutIndex = try count(without: ["-shm"])
        #expect(withoutIndex.status == 1 && withoutIndex.errorLines.count == 1, "\(withoutIndex.errors)")
        #expect(withoutIndex.errors.contains(sample.store + "-wal") && withoutIndex.errors.contains("Copy both files"))
        let withoutLog = try count(without: ["-wal"])
        #expect(withoutLog.output == "0" && withoutLog.status == 0, "\(withoutLog.errors)")
    }

    @Test func ctrlCStopsAnImportBetweenTransactions() throws {
        var text = "teamName,qualifyingZone\n"
        for number in 0..<200_000 { text += "Team \(number),OFC\n" }
        let file = try sample.file("many.csv", text)
        let process = try LiveProcess(roster: ["import", sample.store, "Team", file, "--batch", "100"])
        // Wait until something was written. Before, there is nothing to stop.
        var count = 80
        while process.isRunning, count == 80 {
            count = Int(try RosterProcess.run(["count", sample.store, "Team"]).output) ?? 80
        }
        process.interrupt()
        #expect(process.waitForEnd() == 1)
        let left = try #require(Int(try RosterProcess.run(["count", sample.store, "Team"]).output))
        #expect(left > 80 && (left - 80).isMultiple(of: 100))
        #expect(process.errorLines == ["roster import: interrupted; \(left - 80) records were already imported"])
    }

    @Test(.enabled(if: Tools.sqlite3 != nil)) func aLockedStoreIsWaitedForThenRefused() throws {
        let other = try LiveProcess(try #require(Tools.sqlite3), [sample.store])
        try other.type("BEGIN IMMEDIATE; SELECT 'locked';\n")
        #expect(other.wait(60) { $0 == ["locked"] })
        let arguments = ["update", sample.store, "Team", "--where", "teamName == 'Japan'", "wins=8"]
        try expectRefusal(1, "locked", arguments)
        // A reader is not blocked by the writer.
        #expect(try RosterProcess.run(["count", sample.store, "Team"]).output == "80")
        other.send("ROLLBACK;\n")
        other.waitForEnd()
        #expect(try RosterProcess.run(arguments).status == 0)
    }

    // MARK: Output

    @Test func aReaderThatClosesThePipeIsNotAnError() throws {
        let outcome = try RosterProcess.shell(
            "for i in 1 2 3 4 5; do \"$roster\" list \"$1\" Venue | head -1; done", [sample.store])
        #expect(outcome.status == 0)
        #expect(outcome.errors == "")
        #expect(outcome.lines.count == 5)
    }

    @Test func outputThatCannotBeWrittenIsAnError() throws {
        let outcome = try RosterProcess.shell("exec \"$roster\" list \"$1\" Team >/dev/full", [sample.store])
        #expect(outcome.status == 1)
        #expect(outcome.errorLines.count == 1)
        #expect(outcome.errors.contains("cannot write standard output"))
    }

    @Test func standardInputIsAFile() throws {
        for path in ["-", "/dev/stdin"] {
            let outcome = try RosterProcess.run(
                ["import", sample.store, "Team", path], input: #"{"teamName":"Japan","wins":9}"#)
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        let shown = try RosterProcess.run([
            "list", sample.store, "Team", "--where", "wins == 9", "--columns", "teamName",
        ])
        #expect(shown.lines.contains("Japan"))
        let copy = try RosterProcess.shell(
            "\"$roster\" export \"$1\" Venue | \"$roster\" import \"$1\" Venue -", [sample.store])
        #expect(copy.output == "imported 257 records: 0 new, 0 changed, 257 unchanged", "\(copy.errors)")
    }

    @Test(.enabled(if: Tools.sqlite3 != nil)) func theListIsWhatSQLiteHolds() throws {
        let list = try RosterProcess.run([
            "list", sample.store, "Team", "--section", "qualifyingZone", "--sort", "wins:desc,teamName", "--columns",
            "qualifyingZone,wins,teamName", "--format", "csv",
        ])
        let query = try LiveProcess(try #require(Tools.sqlite3), ["-csv", sample.store])
        query.send(
            """
            SELECT ZQUALIFYINGZONE, ZWINS, ZTEAMNAME FROM ZTEAM ORDER BY ZQUALIFYINGZONE, ZWINS DESC, ZTEAMNAME;
            """)
        query.waitForEnd()
        #expect(list.lines.count == 81)
        #expect(
            list.lines.dropFirst().map { $0.replacing("\"", with: "") }
                == query.lines.map { $0.replacing("\"", with: "") })
    }

    // MARK: The sample of the first run

    @Test func theFirstRunMakesTheSample() throws {
        let environment = ["XDG_DATA_HOME": sample.path("data"), "TERM": "dumb"]
        let first = try RosterProcess.run([], environment: environment)
        #expect(first.errors.contains("creating the World Cup sample at"))
        let store = sample.path("data/roster/WorldCup.sqlite")
        #expect(try RosterProcess.run(["count", store, "Team"]).output == "80")
        #expect(try RosterProcess.run([], environment: environment).errors.contains("creating") == false)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: sample.path("data/roster")).filter { $0.hasPrefix(".") }
                == [])
        let lost = try RosterProcess.run(
            [], environment: ["XDG_DATA_HOME": sample.path("other"), "ROSTER_SAMPLE_DATA": sample.path("nowhere")])
        #expect(lost.status == 1)
    }
}

/// Programs that tests use if they are installed.
enum Tools {
    static let sqlite3 = ["/usr/bin/sqlite3", "/usr/local/bin/sqlite3"].first(
        where: FileManager.default.isExecutableFile
    )
    .map { URL(fileURLWithPath: $0) }

    /// True if a file system can be mounted here.
    static let canMount: Bool = {
        let line = "d=$(mktemp -d) && mount -t tmpfs tmpfs \"$d\" && umount \"$d\"; s=$?; rmdir \"$d\"; exit $s"
        return (try? RosterProcess.shell(line).status) == 0
    }()
}
