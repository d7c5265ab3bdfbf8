import CoreData
import Foundation
import Testing

@testable import RosterCommands

/// Two stores compared: records by key or number, related records by their keys, and stores of different models.
@Suite struct DiffCommandTests {
    private let sample: SampleStore
    /// A copy of the sample to change.
    private let other: StoreLocation

    init() throws {
        sample = try SampleStore()
        let path = sample.folder.path("Other.sqlite")
        try FileManager.default.copyItem(atPath: sample.location.store, toPath: path)
        other = StoreLocation(store: path)
    }

    private func diff(
        _ old: StoreLocation, _ new: StoreLocation, _ entity: String? = nil, format: OutputFormat = .table,
        _ surroundings: TestSurroundings = TestSurroundings()
    ) throws -> [String] {
        let count = try DiffCommand(old: old, new: new, entity: entity, format: format).run(
            in: surroundings.surroundings())
        #expect((count == 0) == (surroundings.lines.count == (format.delimited == nil ? 0 : 1)))
        return surroundings.lines
    }

    private func update(_ store: StoreLocation, _ entity: String, _ predicate: String, _ assignments: String...) throws
    {
        try UpdateCommand(
            store: store, entity: entity, predicate: predicate, assignments: assignments.map(Assignment.init)
        ).run(in: TestSurroundings().surroundings())
    }

    private func insert(_ store: StoreLocation, _ entity: String, _ assignments: String...) throws {
        try InsertCommand(store: store, entity: entity, assignments: assignments.map(Assignment.init)).run(
            in: TestSurroundings().surroundings())
    }

    private func delete(_ store: StoreLocation, _ entity: String, _ predicate: String) throws {
        try DeleteCommand(store: store, entity: entity, predicate: predicate).run(
            in: TestSurroundings().surroundings())
    }

    @Test func equalStoresDoNotDiffer() throws {
        #expect(try diff(sample.location, other).isEmpty)
        #expect(try diff(sample.location, sample.location, format: .json).isEmpty)
        // Imported in another order, the records have other numbers.
        let path = sample.folder.path("reimported.sqlite")
        try CreateCommand(store: path, model: SampleFiles.model).run(in: TestSurroundings().surroundings())
        for entity in ["Venue", "Team"] {
            let file = sample.folder.path("\(entity).json")
            try ExportCommand(
                store: sample.location, entity: entity, file: file,
                query: RecordQuery(sort: [SortKey(keyPath: entity == "Team" ? "wins" : "capacity")])
            ).run(in: TestSurroundings().surroundings())
            try ImportCommand(store: StoreLocation(store: path), entity: entity, file: file).run(
                in: TestSurroundings().surroundings())
        }
        #expect(try diff(sample.location, StoreLocation(store: path)).isEmpty)
    }

    @Test func recordsAreAddedRemovedAndChanged() throws {
        try delete(other, "Team", "teamName == 'Angola'")
        try insert(other, "Team", "teamName=日本二号 🏆", "qualifyingZone=AFC")
        try update(other, "Team", "teamName == 'Japan'", "wins=99", "localName=اليابان", "homeVenue=NULL")
        let lines = try diff(sample.location, other, "Team")
        let venue = try #require(try sample.value("homeVenue", ofTeam: "Japan"))
        #expect(lines.count == 3)
        #expect(lines.contains("− Team Angola"))
        #expect(lines.contains("+ Team 日本二号 🏆"))
        let changed = try #require(lines.first { $0.hasPrefix("~ Team Japan: ") })
        #expect(changed.contains(#"wins 7 → 99"#) || changed.contains("→ 99"), "\(changed)")
        #expect(changed.contains(#"→ "اليابان""#) && changed.contains(#"homeVenue "\#(venue)" → NULL"#), "\(changed)")
        // The other side of the relationship tells it too, as members.
        let all = try diff(sample.location, other)
        #expect(all.contains(#"~ Venue \#(venue): teams −"Japan""#), "\(all)")
        // The other way round.
        #expect(try diff(other, sample.location, "Team").contains("+ Team Angola"))
    }

