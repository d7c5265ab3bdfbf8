import CoreData
import Foundation
import SQLiteAccess
import Testing

@testable import RosterCommands

/// Rare values: of another type than their column, early and late dates, infinite numbers, files of other programs.
@Suite struct OddValueTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }

    private static let model: NSManagedObjectModel = {
        let entity = NSEntityDescription()
        entity.name = "Sample"
        let price = attribute("price", .decimalAttributeType)
        price.setValidationPredicates(
            [NSPredicate(format: "SELF >= 0.5"), NSPredicate(format: "SELF <= 10")],
            withValidationWarnings: ["low", "high"])
        entity.properties = [
            attribute("name", .stringAttributeType), attribute("count", .integer64AttributeType),
            attribute("weight", .doubleAttributeType), attribute("taken", .dateAttributeType),
            attribute("key", .UUIDAttributeType), price,
        ]
        entity.uniquenessConstraints = [["name"]]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }()

    private func store(_ name: String, _ records: [[String: Any]] = []) throws -> StoreLocation {
        let url = URL(fileURLWithPath: folder.path(name))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model)
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for record in records {
                let object = NSEntityDescription.insertNewObject(forEntityName: "Sample", into: context)
                object.setValuesForKeys(record)
            }
            try context.save()
        }
        try coordinator.remove(store)
        return StoreLocation(store: url.path)
    }

    private func list(_ store: StoreLocation, _ query: RecordQuery = RecordQuery(sort: []), columns: [String]) throws
        -> [String]
    {
        let surroundings = TestSurroundings()
        try ListCommand(store: store, entity: "Sample", query: query, columns: columns, format: .csv)
            .run(in: surroundings.surroundings())
        return surroundings.lines
    }

    @discardableResult
    private func load(_ file: String, into store: StoreLocation, delimiter: Character? = nil) throws -> [String] {
        let surroundings = TestSurroundings()
        try ImportCommand(store: store, entity: "Sample", file: file, delimiter: delimiter)
            .run(in: surroundings.surroundings())
        return surroundings.lines
    }

    @Test func cellsOfAnotherTypeAreNamedAndReadAsNil() throws {
        let store = try store("Samples.sqlite", [["name": "a", "count": 1], ["name": "b", "count": 2]])
        try CheckCommand(store: store).run(in: TestSurroundings().surroundings())
        let connection = try Connection(path: store.store, access: .readWrite)
        try connection.execute(
            "UPDATE ZSAMPLE SET ZCOUNT = 'abc', ZTAKEN = '2022-12-18', ZWEIGHT = x'01', ZKEY = x'0102', ZPRICE = 'dear' WHERE ZNAME = 'a'"
        )
        try connection.execute("UPDATE ZSAMPLE SET ZCOUNT = 1.5, ZNAME = x'6363' WHERE ZNAME = 'b'")
        connection.close()
        let surroundings = TestSurroundings()
        let error = #expect(throws: CommandError.self) {
            try CheckCommand(store: store).run(in: surroundings.surroundings())
        }
        #expect(error?.kind == .failure)
        let text = surroundings.text
        #expect(
            text.contains(
                "2 rows (the first is 1) of the table ZSAMPLE: “count” contains a number with decimals instead of Integer 64"
            ),
            "\(text)")
        for name in ["taken", "weight", "key", "price", "name"] {
            #expect(text.contains("“\(name)” contains"), "\(text)")
        }
        #expect(
            try list(store, columns: ["count", "taken", "weight", "key", "price"]).dropFirst() == [",,,,", ",,,,"])
        let notes = TestSurroundings()
        let outcome = try ExportCommand(store: store, entity: "Sample", file: folder.path("out.json"))
            .run(in: notes.surroundings())
        #expect(outcome.missing?.contains("Sample.count: a cell contains") == true, "\(outcome)")
        #expect(
            notes.notes.contains { $0.contains("Sample.name: a cell contains bytes instead of String") },
            "\(notes.notes)")
    }

    @Test(arguments: ["out.json", "out.csv", "out.tsv"]) func exportsOfFarValuesAreReadBack(name: String) throws {
        let records: [[String: Any]] = [
            ["name": "a", "weight": Double.infinity, "taken": Date(timeIntervalSinceReferenceDate: 1e20)],
            ["name": "b", "weight": -Double.infinity, "taken": Date(timeIntervalSinceReferenceDate: -3e17)],
            ["name": "c", "weight": 1e300, "taken": Date(timeIntervalSinceReferenceDate: -9e14)],
        ]
        let source = try store("Source.sqlite", records)
        let query = RecordQuery(sort: [SortKey(keyPath: "name", ascending: true)])
        try ExportCommand(store: source, entity: "Sample", file: folder.path(name), query: query)
            .run(in: TestSurroundings().surroundings())
        let copy = try store("Copy.sqlite")
        try load(folder.path(name), into: copy)
        let columns = ["name", "weight", "taken"]
        #expect(try list(copy, query, columns: columns) == list(source, query, columns: columns))
        #expect(try list(copy, query, columns: columns).count == 4)
    }

    @Test func aNumberThatIsTooGreatIsOutOfRange() throws {
        let store = try store("Samples.sqlite")
        let file = try folder.file("a.json", #"[{"name": "a", "count": 1e30}]"#)
        let error = #expect(throws: CommandError.self) { try load(file, into: store) }
        #expect(error?.message.contains("is out of range") == true, "\(String(describing: error))")
        try load(folder.file("b.json", #"[{"name": "a", "count": 1e3}]"#), into: store)
        #expect(try list(store, columns: ["count"]).last == "1000")
    }

    @Test func earlyAndFarDatesAreInTheirSections() throws {
        let file = try folder.file("a.csv", "name,taken\na,1500-01-01\nb,0004-02-29\nc,+12000-06-30\nd,2022-12-18\n")
        let store = try store("Samples.sqlite")
        try load(file, into: store)
        for (form, names) in [
            ("year", ["0004", "1500", "2022", "12000"]), ("month", ["0004-02", "1500-01", "2022-12", "12000-06"]),
            ("day", ["0004-02-29", "1500-01-01", "2022-12-18", "12000-06-30"]),
        ] {
            let surroundings = TestSurroundings()
            try ListCommand(
                store: store, entity: "Sample", query: RecordQuery(section: "taken:\(form)"), columns: ["taken"],
                sectionsOnly: true, format: .csv
            ).run(in: surroundings.surroundings())
            #expect(
                surroundings.lines.dropFirst().map { String($0.prefix { $0 != "," }) } == names, "\(surroundings.lines)"
            )
        }
    }

    @Test func aKeyIsAssignedOnce() throws {
        let store = try store("Samples.sqlite")
        let error = #expect(throws: CommandError.self) {
            try InsertCommand(
                store: store, entity: "Sample", assignments: [Assignment("name=x"), Assignment("name=y")]
            ).run(in: TestSurroundings().surroundings())
        }
        #expect(error?.kind == .misuse && error?.message.contains("“name” is assigned twice") == true)
    }

    @Test(arguments: ["Venue/p-1", "Venue/p0", "Venue/p99999999999999999999"]) func recordsAreNumberedFromOne(
        _ text: String
    )
        throws
    {
        let store = try SampleStore()
        let error = #expect(throws: CommandError.self) {
            try InsertCommand(
                store: store.location, entity: "Team",
                assignments: [Assignment("teamName=x"), Assignment("homeVenue=\(text)")]
            ).run(in: TestSurroundings().surroundings())
        }
        #expect(
            error?.message.contains("“\(text)” is not a record: use numbers from p1") == true,
            "\(String(describing: error))")
    }

    @Test func filesOfOtherProgramsAreRead() throws {
        let store = try store("Samples.sqlite")
        let semicolons = try folder.file("a.csv", "name;count\na;1\n\"b;c\";2\n")
        try load(semicolons, into: store)
        try load(semicolons, into: store, delimiter: ";")
        for (number, encoding) in [String.Encoding.utf16LittleEndian, .utf16BigEndian].enumerated() {
            let text = "name,count\n日本 🏟\(number),\(number)\n"
            let plain = try #require(text.data(using: encoding))
            let path = folder.path("utf16-\(number).csv")
            try (Data(number == 0 ? [0xFF, 0xFE] : [0xFE, 0xFF]) + plain).write(to: URL(fileURLWithPath: path))
            try load(path, into: store)
            try plain.write(to: URL(fileURLWithPath: path))
            if number == 0 {
                let error = #expect(throws: CommandError.self) { try load(path, into: store) }
                #expect(
                    error?.message.contains("UTF-16LE without a byte order mark") == true,
                    "\(String(describing: error))")
            }
        }
        let query = RecordQuery(sort: [SortKey(keyPath: "name", ascending: true)])
        #expect(try list(store, query, columns: ["name"]) == ["name", "a", "b;c", "日本 🏟0", "日本 🏟1"])
    }

    @Test func utf16IsReadAcrossPieces() throws {
        let text = "name,count\n" + (0..<9000).map { "🏟\($0),\($0)\n" }.joined()
        var data = Data([0xFF, 0xFE])
        data += try #require(text.data(using: .utf16LittleEndian))
        let path = folder.path("many.csv")
        try data.write(to: URL(fileURLWithPath: path))
        let reader = try RecordFileReader(path: path, format: nil)
        var names: [String] = []
        while let record = try reader.next() {
            if case .string(let name)? = record.fields.first?.value { names.append(name) }
        }
        #expect(names == (0..<9000).map { "🏟\($0)" })
    }

    /// TSV of another program has no escapes.
    @Test func backslashesOfWindowsArePartOfAPipesText() throws {
        let file = try folder.file("a.tsv", "path\tcount\nC:\\Users\\new\t1\n")
        let made = try TemporaryStore(reading: file, below: folder.url, in: TestSurroundings().surroundings())
        let surroundings = TestSurroundings()
        try ListCommand(
            store: StoreLocation(store: made.store.path), entity: TemporaryStore.entity, query: RecordQuery(),
            columns: ["path"], format: .csv
        ).run(in: surroundings.surroundings())
        #expect(surroundings.lines.last == "C:\\Users\\new")
    }

    /// The same in a file. If all backslashes begin escapes, as in exports, they are read as escapes.
    @Test(arguments: [
        ("C:\\Users\\new", "C:\\Users\\new"), ("a\\tb\\\\c", "a\tb\\c"), ("C:\\Users\\\\x", "C:\\Users\\\\x"),
    ]) func backslashesOfWindowsArePartOfAFilesText(cell: String, value: String) throws {
        let store = try store("Samples.sqlite")
        try load(folder.file("a.tsv", "name\tcount\n\(cell)\t1\n"), into: store)
        #expect(try list(store, columns: ["name"]) == ["name", value])
    }

    /// A file with `\N` for NULL has escapes, so an invalid one is an error.
    @Test func aFileWithEscapeSequencesIsNotText() throws {
        let store = try store("Samples.sqlite")
        let file = try folder.file("a.tsv", "name\tcount\n\\N\t1\na\\bc\t2\n")
        #expect(throws: (any Error).self) { try load(file, into: store) }
    }

    @Test func aModelsTextHasTheLimits() throws {
        let surroundings = TestSurroundings()
        try ModelCommand(path: try store("Samples.sqlite").store).run(in: surroundings.surroundings())
        let line = surroundings.lines.first { $0.contains("price") }
        #expect(line?.contains("SELF >= 0.5") == true && line?.contains("SELF <= 10") == true, "\(surroundings.text)")
    }
}
