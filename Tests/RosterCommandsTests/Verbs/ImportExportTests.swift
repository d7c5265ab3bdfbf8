import Foundation
import Testing

@testable import RosterCommands

@Suite struct ImportExportTests {
    private let sample: SampleStore

    init() throws { sample = try SampleStore() }

    private func export(_ entity: String, _ format: OutputFormat) throws -> String {
        let file = sample.folder.path("out.\(format.rawValue)")
        try ExportCommand(store: sample.location, entity: entity, file: file)
            .run(in: TestSurroundings().surroundings())
        return try sample.folder.contents("out.\(format.rawValue)")
    }

    // MARK: Round trips

    @Test(arguments: ["Team", "Venue"], [OutputFormat.json, .csv, .tsv])
    func anExportIsReadBackUnchanged(entity: String, format: OutputFormat) throws {
        let text = try export(entity, format)
        let again = try sample.importFile("again.\(format.rawValue)", text, into: entity)
        let count = entity == "Team" ? 80 : 257
        #expect(again == ["imported \(count) records: 0 new, 0 changed, \(count) unchanged"])

        let other = StoreLocation(store: sample.folder.path("other.sqlite"))
        let surroundings = TestSurroundings().surroundings()
        try CreateCommand(store: other.store, model: SampleFiles.model).run(in: surroundings)
        if entity == "Team" {
            let venues = try sample.folder.file("venues.json", try export("Venue", .json))
            try ImportCommand(store: other, entity: "Venue", file: venues).run(in: surroundings)
        }
        let path = sample.folder.path("again.\(format.rawValue)")
        try ImportCommand(store: other, entity: entity, file: path).run(in: surroundings)
        let copy = sample.folder.path("copy.\(format.rawValue)")
        try ExportCommand(store: other, entity: entity, file: copy).run(in: surroundings)
        #expect(try sample.folder.contents("copy.\(format.rawValue)") == text)
    }

    @Test func theSampleIsThere() throws {
        #expect(try sample.count("Team") == 80)
        #expect(try sample.count("Venue") == 257)
        #expect(try sample.count("Location") == 257)
        #expect(try sample.count("Team", where: "homeVenue == nil") == 0)
        #expect(try sample.count("Venue", where: "location.distance == 0") == 1)
    }

    // MARK: Matching

    @Test func aKnownKeyUpdatesAndANewOneInserts() throws {
        let lines = try sample.importFile(
            "some.json",
            """
            [{"teamName": "Japan", "wins": 8}, {"teamName": "Testland", "qualifyingZone": "OFC",
              "homeVenue": {"name": "Test Park", "location": {"latitude": 1.5, "longitude": 2}}},
             {"teamName": "Brazil", "wins": 76}]
            """)
        #expect(lines == ["imported 3 records: 1 new, 1 changed, 1 unchanged"])
        #expect(try sample.value("wins", ofTeam: "Japan") == "8")
        #expect(try sample.value("draws", ofTeam: "Japan") == "6")
        #expect(try sample.value("homeVenue.location.latitude", ofTeam: "Testland") == "1.5")
    }

    @Test func aDuplicateKeyIsOneRecord() throws {
        let lines = try sample.importFile(
            "twice.csv", "teamName,qualifyingZone,wins\nTestland,OFC,1\nTestland,OFC,2\n", batchSize: 10)
        #expect(lines == ["imported 2 records: 1 new, 1 changed, 0 unchanged"])
        #expect(try sample.value("wins", ofTeam: "Testland") == "2")
        #expect(try sample.count("Team") == 81)
    }

    @Test func aPartIsChangedNotReplaced() throws {
        let lines = try sample.importFile(
            "part.csv", "name,location.latitude\nWembley Stadium,51.5\n", into: "Venue")
        #expect(lines == ["imported 1 record: 0 new, 1 changed, 0 unchanged"])
        #expect(try sample.count("Location") == 257)
    }

