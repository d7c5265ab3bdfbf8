import Foundation
import SQLiteAccess
import Testing

/// Hostile and broken surroundings: nothing blocks, nothing is obeyed, nothing is lost without a word.
@Suite struct SafetyTests {
    private let sample: SampleFolder

    init() throws { sample = try SampleFolder() }

    // MARK: Files

    @Test func aKilledExportLeavesNothingForLong() throws {
        let file = sample.path("teams.json")
        for leftover in [file + ".4194304.part", file + ".7.part"] {
            try Data("half".utf8).write(to: URL(fileURLWithPath: leftover))
        }
        let other = file + ".old.part"
        try Data("the user's own".utf8).write(to: URL(fileURLWithPath: other))
        #expect(try RosterProcess.run(["export", sample.store, "Team", file]).status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: sample.url.path)
        #expect(names.filter { $0.hasSuffix(".part") } == [URL(fileURLWithPath: other).lastPathComponent])
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

    @Test func whatIsSavedIsSaidToBeSaved() throws {
        let outcome = try RosterProcess.shell(
            "exec \"$roster\" update \"$1\" Team --where \"teamName = 'Japan'\" wins=987 > /dev/full", [sample.store])
        #expect(outcome.status == 1 && outcome.errors.contains("the changes are saved, but"), "\(outcome.errors)")
        #expect(try RosterProcess.run(["count", sample.store, "Team", "--where", "wins = 987"]).output == "1")
    }

    @Test(arguments: [5, 12, 20], ["count", "update", "watch", "simulate"])
    func fewDescriptorsAreSaidToBeFew(limit: Int, verb: String) throws {
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

    // MARK: What terminals and pipes get

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script")))
    func terminalsObeyNothing() throws {
        let name = "a\u{1B}]0;title\u{7}b\u{9B}31mc\u{202E}d"
        let file = try sample.file(
            "names.json",
            "{\"teamName\":\"a\\u001b]0;title\\u0007b\\u009b31mc\\u202ed\",\"qualifyingZone\":\"OFC\",\"wins\":999}")
        try #require(RosterProcess.run(["import", sample.store, "Team", file]).status == 0)
        for format in ["csv", "tsv", "json", "table"] {
            let arguments = "list '\(sample.store)' Team --where 'wins = 999' --columns teamName --format \(format)"
            let shown = try RosterProcess.shell("script -qec \"$roster $1\" /dev/null < /dev/null", [arguments])
            #expect(shown.status == 0 && shown.output.contains("title"), "\(format): \(shown.output)")
            let text = shown.output.unicodeScalars
            #expect(!shown.output.contains("\u{1B}]0"), "\(format)")
            #expect(!text.contains { $0.value == 0x9B || $0.value == 0x202E || $0.value == 7 }, "\(format)")
        }
        // A pipe gets the bytes as they are.
        let piped = try RosterProcess.run(
            ["list", sample.store, "Team", "--where", "wins = 999", "--columns", "teamName", "--format", "csv"])
        #expect(piped.output.contains(name))
    }

    @Test func oneLongTextDoesNotPadEveryRow() throws {
        let text = String(repeating: "long ", count: 20_000)
        let file = try sample.file("long.json", "{\"teamName\":\"\(text)\",\"qualifyingZone\":\"OFC\",\"wins\":999}")
        try #require(RosterProcess.run(["import", sample.store, "Team", file]).status == 0)
        let outcome = try RosterProcess.run(["list", sample.store, "Team", "--columns", "teamName,wins"])
        #expect(outcome.output.contains(text) && outcome.output.utf8.count < text.utf8.count + 81 * 300)
    }

    /// A value whose class is not here is shown as the store keeps it, said once, and exported as nothing.
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
        #expect(shown.errorLines.count == 1 && shown.errors.contains("Paint.colour: a value of the class UIColor"))
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
        // Foundation writes references in binary form only for what it read as references.
        let xml = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
        let read = try PropertyListSerialization.propertyList(from: xml, format: nil)
        return try PropertyListSerialization.data(fromPropertyList: read, format: .binary, options: 0)
    }

    // MARK: Records

    @Test func aKeyStandsOnceInARecord() throws {
        let file = try sample.file("twice.json", "{\"teamName\":\"A\",\n\"teamName\":\"B\",\"qualifyingZone\":\"OFC\"}")
        let outcome = try RosterProcess.run(["import", sample.store, "Team", file])
        #expect(outcome.status == 1 && outcome.errors.contains(":2: record 1: the key “teamName” stands there twice"))
    }

    @Test func manyColumnsAreRefusedAtOnce() throws {
        let keys = (0..<30_000).map { "column\($0)" }.joined(separator: ",")
        let file = try sample.file("wide.csv", keys + "\n" + String(repeating: ",", count: 29_999) + "\n")
        let start = ContinuousClock.now
        let outcome = try RosterProcess.run(["import", sample.store, "Team", file])
        #expect(outcome.status != 0 && outcome.errors.contains("column0"), "\(outcome.errors.prefix(300))")
        #expect(ContinuousClock.now - start < .seconds(10))
    }

    @Test func manyParentsOfOneAnother() throws {
        let folder = sample.path("Chain.xcdatamodel")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let entities = (1..<600).map { "<entity name=\"E\($0)\" parentEntity=\"E\($0 - 1)\"/>" }.joined()
        _ = try sample.file("Chain.xcdatamodel/contents", "<model><entity name=\"E0\"/>\(entities)</model>")
        let start = ContinuousClock.now
        let outcome = try RosterProcess.run(["create", sample.path("chain.sqlite"), "--model", folder])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(ContinuousClock.now - start < .seconds(10))
    }

    /// Python reads what the program writes, and the program what Python writes. `Scripts/soak` does it for long.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")))
    func recordsGoThroughPythonAndBack() throws {
        let script = SampleFolder.sampleData.deletingLastPathComponent().appendingPathComponent(
            "Scripts/fuzz-records.py")
        let outcome = try RosterProcess.shell("python3 \"$1\" \"$roster\" 7 1 60", [script.path])
        #expect(outcome.status == 0 && outcome.output.contains("no difference"), "\(outcome.output) \(outcome.errors)")
    }

    /// Plain SQLite in another language finds nothing wrong in what the program wrote.
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
