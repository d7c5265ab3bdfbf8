import CoreData
import SQLiteAccess
import Testing

/// Migrations that keep rows in their tables: columns are renamed, added and dropped.
@MainActor @Suite struct AlteredTableTests {
    private let desk: MigrationDesk

    init() throws { desk = try MigrationDesk() }

    // MARK: Models

    private func attribute(
        _ name: String, _ type: NSAttributeType = .stringAttributeType, value: Any? = nil, was: String? = nil,
        optional: Bool = true
    ) -> NSAttributeDescription {
        let made = MigrationDesk.attribute(name, type, was: was)
        made.defaultValue = value
        made.isOptional = optional
        return made
    }

    private func team(
        _ attributes: [NSAttributeDescription], indexed: [String] = [], unique: [String] = [], was: String? = nil,
        name: String = "Team"
    ) -> NSManagedObjectModel {
        let team = MigrationDesk.entity(name, attributes)
        team.renamingIdentifier = was
        team.uniquenessConstraints = unique.map { [$0] }
        team.indexes = indexed.compactMap { name in
            team.attributesByName[name].map {
                NSFetchIndexDescription(
                    name: "by" + name, elements: [NSFetchIndexElementDescription(property: $0, collationType: .binary)])
            }
        }
        return MigrationDesk.model([team])
    }

    private func animals(
        _ root: [NSAttributeDescription], dog: [NSAttributeDescription]
    ) -> NSManagedObjectModel {
        let animal = MigrationDesk.entity("Animal", [attribute("tag", .integer64AttributeType)] + root)
        let parts = [MigrationDesk.entity("Cat", []), MigrationDesk.entity("Dog", dog)]
        animal.subentities = parts
        return MigrationDesk.model([animal] + parts)
    }

    // MARK: Files

    private func sql(_ text: String) throws -> [String] {
        let connection = try Connection(path: desk.url.path, access: .readWrite)
        defer { connection.close() }
        return try connection.rows(text).map { row in
            switch row[0] {
            case .text(let text): text
            case .integer(let number): "\(number)"
            case .null: "NULL"
            default: "?"
            }
        }
    }