    @Test func dryRunOfImportChangesNothing() throws {
        let lines = try sample.importFile("dry.json", #"{"teamName":"T","qualifyingZone":"OFC"}"#, isDryRun: true)
        #expect(lines == ["would import 1 record: 1 new, 0 changed, 0 unchanged"])
        #expect(try sample.count("Team") == 80)
    }

    // MARK: Bad files

    @Test(arguments: [
        (
            "a.json", "[{\"teamName\":\"T\",\n\"qualifyingZone\":\"X\",\"wins\":\"abc\"}]",
            "a.json:1: record 1: wins: “abc” is not a whole number; nothing was imported"
        ),
        (
            "b.json", "{\"teamName\":\"T\",\"qualifyingZone\":\"X\"}\n{\"teamName\":\"U\",\"wins\":true}",
            "b.json:2: record 2: wins: true is not a whole number"
        ),
        (
            "c.json", "[{\"teamName\":\"T\",\"qualifyingZone\":\"X\"},\n{\"teamName\":\"Tr",
            "c.json:2: record 2: the text ends"
        ),
        (
            "d.json", "[{\"teamName\":\"T\",\"qualifyingZone\":\"X\"}",
            "d.json:1: record 1: the text ends inside the array"
        ),
        ("e.json", "[1]", "e.json:1: record 1: a record must be an object"),
        ("f.csv", "teamName,wins\nJapan,7\nBrazil\n", "f.csv:3: record 2: has 1 field, but the first line has 2"),
        ("g.csv", "teamName,winz\nJapan,7\n", "g.csv:2: record 1: winz: Team has no property “winz”"),
        ("h.csv", "teamName,homeVenue\nJapan,Nowhere\n", "homeVenue: “Nowhere” not found: no Venue"),
        ("i.csv", "teamName,teamName\nJapan,Brazil\n", "duplicate key “teamName”"),
        ("j.csv", "teamName,wins\n\"Japan,7\n", "missing closing quotation mark"),
        ("k.json", "[{\"teamName\":\"T\"}]", "record 1: "),
        ("l.json", "{\"teamName\":[1]}", "teamName: [1] is not a text"),
        ("m.json", "{\"teamName\":\"Japan\",\"wins\":3000000000}", "wins: 3000000000 is out of range"),
        ("n.json", "{\"teamName\":\"Japan\",\"wins\":-3}", "record 1: "),
    ]) func tellsPlaceKeyAndValue(name: String, text: String, message: String) throws {
        let error = #expect(throws: CommandError.self) { try sample.importFile(name, text) }
        #expect(error?.kind == .failure)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("\n") == false)
        #expect(try sample.count("Team") == 80)
        #expect(try sample.value("wins", ofTeam: "Japan") == "7")
    }

    @Test func wholeBatchesBeforeAnErrorStay() throws {
        var text = "teamName,qualifyingZone,wins\n"
        for number in 0..<25 { text += "T\(number),OFC,\(number == 24 ? "x" : "1")\n" }
        let error = #expect(throws: CommandError.self) { try sample.importFile("many.csv", text, batchSize: 10) }
        #expect(error?.message.contains("many.csv:26: record 25: wins: “x”") == true, "\(error?.message ?? "")")
        #expect(error?.message.hasSuffix("; 20 records were already imported") == true)
        #expect(try sample.count("Team") == 100)
    }

    @Test func anInterruptionStopsBetweenBatches() throws {
        var text = "teamName,qualifyingZone\n"
        for number in 0..<50 { text += "T\(number),OFC\n" }
        let surroundings = TestSurroundings()
        surroundings.raisesAfterReports = 2
        let file = try sample.folder.file("stop.csv", text)
        let error = #expect(throws: CommandError.self) {
            try ImportCommand(store: sample.location, entity: "Team", file: file, batchSize: 10)
                .run(in: surroundings.surroundings())
        }
        #expect(error?.message == "interrupted; 20 records were already imported")
        #expect(try sample.count("Team") == 100)
    }

    @Test func aFailedExportLeavesTheOldFile() throws {
        let file = try sample.folder.file("kept.json", "old")
        #expect(throws: CommandError.self) {
            try ExportCommand(store: sample.location, entity: "Team", file: file, columns: ["winz"])
                .run(in: TestSurroundings().surroundings())
        }
        #expect(try sample.folder.contents("kept.json") == "old")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: sample.folder.url.path).filter { $0.contains(".part") }
                == [])
    }
}
