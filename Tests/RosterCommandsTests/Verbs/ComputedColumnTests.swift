import CoreData
import Foundation
import Testing

@testable import RosterCommands

/// Columns that are computed, values as bytes, and the line of totals.
@Suite struct ComputedColumnTests {
    private let sample: SampleStore

    init() throws { sample = try SampleStore() }

    private func column(_ text: String, format: OutputFormat = .json) throws -> [String] {
        try sample.list(
            "Team", RecordQuery(predicate: "teamName == 'Japan'"), columns: ["teamName", text], format: format)
    }

    @Test func aColumnIsComputed() throws {
        let wins = try #require(try sample.value("wins", ofTeam: "Japan").flatMap { Double($0) })
        let losses = try #require(try sample.value("losses", ofTeam: "Japan").flatMap { Double($0) })
        let json = try column("wins / (wins + losses) as rate")
        #expect(json == [#"{"teamName":"Japan","rate":\#(wins / (wins + losses))}"#])
        let table = try column("wins / (wins + losses) as rate", format: .table)
        #expect(table[0] == "teamName    rate" || table[0].hasSuffix("rate"))
        #expect(table[1].contains("\((wins / (wins + losses) * 1e4).rounded() / 1e4)"))
        #expect(try column("wins+1", format: .csv).first == "teamName,wins+1")
        #expect(try column("wins + 1 as 得分 🏆", format: .csv) == ["teamName,得分 🏆", "Japan,\(Int(wins) + 1)"])
        #expect(try column("uppercase(teamName) as name") == [#"{"teamName":"Japan","name":"JAPAN"}"#])
        #expect(try column("homeVenue.teams.@count as n").count == 1)
        #expect(try column("homeVenue.name as venue", format: .csv).first == "teamName,venue")
        #expect(try column("max({wins, losses}) as best").count == 1)
    }

    @Test func aDivisionByZeroHasNoValue() throws {
        #expect(try column("wins / (wins - wins) as rate") == [#"{"teamName":"Japan","rate":null}"#])
        #expect(try column("wins / (wins - wins) as rate", format: .csv).last == "Japan,")
    }

    @Test func commasInCallsAndTextsDoNotEndAColumn() {
        #expect(ColumnChoice.names("a, max({b, c}) as d ,'x, y' as e") == ["a", "max({b, c}) as d", "'x, y' as e"])
        #expect(ColumnChoice.names("a,,b") == ["a", "", "b"])
        let text = ColumnText("' as ' AS title")
        #expect(text.source == "' as '" && text.title == "title" && !text.isKeyPath)
        #expect(ColumnText("日本.a_1").isKeyPath && !ColumnText("1a").isKeyPath)
    }

    @Test(arguments: [
        ("wins +", "does not parse"), ("winz + 1", "no property “winz”"), ("homeVenue + 1", "it is a relationship"),
        ("homeVenue.teams.wins + 1", "only a to-one relationship can precede a dot"),
        ("$x + 1", "contains more than keys"),
        ("SUBQUERY(homeVenue.teams, $t, $t.wins > 1).@count + 1", "contains more"),
        ("wins.@count + 1", "follows a to-many"),
        ("FUNCTION(wins, 'foo:', 1) + 1", "contains more"), ("teams.@sum + 1", "no property"),
        ("SELF + 1", "contains more"),
    ]) func otherExpressionsAreRefused(text: String, reason: String) throws {
        let error = #expect(throws: CommandError.self) { try column(text) }
        #expect(error?.kind == .misuse && error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    // MARK: Values

    private func show(_ keyPath: String, isRaw: Bool = false, format: OutputFormat = .table) throws -> String {
        let surroundings = TestSurroundings()
        try ShowCommand(
            store: sample.location, object: "Team:Japan", keyPath: keyPath, isRaw: isRaw, format: format
        ).run(in: surroundings.surroundings())
        return surroundings.text
    }

    @Test func oneValueIsShown() throws {
        #expect(try show("teamName") == "Japan\n")
        #expect(try show("teamName", isRaw: true) == "Japan")
        #expect(try show("teamName", format: .json) == "\"Japan\"\n")
        #expect(try show("homeVenue.name", isRaw: true) == sample.value("homeVenue", ofTeam: "Japan"))
        #expect(try show("firstAppearance", isRaw: true).hasSuffix("T00:00:00Z"))
        let error = #expect(throws: CommandError.self) { try show("homeVenue", isRaw: true) }
        #expect(error?.kind == .misuse)
        #expect(throws: CommandError.self) { try show("winz") }
    }

    /// A picture comes out as it is stored.
    @Test func bytesAreWrittenUnchanged() throws {
        let picture = NSEntityDescription()
        picture.name = "Picture"
        let image = NSAttributeDescription()
        (image.name, image.attributeType, image.isOptional) = ("image", .binaryDataAttributeType, true)
        image.allowsExternalBinaryDataStorage = true
        picture.properties = [image]
        let model = NSManagedObjectModel()
        model.entities = [picture]
        let url = URL(fileURLWithPath: sample.folder.path("Album.sqlite"))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let bytes = [Data((0..<300_000).map { UInt8($0 % 256) }), Data([0, 0xFF, 0x0A]), nil]
        try context.performAndWait {
            for data in bytes {
                NSEntityDescription.insertNewObject(forEntityName: "Picture", into: context)
                    .setValue(data, forKey: "image")
                try context.save()
            }
        }
        try coordinator.remove(store)
        for (index, data) in bytes.enumerated() {
            let file = sample.folder.path("\(index).bin")
            let output = try FileOutput(OutputPlace(file))
            let surroundings = CommandSurroundings(
                output: output, progress: TestSurroundings(), interruption: TestSurroundings(),
                textStyle: TextStyle(columns: nil, isEmphasized: false, width: TestSurroundings.width))
            let command = ShowCommand(
                store: StoreLocation(store: url.path), object: "Picture/p\(index + 1)", keyPath: "image", isRaw: true)
            guard let data else {
                let error = #expect(throws: CommandError.self) { try command.run(in: surroundings) }
                #expect(error?.message == "“image” of Picture/p3 has no value")
                continue
            }
            try command.run(in: surroundings)
            try output.finish()
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == data)
        }
    }

    // MARK: Totals

    private func total(_ query: RecordQuery, format: OutputFormat = .table) throws -> [String] {
        let surroundings = TestSurroundings()
        try ListCommand(
            store: sample.location, entity: "Team", query: query, columns: ["teamName"], hasTotal: true, format: format
        ).run(in: surroundings.surroundings())
        return surroundings.lines
    }

    @Test func theLastLineHasTheTotals() throws {
        let sums = AggregateQuery(sum: ["titles"], max: ["wins"])
        #expect(
            try total(RecordQuery(aggregates: sums)).last?.hasPrefix("total (80), sum titles 22, max wins ") == true)
        #expect(try total(RecordQuery()).last == "total (80)")
        let sections = try total(RecordQuery(section: "qualifyingZone", aggregates: sums))
        #expect(sections.last?.hasPrefix("total (80), sum titles 22, max wins ") == true)
        #expect(
            try total(RecordQuery(predicate: "teamName == 'x'", aggregates: sums)).last
                == "total (0), sum titles 0, max wins ")
        #expect(try total(RecordQuery(predicate: "titles > 0", limit: 2)).last == "total (2)")
        let error = #expect(throws: CommandError.self) { try total(RecordQuery(), format: .json) }
        #expect(error?.kind == .misuse)
    }
}