    /// Creates a store with 20,000 teams.
    private func makeMany(_ model: NSManagedObjectModel) throws {
        try desk.make(model) { _ in }
        _ = try sql(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
            INSERT INTO ZTEAM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZSIZE, ZCITY)
            SELECT i, 1, 1, 'Team number ' || i, i, 'A city of some length, number ' || i FROM n
            """)
        _ = try sql("UPDATE Z_PRIMARYKEY SET Z_MAX = 20000")
        try desk.close(try desk.open(model))
    }

    private var many: [NSAttributeDescription] {
        [attribute("name"), attribute("size", .integer64AttributeType), attribute("city")]
    }

    private func count(_ format: String, _ context: NSManagedObjectContext, _ entity: String = "Team") throws -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: format)
        return try context.count(for: request)
    }

    /// Number of the file's pages that the migration writes.
    private func pagesWritten(to model: NSManagedObjectModel) throws -> Int {
        let before = try Data(contentsOf: desk.url)
        try desk.close(try desk.open(model))
        let after = try Data(contentsOf: desk.url)
        let size = 4096
        #expect(before.count > 200 * size)
        return stride(from: 0, to: max(before.count, after.count), by: size).count { start in
            func page(_ data: Data) -> Data { data[min(start, data.count)..<min(start + size, data.count)] }
            return page(before) != page(after)
        }
    }

    private func expectSound(_ model: NSManagedObjectModel, location: SourceLocation = #_sourceLocation) throws {
        let fresh = desk.folder.appendingPathComponent("Fresh-\(UUID().uuidString).sqlite")
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        try desk.close(try desk.open(copy, at: fresh))
        #expect(try StoreSchema.text(of: desk.url) == StoreSchema.text(of: fresh), sourceLocation: location)
        #expect(try sql("PRAGMA integrity_check") == ["ok"], sourceLocation: location)
    }

    // MARK: No row is rewritten

    @Test func anAttributeWithADefaultIsAddedWithoutARow() throws {
        try makeMany(team(many, indexed: ["size"]))
        let added = [
            attribute("land", value: "'Uruguay'"), attribute("wins", .integer32AttributeType, value: -7),
            attribute("share", .doubleAttributeType, value: 0.1),
            attribute("born", .dateAttributeType, value: Date(timeIntervalSinceReferenceDate: 7.5)),
            attribute("cost", .decimalAttributeType, value: NSDecimalNumber(string: "1.10")),
            attribute("badge", .binaryDataAttributeType, value: Data([0, 255])),
            attribute("open", .booleanAttributeType, value: true), attribute("motto"),
        ]
        let next = team(many + added, indexed: ["size"])
        #expect(try pagesWritten(to: next) < 20)
        let container = try desk.open(next)
        let context = container.viewContext
        #expect(try count("land == \"'Uruguay'\" AND wins == -7 AND share == 0.1 AND open == YES", context) == 20_000)
        let first = try desk.all("Team", context, by: "size")[0]
        #expect(first.value(forKey: "born") as? Date == Date(timeIntervalSinceReferenceDate: 7.5))
        #expect(first.value(forKey: "cost") as? NSDecimalNumber == NSDecimalNumber(string: "1.1"))
        #expect(first.value(forKey: "badge") as? Data == Data([0, 255]))
        #expect(first.value(forKey: "motto") == nil)
        try desk.close(container)
        try expectSound(next)
    }

    /// An index of the attribute is kept, too.
    @Test func anAttributeIsRenamedWithoutARow() throws {
        try makeMany(team(many, indexed: ["size"]))
        let next = team(
            [
                attribute("title", was: "name"), attribute("weight", .integer64AttributeType, was: "size"),
                attribute("city"),
            ]
        )
        let weight = try #require(next.entitiesByName["Team"]?.attributesByName["weight"])
        next.entitiesByName["Team"]?.indexes = [
            NSFetchIndexDescription(
                name: "bysize", elements: [NSFetchIndexElementDescription(property: weight, collationType: .binary)])
        ]
        #expect(try pagesWritten(to: next) < 20)
        try expectSound(next)
        let container = try desk.open(next)
        #expect(try count("title == 'Team number 77' AND weight == 77", container.viewContext) == 1)
    }

    @Test func anEntityIsRenamedWithoutARow() throws {
        try makeMany(team(many))
        let next = team(many + [attribute("land", value: "Peru")], was: "Team", name: "Club")
        #expect(try pagesWritten(to: next) < 20)
        try expectSound(next)
        let container = try desk.open(next)
        #expect(
            try count("name == 'Team number 77' AND size == 77 AND land == 'Peru'", container.viewContext, "Club") == 1)
    }

    // MARK: Names

    @Test func namesAreSwappedAndReusedFromRemovedColumns() throws {
        let first = team(
            ["a", "b", "c", "d", "e"].map { attribute($0) } + [attribute("n", .integer64AttributeType)],
            indexed: ["a", "c", "e"])
        try desk.make(first) { context in
            for number in 0..<3 {
                var values: [String: Any] = ["n": number]
                for name in ["a", "b", "c", "d", "e"] { values[name] = "\(name)\(number)" }
                desk.insert("Team", values, context)
            }
        }
        // Two attributes swap their names, one takes the name of a removed one, and its own name is given to a new one.
        let next = team(
            [
                attribute("a", was: "b"), attribute("b", was: "a"), attribute("d", was: "c"),
                attribute("c", value: "new"),
                attribute("f", was: "e"), attribute("n", .integer64AttributeType),
            ], indexed: ["a", "d"])
        next.entitiesByName["Team"]?.attributesByName["c"]?.renamingIdentifier = "nothing before"
        let container = try desk.open(next)
        for (number, found) in try desk.all("Team", container.viewContext, by: "n").enumerated() {
            let values = ["a", "b", "c", "d", "f"].map { found.value(forKey: $0) as? String }
            #expect(values == ["b\(number)", "a\(number)", "new", "c\(number)", "e\(number)"])
        }
        try desk.close(container)
        try expectSound(next)
        #expect(try sql("SELECT sql FROM sqlite_master WHERE name = 'ZTEAM'")[0].contains("DEFAULT 'new'"), "altered")
    }

    // MARK: Later rows

    @Test func aDefaultRemovedBeforeTheFirstSaveIsNil() throws {
        try desk.make(team([attribute("name")])) { desk.insert("Team", ["name": "old"], $0) }
        let next = team([attribute("name"), attribute("city", value: "Montevideo")])
        var container = try desk.open(next)
        for number in 0..<300 {
            desk.insert("Team", ["name": "none \(number)"], container.viewContext).setValue(nil, forKey: "city")
        }
        desk.insert("Team", ["name": "given"], container.viewContext)
        try container.viewContext.save()
        try desk.close(container)
        container = try desk.open(next)
        #expect(try count("city == nil AND name BEGINSWITH 'none'", container.viewContext) == 300)
        #expect(try count("city == 'Montevideo'", container.viewContext) == 2)
        let old = try desk.all("Team", container.viewContext, by: "name").first {
            $0.value(forKey: "name") as? String == "old"
        }
        old?.setValue(nil, forKey: "city")
        try container.viewContext.save()
        try desk.close(container)
        container = try desk.open(next)
        #expect(try count("city == nil", container.viewContext) == 301)
    }

    /// Default values are not part of a model's version: the file has those at the time of the migration.
    @Test(arguments: ["Lima", nil]) func batchesHaveTheDefaultOfTheModel(value: String?) throws {
        try desk.make(team([attribute("name")])) { desk.insert("Team", ["name": "old"], $0) }
        try desk.close(try desk.open(team([attribute("name"), attribute("city", value: "Montevideo")])))
        let container = try desk.open(team([attribute("name"), attribute("city", value: value)]))
        let rows = (0..<100).map { ["name": "new \($0)"] }
        _ = try container.viewContext.execute(NSBatchInsertRequest(entityName: "Team", objects: rows))
        #expect(try count("city == 'Montevideo'", container.viewContext) == 1)
        #expect(try count(value.map { "city == '\($0)'" } ?? "city == nil", container.viewContext) == 100)
    }

    // MARK: Entities that share a table

    @Test func attributesMovedToASubentityAreRemovedFromOtherRows() throws {
        try desk.make(animals([], dog: [])) { context in
            for (number, name) in ["Animal", "Cat", "Dog"].enumerated() { desk.insert(name, ["tag": number], context) }
        }
        try desk.close(try desk.open(animals([attribute("home", value: "here")], dog: [])))
        #expect(try sql("SELECT ZHOME FROM ZANIMAL ORDER BY ZTAG") == ["here", "here", "here"])
        let down = animals([], dog: [attribute("home", value: "here")])
        var container = try desk.open(down)
        #expect(try sql("SELECT ZHOME FROM ZANIMAL ORDER BY ZTAG") == ["NULL", "NULL", "here"])
        #expect(try sql("SELECT sql FROM sqlite_master WHERE name = 'ZANIMAL'")[0].contains("DEFAULT"), "altered")
        for number in 0..<300 { desk.insert("Cat", ["tag": 10 + number], container.viewContext) }
        try container.viewContext.save()
        _ = try container.viewContext.execute(
            NSBatchInsertRequest(entityName: "Cat", objects: (0..<40).map { ["tag": 1000 + $0] }))
        #expect(try sql("SELECT COUNT(*) FROM ZANIMAL WHERE ZHOME IS NOT NULL") == ["1"])
        try desk.close(container)
        try expectSound(down)
        let up = animals([attribute("home")], dog: [])
        container = try desk.open(up)
        #expect(try count("home != nil", container.viewContext, "Animal") == 1)
        try desk.close(container)
        try expectSound(up)
    }

    @Test func aSubentitysDefaultIsInItsRowsOnly() throws {
        try desk.make(animals([], dog: [])) { context in
            for (number, name) in ["Animal", "Cat", "Dog"].enumerated() { desk.insert(name, ["tag": number], context) }
        }
        let next = animals([], dog: [attribute("legs", .integer16AttributeType, value: 4)])
        try desk.close(try desk.open(next))
        #expect(try sql("SELECT ZLEGS FROM ZANIMAL ORDER BY ZTAG") == ["NULL", "NULL", "4"])
        try expectSound(next)
        // The attribute moves to the parent entity, with another default for objects that did not have it.
        let up = animals([attribute("legs", .integer16AttributeType, value: 2, optional: false)], dog: [])
        try desk.close(try desk.open(up))
        #expect(try sql("SELECT ZLEGS FROM ZANIMAL ORDER BY ZTAG") == ["2", "2", "4"])
        try expectSound(up)
    }

    // MARK: Contents of other programs

    @Test func objectsOfOtherProgramsAreKept() throws {
        try desk.make(team([attribute("name"), attribute("city"), attribute("land")])) { context in
            for number in 0..<3 { desk.insert("Team", ["name": "Team \(number)", "city": "City \(number)"], context) }
        }
        for statement in [
            "CREATE VIEW THEIRS AS SELECT ZNAME AS n FROM ZTEAM", "CREATE VIEW BROKEN AS SELECT absent FROM nowhere",
            "CREATE INDEX MINE ON ZTEAM (ZNAME)", "CREATE TABLE NOTES (t VARCHAR)",
            "CREATE TRIGGER NOTED AFTER INSERT ON ZTEAM BEGIN INSERT INTO NOTES VALUES (NEW.Z_PK); END",
            "ALTER TABLE ZTEAM ADD COLUMN THEIR VARCHAR DEFAULT 'theirs'",
        ] { _ = try sql(statement) }
        let next = team([
            attribute("name"), attribute("town", was: "city"), attribute("land"), attribute("x", value: "y"),
        ])
        let container = try desk.open(next)
        #expect(try count("town BEGINSWITH 'City' AND x == 'y'", container.viewContext) == 3)
        desk.insert("Team", ["name": "new"], container.viewContext)
        try container.viewContext.save()
        #expect(try sql("SELECT COUNT(*) FROM NOTES") == ["1"])
        #expect(try sql("SELECT n FROM THEIRS ORDER BY n") == ["Team 0", "Team 1", "Team 2", "new"])
        #expect(try sql("SELECT DISTINCT THEIR FROM ZTEAM") == ["theirs"])
        #expect(
            try sql("SELECT name FROM sqlite_master WHERE name IN ('THEIRS', 'BROKEN', 'MINE', 'NOTED') ORDER BY 1")
                == [
                    "BROKEN", "MINE", "NOTED", "THEIRS",
                ])
    }

    /// A column with the new name in other case; an additional constraint in the definition; an index of a dropped
    /// column.
    @Test(arguments: [
        "ALTER TABLE ZTEAM ADD COLUMN zTown VARCHAR",
        "ALTER TABLE ZTEAM ADD COLUMN THEIR VARCHAR CHECK (THEIR <> ZCITY)",
        "CREATE INDEX MINE ON ZTEAM (ZLAND, ZNAME)",
    ])
    func conflictingSchemasAreMigratedByCopying(statement: String) throws {
        try desk.make(team([attribute("name"), attribute("city"), attribute("land")])) { context in
            for number in 0..<3 { desk.insert("Team", ["name": "Team \(number)", "city": "City \(number)"], context) }
        }
        _ = try sql(statement)
        let next = team([attribute("name"), attribute("town", was: "city"), attribute("x", value: "y")])
        let container = try desk.open(next)
        #expect(try count("town BEGINSWITH 'City' AND x == 'y'", container.viewContext) == 3)
        try desk.close(container)
        try expectSound(next)
    }

    // MARK: Missing and repeated values

    @Test func valuesThatMustBecomeUniqueAreReported() throws {
        let first = team([attribute("name"), attribute("code")], unique: ["code"])
        try desk.make(first) { context in
            for number in 0..<3 { desk.insert("Team", ["name": "Team \(number)"], context) }
        }
        let before = try Data(contentsOf: desk.url)
        let required = team([attribute("name"), attribute("code", value: "none", optional: false)], unique: ["code"])
        let more = team(
            [attribute("name"), attribute("code"), attribute("seal", value: "s")], unique: ["code", "seal"])
        for model in [required, more] {
            let error = #expect(throws: CocoaError.self) { try desk.open(model) }
            #expect(error?.code.rawValue == 134_110)
            #expect(error?.localizedDescription.contains("unique") == true)
            #expect(try Data(contentsOf: desk.url) == before)
        }
    }

    @Test func missingValuesAreFilled() throws {
        try desk.make(team([attribute("name"), attribute("code")])) { context in
            for number in 0..<3 { desk.insert("Team", number == 0 ? ["code": "c"] : ["name": "n"], context) }
        }
        let next = team([attribute("name"), attribute("key", value: "k", was: "code", optional: false)])
        let container = try desk.open(next)
        #expect(try count("key == 'k'", container.viewContext) == 2)
        #expect(try count("key == 'c'", container.viewContext) == 1)
        try desk.close(container)
        let last = team([
            attribute("name"), attribute("key", value: "k", optional: false),
            attribute("odd", value: "zero\0 within"), attribute("long", value: String(repeating: "long ", count: 400)),
        ])
        let odd = try desk.open(last)
        for found in try desk.all("Team", odd.viewContext, by: "key") {
            #expect(found.value(forKey: "odd") as? String == "zero\0 within")
            #expect((found.value(forKey: "long") as? String)?.count == 2000)
        }
        try desk.close(odd)
        try expectSound(last)
    }
}
