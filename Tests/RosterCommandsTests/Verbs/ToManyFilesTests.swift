import Foundation
import Testing

@testable import RosterCommands

/// To-many relationships in files: a list in JSON, the same list as text in CSV and TSV.
@Suite struct ToManyFilesTests {
    private let folder: TemporaryFolder
    private let model: String

    /// Songs with tags (many-to-many), and ordered lists of songs.
    private static let contents = """
        <model><entity name="Song"><attribute name="title" attributeType="String"/>
        <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="songs" inverseEntity="Tag"/>
        <relationship name="lists" optional="YES" toMany="YES" destinationEntity="List" inverseName="songs" inverseEntity="List"/>
        <uniquenessConstraints><uniquenessConstraint><constraint value="title"/></uniquenessConstraint></uniquenessConstraints>
        </entity><entity name="Tag"><attribute name="name" attributeType="String"/>
        <relationship name="songs" optional="YES" toMany="YES" destinationEntity="Song" inverseName="tags" inverseEntity="Song"/>
        <uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint></uniquenessConstraints>
        </entity><entity name="List"><attribute name="name" attributeType="String"/>
        <relationship name="songs" optional="YES" toMany="YES" ordered="YES" destinationEntity="Song" inverseName="lists" inverseEntity="Song"/>
        <uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint></uniquenessConstraints>
        </entity></model>
        """

    init() throws {
        folder = try TemporaryFolder()
        model = folder.path("Music.xcdatamodel")
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
        _ = try folder.file("Music.xcdatamodel/contents", Self.contents)
    }

    private func store(_ name: String) throws -> StoreLocation {
        let location = StoreLocation(store: folder.path(name))
        try CreateCommand(store: location.store, model: model).run(in: TestSurroundings().surroundings())
        return location
    }

    private func importText(_ text: String, _ name: String, into entity: String, of store: StoreLocation) throws
        -> [String]
    {
        let surroundings = TestSurroundings()
        try ImportCommand(store: store, entity: entity, file: try folder.file(name, text))
            .run(in: surroundings.surroundings())
        return surroundings.lines
    }

    private func export(_ entity: String, of store: StoreLocation, _ format: OutputFormat) throws -> String {
        let name = "\(entity).\(format.rawValue)"
        try ExportCommand(store: store, entity: entity, file: folder.path(name))
            .run(in: TestSurroundings().surroundings())
        return try folder.contents(name)
    }

    private func filled(_ name: String) throws -> StoreLocation {
        let store = try store(name)
        _ = try importText(
            #"[{"title": "One, \"two\""}, {"title": "漢字 🇧🇷"}, {"title": "c\td\ne"}]"#, "s.json", into: "Song", of: store)
        let tags = #"""
            name,songs
            "old, and ""new""","[""One, \""two\"""", ""c\td\ne""]"
            empty,[]
            none,
            """#
        #expect(
            try importText(tags, "t.csv", into: "Tag", of: store) == [
                "imported 3 records: 3 new, 0 changed, 0 unchanged"
            ])
        let lists = #"[{"name": "mix", "songs": ["漢字 🇧🇷", "c\td\ne", "One, \"two\""]}]"#
        _ = try importText(lists, "l.json", into: "List", of: store)
        return store
    }

    @Test(arguments: [OutputFormat.json, .csv, .tsv]) func exportsAreReadBack(_ format: OutputFormat) throws {
        let store = try filled("first.sqlite")
        let other = try self.store("second.sqlite")
        // The side that names the other is imported last.
        for entity in ["Tag", "Song", "List"] {
            let text = try export(entity, of: store, format)
            let count = entity == "List" ? 1 : 3
            let records = count == 1 ? "1 record" : "\(count) records"
            #expect(
                try importText(text, "x.\(format.rawValue)", into: entity, of: other)
                    == ["imported \(records): \(count) new, 0 changed, 0 unchanged"])
            #expect(
                try importText(text, "x.\(format.rawValue)", into: entity, of: store)
                    == ["imported \(records): 0 new, 0 changed, \(count) unchanged"])
            #expect(try export(entity, of: other, format) == text)
        }
        let songs = try export("Song", of: other, .json).split(separator: "\n").map(String.init)
        #expect(songs.contains { $0.contains("One") && $0.contains(#""tags":["old, and \"new\""]"#) })
        #expect(!songs.joined().contains(#""lists""#))
        #expect(try export("List", of: other, .json).contains(#"["漢字 🇧🇷","c\td\ne","One, \"two\""]"#))
    }

    @Test func invalidListsAreRefused() throws {
        let store = try filled("first.sqlite")
        for wrong in ["x", "[\"\"x\"\"", "{}", "3"] {
            let error = #expect(throws: CommandError.self) {
                _ = try importText("name,songs\nmix,\"\(wrong)\"\n", "w.csv", into: "List", of: store)
            }
            let message = try #require(error.map { "\($0)" })
            #expect(
                message.contains("w.csv:2: record 1: songs") && message.contains("a to-many relationship needs"),
                "\(message)")
        }
        // The refused imports have not changed the list.
        #expect(try export("List", of: store, .json).contains("漢字"))
    }

    @Test func keysOfTheModelsUserInfoAreTaken() throws {
        let info = #"<userInfo><entry key="mappedKeyName" value="track.name"/></userInfo>"#
        let named = #"<attribute name="title" attributeType="String">"# + info + "</attribute>"
        let text = Self.contents.replacingOccurrences(
            of: #"<attribute name="title" attributeType="String"/>"#, with: named)
        _ = try folder.file("Music.xcdatamodel/contents", text)
        let store = try store("mapped.sqlite")
        let lines = try importText(
            #"[{"track": {"name": "One"}, "tags": [{"name": "loud"}]}, {"title": "Two", "tags": ["loud"]}]"#, "m.json",
            into: "Song", of: store)
        #expect(lines == ["imported 2 records: 2 new, 0 changed, 0 unchanged"])
        // In CSV, the path is the name of a column.
        let again = try importText("track.name,tags\nOne,\"[]\"\n", "m.csv", into: "Song", of: store)
        #expect(again == ["imported 1 record: 0 new, 1 changed, 0 unchanged"])
        #expect(try export("Tag", of: store, .json).contains("loud"))
    }
}
