import Foundation
import SQLiteAccess
import TestSupport
import Testing

/// Hostile and broken environments: nothing blocks, no input is executed, and no data is lost silently.
@Suite(.needs(.process)) struct SafetyTests {
    private let sample: SampleFolder

    init() throws { sample = try SampleFolder() }

    // MARK: Files

    @Test func aKilledExportLeavesNothingForLong() throws {
        let file = sample.path("teams.json")
        func parts() throws -> Set<String> {
            Set(try FileManager.default.contentsOfDirectory(atPath: sample.url.path).filter { $0.hasSuffix(".part") })
        }
        // Enough records to kill the process during the export.
        let rows = (0..<40_000).map { "Team \($0) with a name of some length,OFC\n" }.joined()
        let records = try sample.file("many.csv", "teamName,qualifyingZone\n" + rows)
        try #require(
            RosterProcess.run(["import", sample.store, "Team", records, "--batch", "50000"]).status == 0)
        let (other, forged) = ("teams.json.old.part", "teams.json.4194304.part")
        for name in [other, forged] { _ = try sample.file(name, "half") }
        let killed = try LiveProcess(roster: ["export", sample.store, "Team", file])
        let own = "teams.json.\(killed.identifier).part"
        func size() -> Int {
            let file = sample.url.appendingPathComponent(own)
            return (try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0
        }
        // A file with contents is locked.
        while killed.isRunning, size() == 0 { usleep(200) }
        // A new export removes abandoned files of others, but not those still being written.
        kill(killed.identifier, SIGSTOP)
        try #require(try parts().contains(own), "the export was over before it could be stopped")
        let small = ["export", sample.store, "Team", file, "--where", "teamName = 'Japan'"]
        #expect(try RosterProcess.run(small).status == 0)
        #expect(try parts() == [other, own])
        killed.killAtOnce()
        killed.waitForEnd()
        #expect(try parts() == [other, own])
        #expect(try RosterProcess.run(small).status == 0)
        #expect(try parts() == [other])
    }

    /// An export does not remove the partial file of another running export.
    @Test func exportsToOneFileAtOnceAllEndWell() throws {
        let arguments = ["export", sample.store, "Team", sample.path("teams.json")]
        let exports = try (0..<16).map { _ in try LiveProcess(roster: arguments) }
        for export in exports { #expect(export.waitForEnd() == 0, "\(export.errorLines)") }
        let names = try FileManager.default.contentsOfDirectory(atPath: sample.url.path)
        #expect(!names.contains { $0.hasSuffix(".part") }, "\(names)")
    }

    @Test(arguments: ["-wal", "-shm", "-journal"])
    func aFolderInThePlaceOfASideFileIsCalledOne(ending: String) throws {
        for other in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: sample.store + other) }
        try FileManager.default.createDirectory(atPath: sample.store + ending, withIntermediateDirectories: true)
        for arguments in [["count", sample.store, "Team"], ["delete", sample.store, "Team", "--where", "wins > 900"]] {
            let outcome = try RosterProcess.run(arguments)
            #expect(outcome.status == 1 && outcome.errorLines.count == 1, "\(outcome.errors)")
            #expect(outcome.errors.contains("WorldCup.sqlite\(ending) is a folder"), "\(outcome.errors)")
        }
        try FileManager.default.removeItem(atPath: sample.store + ending)
        #expect(mkfifo(sample.store + ending, 0o600) == 0)
        let outcome = try RosterProcess.run(["count", sample.store, "Team"])
        #expect(outcome.status == 1 && outcome.errors.contains("is not a regular file"), "\(outcome.errors)")
    }

    @Test func aDeletedWorkingDirectoryIsCalledOne() throws {
        func run(_ line: String) throws -> RosterProcess.Outcome {
            let folder = sample.path("gone")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            return try RosterProcess.shell(
                "cd \"$1\" && rmdir \"$1\" && exec \"$roster\" \(line)", [folder, sample.store, SampleFolder.model])
        }
        for line in [
            "count s.sqlite Team", "create s.sqlite --model \"$3\"", "export \"$2\" Team out.json",
            "copy \"$2\" c.sqlite",
            "model \"$2\" -o x.json", "model compile \"$3\" -o x.momd", "model generate \"$3\" -o Classes", "port .",
            "import \"$2\" Team f.csv", "migrate s.sqlite --to \"$3\"",
        ] {
            let outcome = try run(line)
            #expect(outcome.status == 1 && outcome.errorLines.count == 1, "\(line): \(outcome.errors)")
            #expect(outcome.errors.contains("the working directory was deleted"), "\(line): \(outcome.errors)")
        }
        #expect(try run("count \"$2\" Team").output == "80")
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["ROSTER_SANITIZER"] == nil))
    func aFailedCreateLeavesNothing() throws {
        let store = sample.path("new.sqlite")
        let outcome = try RosterProcess.shell(
            "ulimit -f 8; trap '' XFSZ; exec \"$roster\" create \"$1\" --model \"$2\"", [store, SampleFolder.model])
        #expect(outcome.status == 1 && outcome.errorLines.count == 1, "\(outcome.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: sample.url.path)
        #expect(!names.contains { $0.hasPrefix("new.sqlite") }, "\(names)")
    }

    // MARK: Streams

    /// Standard output is full. Afterwards, the number of teams is that which the verb should have produced.
    @Test(arguments: [
        ("update \"$1\" Team --where \"teamName = 'Japan'\" wins=987", "saved the changes", "wins = 987", "1"),
        ("import \"$1\" Team \"$2\"", "saved the changes", "wins = 987", "1"),
        ("copy \"$1\" \"$3\"", "made the copy", "TRUEPREDICATE", "80"),
        ("history \"$1\" --delete-before 2", "saved the changes", "TRUEPREDICATE", "80"),
        ("create \"$3\" --model \"$4\"", "created the store", "TRUEPREDICATE", "0"),
    ])
    func unwritableOutputReportsTheFinishedWork(line: String, what: String, condition: String, count: String) throws {
        let file = try sample.file("one.csv", "teamName,qualifyingZone,wins\nAtlantis,OFC,987\n")
        let new = sample.path("new.sqlite")
        let outcome = try RosterProcess.shell(
            "exec \"$roster\" \(line) > /dev/full", [sample.store, file, new, SampleFolder.model])
        #expect(outcome.status == 1 && outcome.errorLines.count == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains("\(what), but cannot write standard output"), "\(outcome.errors)")
        let store = line.contains("$3") ? new : sample.store
        #expect(try RosterProcess.run(["count", store, "Team", "--where", condition]).output == count)
        if line.hasPrefix("history") {
            #expect(!(try RosterProcess.run(["history", store]).lines.contains { $0.hasPrefix(" 1 ") }))
        }
    }

    @Test(arguments: [5, 12, 20], ["count", "update", "watch", "simulate"])
    func tooFewDescriptorsAreReported(limit: Int, verb: String) throws {
        let more =
            [
                "count": "", "update": "--where TRUEPREDICATE wins=987", "watch": "--timeout 0.1",
                "simulate": "--count 1",
            ][verb] ?? ""
        let entity = verb == "simulate" ? "" : "Team"
        let outcome = try RosterProcess.shell(
            "ulimit -n \(limit); exec \"$roster\" \(verb) \"$1\" \(entity) \(more)", [sample.store])
        #expect(outcome.status == 1 && outcome.errorLines.count == 1, "\(outcome.status) \(outcome.errors)")
        #expect(outcome.errors.contains("ulimit -n 256"), "\(outcome.errors)")
    }

    @Test func closedStandardStreams() throws {
        for (line, status) in [
            ("\"$roster\" count \"$1\" Team >&-", 1), ("\"$roster\" count \"$1\" Team 2>&-", 0),
            ("\"$roster\" count \"$1.no\" Team 2>&-", 1), ("\"$roster\" count \"$1\" Team <&- 2>&- >&-", 1),
            ("\"$roster\" import \"$1\" Team - <&-", 1),
        ] {
            let outcome = try RosterProcess.shell(line + "; echo status $? >&2", [sample.store])
            #expect(outcome.errors.contains("status \(status)"), "\(line): \(outcome.errors)")
        }
        let connection = try Connection(path: sample.store, access: .readWrite)
        #expect(try connection.value("PRAGMA integrity_check") == .text("ok"))
        connection.close()
    }

    // MARK: Output to terminals and pipes

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script")))
    func terminalsObeyNothing() throws {
        let name = "a\u{1B}]0;title\u{7}b\u{9B}31mc\u{202E}d"
        let file = try sample.file(
            "names.json",
            "{\"teamName\":\"a\\u001b]0;title\\u0007b\\u009b31mc\\u202ed\",\"qualifyingZone\":\"OFC\",\"wins\":999}")
        try #require(RosterProcess.run(["import", sample.store, "Team", file]).status == 0)
        let connection = try Connection(path: sample.store, access: .readWrite)
        let key = try #require(try connection.integer("SELECT Z_PK FROM ZTEAM WHERE ZWINS = 999"))
        connection.close()
        let (store, model, made) = (sample.store, try hostileModel(), sample.path("made.sqlite"))
        try #require(RosterProcess.run(["create", made, "--model", model]).status == 0)
        try #require(RosterProcess.run(["insert", made, "Note"]).status == 0)
        let (formats, texts) = (["csv", "tsv", "json", "table"], ["csv", "tsv", "json"])
        let lines =
            formats.map { "list '\(store)' Team --where 'wins = 999' --columns teamName --format \($0)" }
            + texts.map { "export '\(store)' Team - --where 'wins = 999' --format \($0)" }
            + formats.map { "list '\(made)' Note --format \($0)" }
            + ["text", "json", "xcdatamodel"].map { "model '\(model)' --format \($0)" }
            + ["show '\(store)' Team/p\(key)", "show '\(made)' Note/p1", "model '\(made)'"]
            + ["json", "table"].map { "delete '\(store)' Team --where 'wins = 999' --dry-run --format \($0)" }
        for line in lines {
            let shown = try RosterProcess.shell("script -qec \"$roster $1\" /dev/null < /dev/null", [line])
            let text = shown.output.unicodeScalars
            #expect(!shown.output.contains("\u{1B}]0"), "\(line)")
            #expect(!text.contains { $0.value == 0x9B || $0.value == 0x202E || $0.value == 7 }, "\(line)")
            #expect(shown.status == 0 && shown.output.contains("title"), "\(line): \(shown.output)")
        }
        // A pipe gets the unchanged bytes.
        let piped = try RosterProcess.run(
            ["list", sample.store, "Team", "--where", "wins = 999", "--columns", "teamName", "--format", "csv"])
        #expect(piped.output.contains(name))
    }

    /// A configuration's name and an attribute's default value contain such characters, as far as XML allows.
    private func hostileModel() throws -> String {
        let folder = sample.path("Hostile.xcdatamodel")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let text = "title&#x9B;31m&#x202E;&#x85;"
        _ = try sample.file(
            "Hostile.xcdatamodel/contents",
            "<model><entity name=\"Note\"><attribute name=\"a\" optional=\"YES\" attributeType=\"String\" "
                + "defaultValueString=\"\(text)\"/></entity>"
                + "<configuration name=\"\(text)\"><memberEntity name=\"Note\"/></configuration></model>")
        return folder
    }

    @Test func oneLongTextDoesNotPadEveryRow() throws {
        let text = String(repeating: "long ", count: 20_000)
        let file = try sample.file("long.json", "{\"teamName\":\"\(text)\",\"qualifyingZone\":\"OFC\",\"wins\":999}")
        try #require(RosterProcess.run(["import", sample.store, "Team", file]).status == 0)
        let outcome = try RosterProcess.run(["list", sample.store, "Team", "--columns", "teamName,wins"])
        #expect(outcome.output.contains(text) && outcome.output.utf8.count < text.utf8.count + 81 * 300)
    }

    /// A value of an unknown class is shown in its stored form and reported once.
    @Test func p8_whatAnArchiveOfAnUnknownClassHoldsIsShown() throws {
        _ = try FileManager.default.createDirectory(
            atPath: sample.path("Paint.xcdatamodel"), withIntermediateDirectories: true)
        _ = try sample.file(
            "Paint.xcdatamodel/contents",
            "<model><entity name=\"Paint\"><attribute name=\"name\" optional=\"YES\" attributeType=\"String\"/>"
                + "<attribute name=\"colour\" optional=\"YES\" attributeType=\"Transformable\"/></entity></model>")
        let store = sample.path("paint.sqlite")
        try #require(
            RosterProcess.run(["create", store, "--model", sample.path("Paint.xcdatamodel")]).status == 0)
        for name in ["sky", "sea"] {
            try #require(RosterProcess.run(["insert", store, "Paint", "name=\(name)"]).status == 0)
        }
        let connection = try Connection(path: store, access: .readWrite)
        try connection.execute("UPDATE ZPAINT SET ZCOLOUR = ?", [.blob(Self.unknownArchive())])
        connection.close()
        let shown = try RosterProcess.run(["show", store, "Paint/p1"])
        #expect(shown.output.contains("UIColor(alpha: 1, label: \"deep ␉\", red: 0.5)"), "\(shown.output)")
        #expect(shown.errorLines.count == 1 && shown.errors.contains("decode a value of the class UIColor"))
        let listed = try RosterProcess.run(["list", store, "Paint"])
        #expect(listed.status == 0 && listed.errorLines.count == 1, "\(listed.errors)")
    }

    private static func unknownArchive() throws -> Data {
        func reference(_ number: Int) -> Any { ["CF$UID": number] as [String: Any] }
        let object: [String: Any] = ["red": 0.5, "alpha": 1, "label": "deep \u{9}", "$class": reference(2)]
        let list: [String: Any] = [
            "$version": 100000, "$archiver": "NSKeyedArchiver", "$top": ["root": reference(1)] as [String: Any],
            "$objects": [
                "$null", object, ["$classname": "UIColor", "$classes": ["UIColor", "NSObject"]] as [String: Any],
            ],
        ]
        // Foundation writes references in binary form only if it has read them as references.
        let xml = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
        let read = try PropertyListSerialization.propertyList(from: xml, format: nil)
        return try PropertyListSerialization.data(fromPropertyList: read, format: .binary, options: 0)
    }

    // MARK: Records

    @Test func aKeyOccursOnceInARecord() throws {
        let file = try sample.file("twice.json", "{\"teamName\":\"A\",\n\"teamName\":\"B\",\"qualifyingZone\":\"OFC\"}")
        let outcome = try RosterProcess.run(["import", sample.store, "Team", file])
        #expect(outcome.status == 1 && outcome.errors.contains(":2: record 1: duplicate key “teamName”"))
    }

    /// A limit of processor time, which does not depend on other programs. Sanitizers are too slow for it.
    private static let limit =
        ProcessInfo.processInfo.environment["ROSTER_SANITIZER"] == nil ? "ulimit -t 8; " : ""

    @Test func manyColumnsAreRefusedAtOnce() throws {
        let keys = (0..<30_000).map { "column\($0)" }.joined(separator: ",")
        let file = try sample.file("wide.csv", keys + "\n" + String(repeating: ",", count: 29_999) + "\n")
        let outcome = try RosterProcess.shell(
            Self.limit + "exec \"$roster\" import \"$1\" Team \"$2\"", [sample.store, file])
        #expect(outcome.status == 1 && outcome.errors.contains("column0"), "\(outcome.errors.prefix(300))")
    }

    @Test func manyParentsOfOneAnother() throws {
        let folder = sample.path("Chain.xcdatamodel")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let entities = (1..<1000).map { "<entity name=\"E\($0)\" parentEntity=\"E\($0 - 1)\"/>" }.joined()
        _ = try sample.file("Chain.xcdatamodel/contents", "<model><entity name=\"E0\"/>\(entities)</model>")
        let outcome = try RosterProcess.shell(
            Self.limit + "exec \"$roster\" create \"$1\" --model \"$2\"", [sample.path("chain.sqlite"), folder])
        #expect(outcome.status == 0, "\(outcome.status) \(outcome.errors)")
    }

    /// The model in a store contains the properties of all parents in each entity.
    @Test func aStoreOfManyParentsWithAttributesOpensAgain() throws {
        let folder = sample.path("Chain.xcdatamodel")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let entities = (0..<170).map { number in
            let parent = number == 0 ? "" : " parentEntity=\"E\(number - 1)\""
            return
                "<entity name=\"E\(number)\"\(parent)><attribute name=\"a\(number)\" attributeType=\"String\"/></entity>"
        }
        _ = try sample.file("Chain.xcdatamodel/contents", "<model>\(entities.joined())</model>")
        let store = sample.path("chain.sqlite")
        #expect(try RosterProcess.run(["create", store, "--model", folder]).status == 0)
        let outcome = try RosterProcess.run(["count", store, "E169"])
        #expect(outcome.status == 0 && outcome.lines == ["0"], "\(outcome.errors)")
    }

    /// Python reads the program's output, and the program reads Python's. `Scripts/soak` does this for longer.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")))
    func recordsGoThroughPythonAndBack() throws {
        let script = SampleFolder.sampleData.deletingLastPathComponent().appendingPathComponent(
            "Scripts/fuzz-records.py")
        let outcome = try RosterProcess.shell("python3 \"$1\" \"$roster\" 7 1 60", [script.path])
        #expect(outcome.status == 0 && outcome.output.contains("no difference"), "\(outcome.output) \(outcome.errors)")
    }

    /// A checker in another language that uses SQLite directly finds no errors in the program's files.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")))
    func anIndependentCheckerFindsNothing() throws {
        try #require(RosterProcess.run(["simulate", sample.store, "--count", "20"]).status == 0)
        let script = SampleFolder.sampleData.deletingLastPathComponent().appendingPathComponent(
            "Scripts/check-store.py")
        let outcome = try RosterProcess.shell("python3 \"$1\" --counts \"$2\"", [script.path, sample.store])
        #expect(outcome.status == 0 && outcome.output.contains("Team 80"), "\(outcome.output) \(outcome.errors)")
        let connection = try Connection(path: sample.store, access: .readWrite)
        try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_NAME = 'Team'")
        connection.close()
        #expect(
            try RosterProcess.shell("python3 \"$1\" \"$2\"", [script.path, sample.store]).output.contains("counter 3"))
    }
}
