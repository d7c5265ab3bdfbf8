import Foundation
import TestSupport
import Testing

/// Unusual but possible input: values, names and files.
@Suite(.needs(.process)) struct OddInputTests {
    private let sample: SampleFolder

    init() throws { sample = try SampleFolder() }

    private func roster(_ arguments: String...) throws -> RosterProcess.Outcome { try RosterProcess.run(arguments) }

    // MARK: Decimals

    /// Foundation's own hash of decimal numbers does not terminate.
    @Test func decimalsAreKeysAndAreGrouped() throws {
        let model = sample.path("Price.xcdatamodel")
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
        _ = try sample.file(
            "Price.xcdatamodel/contents",
            """
            <model><entity name="T"><attribute name="price" optional="YES" attributeType="Decimal"/>
            <attribute name="note" optional="YES" attributeType="String"/>
            <uniquenessConstraints><uniquenessConstraint><constraint value="price"/></uniquenessConstraint></uniquenessConstraints>
            </entity></model>
            """)
        let store = sample.path("price.sqlite")
        #expect(try roster("create", store, "--model", model).status == 0)
        #expect(try roster("insert", store, "T", "price=2").status == 0)
        let records = try sample.file("p.json", #"[{"price": 2.0, "note": "same"}, {"price": 3.5}, {"price": 12}]"#)
        #expect(
            try roster("import", store, "T", records).output == "imported 3 records: 2 new, 1 changed, 0 unchanged")
        #expect(try roster("update", store, "T", "price=4", "--where", "price = 3.5").status == 0)
        let list = try roster("list", store, "T", "--section", "price:bucket(10)", "--columns", "price")
        let lines = ["  price", "0–9 (2)", "      2", "      4", "10–19 (1)", "     12"]
        #expect(list.lines == lines, "\(list)")
        #expect(try roster("list", store, "T", "--section", "price").status == 0)
    }

    // MARK: Names and files

    /// Decoded with replacement characters, the name would be that of another file.
    @Test func anArgumentThatIsNotUTF8IsRefused() throws {
        let innocent = try sample.file("r\u{FFFD}.json", "keep")
        let line = #"exec "$roster" export "$1" Team "$(printf '%s/r\376.json' "$2")""#
        let outcome = try RosterProcess.shell(line, [sample.store, sample.url.path])
        #expect(outcome.status == 2 && outcome.errors.contains("is not UTF-8"), "\(outcome.errors)")
        #expect(try String(contentsOfFile: innocent, encoding: .utf8) == "keep")
        #expect(try roster("export", sample.store, "Team", innocent).status == 0)
        #expect(try String(contentsOfFile: innocent, encoding: .utf8).hasPrefix("{"))
    }

    @Test(arguments: ["count", "check"]) func aPipeIsNotAStore(verb: String) throws {
        let pipe = sample.path("pipe.sqlite")
        #expect(mkfifo(pipe, 0o600) == 0)
        let outcome = try RosterProcess.shell(
            #"exec timeout 60 "$roster" "$@""#, [verb, pipe] + (verb == "count" ? ["Team"] : []))
        #expect(outcome.status == 1 && outcome.errors.contains("it is not a regular file"), "\(outcome)")
    }

    /// As on a full disk: one line of error, and no file is left.
    @Test(
        .enabled(if: ProcessInfo.processInfo.environment["ROSTER_SANITIZER"] == nil), arguments: ["export", "copy"]
    ) func aLimitOfFileSizesIsAnError(verb: String) throws {
        let made = sample.path("made.sqlite")
        let line =
            verb == "copy"
            ? #"ulimit -f 64; exec "$roster" copy "$1" "$2""# : #"ulimit -f 4; exec "$roster" export "$1" Team "$2""#
        let outcome = try RosterProcess.shell(line, [sample.store, made])
        #expect(outcome.status == 1 && outcome.errorLines.count == 1, "\(outcome)")
        let left = try FileManager.default.contentsOfDirectory(atPath: sample.url.path).filter { $0.contains("made") }
        #expect(left.isEmpty, "\(left)")
    }

    // MARK: Stopping

    /// Stopping works while no input arrives and during an endless record.
    @Test(arguments: ["-", "/dev/zero", "pipe"]) func anImportWithoutEndStops(file: String) throws {
        let path = file == "pipe" ? sample.path("pipe") : file
        if file == "pipe" { #expect(mkfifo(path, 0o600) == 0) }
        let process = try LiveProcess(roster: ["import", sample.store, "Team", path, "--format", "csv"])
        defer { process.killAtOnce() }
        // The import opens standard input a second time.
        let place =
            try file == "-"
            ? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process.identifier)/fd/0") : path
        eventually("the import opens \(file)") { process.openPlaces.count { $0 == place } == (file == "-" ? 2 : 1) }
        #expect(process.isRunning)
        process.interrupt()
        try #require(eventually("the import of \(file) stops") { !process.isRunning })
        #expect(process.waitForEnd() == 1)
        #expect(process.errorLines.last?.contains("interrupted") == true, "\(process.errorLines)")
        #expect(try roster("count", sample.store, "Team").output == "80")
    }

    // MARK: Copies and exports

    /// The copy has the state of one moment, whatever is written during the copy.
    @Test(arguments: ["sqlite", "xml"]) func aStoreThatIsWrittenAllTheTimeIsCopied(ending: String) throws {
        let writer = try LiveProcess(roster: ["simulate", sample.store, "--count", "100000", "--rate", "200"])
        defer {
            writer.killAtOnce()
            writer.waitForEnd()
        }
        #expect(writer.wait(60) { $0.count > 3 })
        let copy = sample.path("copy.\(ending)")
        let outcome = try roster("copy", sample.store, copy)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(writer.isRunning)
        let model = ["--model", SampleFolder.model]
        let teams = try RosterProcess.run(
            ["export", copy, "Team", "--format", "tsv", "--columns", "wins,losses"] + model)
        // Each match in a copy is complete.
        let rows = teams.lines.dropFirst().map { $0.split(separator: "\t").compactMap { Int($0) } }
        #expect(rows.count == 80 && rows.reduce(0) { $0 + $1[0] } == rows.reduce(0) { $0 + $1[1] })
        let left = try FileManager.default.contentsOfDirectory(atPath: sample.url.path).filter { $0.hasPrefix(".copy") }
        #expect(left.isEmpty, "\(left)")
    }

    @Test func keysThatContradictEachOtherAreRefused() throws {
        let both = #"{"teamName": "A", "qualifyingZone": "Z", "homeVenue.name": "X", "homeVenue": "Maracanã"}"#
        let outcome = try roster("import", sample.store, "Team", try sample.file("both.json", both))
        #expect(
            outcome.status == 1 && outcome.errors.contains("conflicts with keys that begin with “homeVenue.”"),
            "\(outcome.errors)")
        let null = #"{"teamName": "B", "qualifyingZone": "Z", "homeVenue": null, "homeVenue.name": "Y"}"#
        #expect(try roster("import", sample.store, "Team", try sample.file("null.json", null)).status == 1)
        let nulls = #"{"teamName": "C", "qualifyingZone": "Z", "homeVenue.name": null, "homeVenue": null}"#
        #expect(try roster("import", sample.store, "Team", try sample.file("nulls.json", nulls)).status == 0)
        #expect(try roster("count", sample.store, "Team").output == "81")
    }

    /// An export that an import would not restore completely prints a warning.
    @Test func anExportReportsOmittedData() throws {
        let model = sample.path("Tree.xcdatamodel")
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
        _ = try sample.file(
            "Tree.xcdatamodel/contents",
            """
            <model><entity name="Base"><attribute name="key" attributeType="String"/>
            <relationship name="kids" optional="YES" toMany="YES" ordered="YES" destinationEntity="Base" inverseName="parent" inverseEntity="Base"/>
            <relationship name="parent" optional="YES" maxCount="1" destinationEntity="Base" inverseName="kids" inverseEntity="Base"/>
            <uniquenessConstraints><uniquenessConstraint><constraint value="key"/></uniquenessConstraint></uniquenessConstraints>
            </entity><entity name="Sub" parentEntity="Base"><attribute name="extra" optional="YES" attributeType="String"/></entity></model>
            """)
        let store = sample.path("tree.sqlite")
        #expect(try roster("create", store, "--model", model).status == 0)
        for key in ["a", "b", "c"] { #expect(try roster("insert", store, "Base", "key=\(key)").status == 0) }
        let plain = try roster("export", store, "Base")
        #expect(
            plain.errors
                == "roster: the export lacks the order of Base.kids; add it with --columns, naming kids and the key")
        #expect(try roster("insert", store, "Sub", "key=s", "extra=E").status == 0)
        let mixed = try roster("export", store, "Base")
        #expect(mixed.status == 0 && mixed.lines.count == 4)
        #expect(
            mixed.errorLines.last?.hasPrefix("roster: 1 record is of subentities of Base:") == true, "\(mixed.errors)")
        // The command in the warning works.
        #expect(try roster("update", store, "Base", #"kids=["c","b"]"#, "--where", "key = 'a'").status == 0)
        let (all, order, copy) = (sample.path("all.json"), sample.path("order.json"), sample.path("again.sqlite"))
        #expect(try roster("export", store, "Base", all).status == 0)
        #expect(try roster("export", store, "Base", order, "--columns", "key,kids").errors.isEmpty)
        #expect(try roster("create", copy, "--model", model).status == 0)
        for file in [all, order] { #expect(try roster("import", copy, "Base", file).status == 0) }
        let orders = try [store, copy].map {
            try roster("list", $0, "Base", "--columns", "key,kids", "--sort", "key").output
        }
        #expect(orders[0] == orders[1] && orders[0].contains("c"), "\(orders)")
    }
}