    @Test func programsGetAllFields() throws {
        try update(other, "Team", "teamName == 'Japan'", "wins=99", "imageName=NULL")
        try delete(other, "Team", "teamName == 'Angola'")
        let json = try diff(sample.location, other, "Team", format: .json)
        let wins = try #require(try sample.value("wins", ofTeam: "Japan"))
        let image = try #require(try sample.value("imageName", ofTeam: "Japan"))
        #expect(
            json.contains(
                #"{"change":"changed","entity":"Team","record":"Japan","values":{"imageName":["\#(image)",null],"wins":[\#(wins),99]}}"#
            ), "\(json)")
        let removed = try #require(json.first { $0.contains(#""change":"removed""#) })
        #expect(removed.contains(#""record":"Angola""#) && removed.contains(#""qualifyingZone":["CAF",null]"#))
        let csv = try diff(sample.location, other, "Team", format: .csv)
        #expect(csv.first == "change,entity,record,key,old,new")
        #expect(csv.contains("changed,Team,Japan,wins,\(wins),99"))
        #expect(csv.contains("removed,Team,Angola,qualifyingZone,CAF,"))
    }

    @Test func howAnAccentIsComposedIsADifference() throws {
        try update(sample.location, "Team", "teamName == 'Japan'", "localName=\u{E9}")
        try update(other, "Team", "teamName == 'Japan'", "localName=e\u{301}")
        #expect(try diff(sample.location, other, "Team").count == 1)
    }

    @Test func partsAreMatchedByTheirOwners() throws {
        try update(other, "Location", "venue.name BEGINSWITH 'Azteca' OR venue.name CONTAINS 'Azteca'", "latitude=1.5")
        let lines = try diff(sample.location, other)
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("~ Location ") == true && lines.first?.contains("Azteca") == true, "\(lines)")
        #expect(lines.first?.contains("→ 1.5") == true)
    }

    // MARK: Other models

    private func make(
        _ name: String, _ entities: [NSEntityDescription], _ fill: (NSManagedObjectContext) throws -> Void
    ) throws -> StoreLocation {
        let model = NSManagedObjectModel()
        model.entities = entities
        let url = URL(fileURLWithPath: sample.folder.path(name))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: name.hasSuffix("xml") ? .xml : .sqlite, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            try fill(context)
            try context.save()
        }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        return StoreLocation(store: url.path)
    }

    private func entity(
        _ name: String, _ attributes: [(String, NSAttributeType)], unique: [String] = []
    ) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = attributes.map {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = ($0.0, $0.1, true)
            return attribute
        }
        if !unique.isEmpty { entity.uniquenessConstraints = [unique] }
        return entity
    }

    @Test func modelsThatDifferAreTold() throws {
        let old = try make(
            "old.sqlite",
            [
                entity("Note", [("text", .stringAttributeType), ("rank", .integer16AttributeType)], unique: ["text"]),
                entity("Gone", [("a", .stringAttributeType)]),
            ]
        ) { context in
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            note.setValue("a", forKey: "text")
            note.setValue(5, forKey: "rank")
        }
        let new = try make(
            "new.sqlite",
            [
                entity(
                    "Note",
                    [("text", .stringAttributeType), ("rank", .stringAttributeType), ("size", .doubleAttributeType)],
                    unique: ["text"])
            ]
        ) { context in
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            note.setValue("a", forKey: "text")
            note.setValue("five", forKey: "rank")
        }
        #expect(
            try diff(old, new) == [
                "− Gone in the model", "+ Note.size in the model", "~ Note.rank in the model",
                #"~ Note a: rank 5 → "five""#,
            ])
        #expect(
            try diff(old, new, format: .json).prefix(2) == [
                #"{"change":"removed","entity":"Gone"}"#, #"{"change":"added","entity":"Note","property":"size"}"#,
            ])
        #expect(try diff(old, new, "Gone") == ["− Gone in the model"])
        let error = #expect(throws: CommandError.self) { try diff(old, new, "None") }
        #expect(error?.kind == .misuse)
    }

    /// Records with NULL in the key, and of entities without a key, are matched by their numbers.
    @Test(arguments: [true, false]) func recordsWithoutAKeyAreMatchedByNumber(hasKey: Bool) throws {
        func store(_ name: String, _ texts: [(String?, Int)]) throws -> StoreLocation {
            try make(
                name,
                [
                    entity(
                        "Note", [("text", .stringAttributeType), ("rank", .integer64AttributeType)],
                        unique: hasKey ? ["text"] : [])
                ]
            ) { context in
                for (text, rank) in texts {
                    let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                    note.setValue(text, forKey: "text")
                    note.setValue(rank, forKey: "rank")
                    try context.save()
                }
            }
        }
        let old = try store("old.sqlite", [(nil, 1), ("b", 2), (nil, 3)])
        let new = try store("new.sqlite", [(nil, 1), ("b", 2), (nil, 4), (nil, 5)])
        #expect(try diff(old, new) == ["~ Note Note/p3: rank 3 → 4", "+ Note Note/p4"])
    }

    /// Each kind of key has the same order in a store and in the comparison.
    @Test func keysOfAnyTypeAreInTheOrderOfTheStore() throws {
        let texts = ["", "a", "A", "Z", "é", "e\u{301}", "ß", "日本", "🏆", "\u{FFFF}", "اليابان", "a b", "a\u{1}"]
        let keys: [(NSAttributeType, [Any])] = [
            (.stringAttributeType, texts), (.integer64AttributeType, [Int64.min, -1, 0, 7, Int64.max]),
            (.doubleAttributeType, [-1e300, -0.5, 0, 0.5, 1e300]),
            (.decimalAttributeType, ["-10.5", "-2", "0", "3", "20", "100.25"].map { NSDecimalNumber(string: $0) }),
            (.dateAttributeType, [-1e9, 0, 1e9].map { Date(timeIntervalSinceReferenceDate: $0) }),
            (.UUIDAttributeType, (0..<20).map { _ in UUID() }),
            (.URIAttributeType, ["https://b.example/", "http://a.example/é"].compactMap { URL(string: $0) }),
            (.booleanAttributeType, [true, false]),
        ]
        for (index, (type, values)) in keys.enumerated() {
            func store(_ name: String, _ values: [Any]) throws -> StoreLocation {
                try make(name, [entity("Note", [("key", type)], unique: ["key"])]) { context in
                    for value in values {
                        NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                            .setValue(value, forKey: "key")
                    }
                }
            }
            let left = try store("left\(index).sqlite", values)
            let right = try store("right\(index).sqlite", Array(values.reversed().dropLast()))
            let lines = try diff(left, right)
            #expect(lines.count == 1 && lines[0].hasPrefix("− Note"), "\(type): \(lines)")
            #expect(try diff(left, left).isEmpty)
        }
    }

    @Test func storesOfOtherTypesCompare() throws {
        let xml = sample.folder.path("copy.xml")
        try CopyCommand(source: sample.location, destination: xml).run(in: TestSurroundings().surroundings())
        let copy = StoreLocation(store: xml, model: SampleFiles.model)
        #expect(try diff(sample.location, copy).isEmpty)
        try update(other, "Team", "teamName == 'Japan'", "wins=99")
        #expect(try diff(copy, other).count == 1)
    }

    @Test func manyRecordsAreReadInBatches() throws {
        func store(_ name: String, _ numbers: some Sequence<Int>) throws -> StoreLocation {
            try make(name, [entity("Note", [("key", .integer64AttributeType)], unique: ["key"])]) { context in
                let request = NSBatchInsertRequest(entityName: "Note", objects: numbers.map { ["key": $0] })
                _ = try context.execute(request)
            }
        }
        let old = try store("old.sqlite", 0..<3000)
        let new = try store("new.sqlite", (1..<3001).filter { $0 != 1500 })
        let surroundings = TestSurroundings()
        #expect(try diff(old, new, surroundings).sorted() == ["+ Note 3000", "− Note 0", "− Note 1500"])
        #expect(!surroundings.progress.isEmpty)
        let stopped = TestSurroundings()
        stopped.raisesAfterLooks = 3
        let error = #expect(throws: CommandError.self) { try diff(old, new, stopped) }
        #expect(error?.message == "interrupted")
    }

    private func diff(
        _ old: StoreLocation, _ new: StoreLocation, _ surroundings: TestSurroundings
    ) throws -> [String] {
        try diff(old, new, nil, format: .table, surroundings)
    }
}
