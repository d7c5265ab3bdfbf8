import CoreData
import Foundation
import Testing

@testable import RosterCommands

/// Questions in SQL: views with the model's names, values as `list` shows them, and nothing but reading.
@Suite struct SQLCommandTests {
    private func answer(
        _ statement: String?, _ format: OutputFormat = .csv, in location: StoreLocation
    ) throws -> [String] {
        let surroundings = TestSurroundings()
        try SQLCommand(store: location, statement: statement, format: format).run(in: surroundings.surroundings())
        return surroundings.lines
    }

    private func failure(_ statement: String, in location: StoreLocation) throws -> CommandError {
        try #require(throws: CommandError.self) { try answer(statement, in: location) }
    }

    // MARK: The sample

    @Test func namesAreThoseOfTheModel() throws {
        let store = try SampleStore()
        let lines = try answer(
            "SELECT teamName, wins FROM Team WHERE wins > 30 ORDER BY wins DESC, teamName LIMIT 2", in: store.location)
        #expect(lines.first == "teamName,wins")
        #expect(lines.count == 3)
        #expect(
            try answer("SELECT COUNT(*) AS n FROM Team", in: store.location) == [
                "n", "\(try #require(try store.count("Team")))",
            ])
    }

    @Test func everyFormatOfListIsThere() throws {
        let store = try SampleStore()
        let statement = "SELECT 'a, b' AS text, 2 AS number, NULL AS blank, 0.5 AS half"
        #expect(try answer(statement, .csv, in: store.location) == ["text,number,blank,half", "\"a, b\",2,,0.5"])
        #expect(
            try answer(statement, .tsv, in: store.location) == ["text\tnumber\tblank\thalf", "a, b\t2\t\\N\t0.5"])
        #expect(
            try answer(statement, .json, in: store.location)
                == ["{\"text\":\"a, b\",\"number\":2,\"blank\":null,\"half\":0.5}"])
        #expect(try answer(statement, .table, in: store.location).last?.hasPrefix("a, b       2") == true)
    }

    @Test func columnsOfOneNameAreToldApart() throws {
        let store = try SampleStore()
        #expect(try answer("SELECT 1 AS a, 2 AS a", .json, in: store.location) == ["{\"a\":1,\"a2\":2}"])
    }

    @Test(arguments: [
        "DELETE FROM Team", "UPDATE ZTEAM SET ZWINS = 0", "INSERT INTO ZTEAM (Z_PK) VALUES (99)", "DROP TABLE ZTEAM",
        "CREATE TABLE x (a)", "CREATE TEMP TABLE x (a)", "ATTACH '/tmp/x.db' AS x", "PRAGMA journal_mode = DELETE",
        "PRAGMA user_version = 3", "PRAGMA query_only = 0", "PRAGMA writable_schema = 1", "VACUUM",
        "VACUUM INTO '/tmp/x.db'", "BEGIN IMMEDIATE", "SELECT load_extension('x')", "REINDEX", "ANALYZE",
    ])
    func onlyQuestionsAreAnswered(statement: String) throws {
        let store = try SampleStore()
        let before = try Data(contentsOf: URL(fileURLWithPath: store.location.store))
        let error = try failure(statement, in: store.location)
        #expect(error.kind == .misuse)
        #expect(!error.message.contains("\n"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: store.location.store)) == before)
    }

    @Test func errorsOfSQLSayWhatIsWrong() throws {
        let store = try SampleStore()
        #expect(try failure("SELEKT 1", in: store.location).message.contains("near \"SELEKT\": syntax error"))
        #expect(try failure("SELECT x FROM Team", in: store.location).message.contains("no such column: x"))
        // A text in double quotes is a name. SQLite alone would return the text if there is no such column.
        #expect(try failure("SELECT \"winns\" FROM Team", in: store.location).message.contains("winns"))
        #expect(try failure("SELECT 1 FROM ZTEEM", in: store.location).message.contains("; valid names: "))
        #expect(try failure("SELECT 1; SELECT 2", in: store.location).message.contains("more than one statement"))
        #expect(try failure("  -- nothing", in: store.location).message.contains("empty"))
        #expect(try failure("SELECT ?", in: store.location).message.contains("arguments"))
        #expect(try answer("SELECT 1 AS a; -- the end", in: store.location) == ["a", "1"])
    }

    @Test func anInterruptionStopsARunningStatement() throws {
        let store = try SampleStore()
        let surroundings = TestSurroundings()
        surroundings.raisesAfterLooks = 3
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT SUM(i) FROM n"
        let error = #expect(throws: CommandError.self) {
            try SQLCommand(store: store.location, statement: endless).run(in: surroundings.surroundings())
        }
        #expect(error?.message == "interrupted")
    }

    @Test func withoutAStatementTheTablesAreListed() throws {
        let store = try SampleStore()
        let lines = try answer(nil, in: store.location)
        #expect(lines.first == "table,column,contents")
        #expect(lines.contains("Team,pk,key"))
        #expect(lines.contains("Team,teamName,String"))
    }

    @Test func otherStoresSaySo() throws {
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try OddModel.model())
        try coordinator.addPersistentStore(
            type: .binary, at: URL(fileURLWithPath: folder.path("Other.plist")), options: nil)
        let error = try #require(throws: CommandError.self) { _ = try SQLAnswer.questions(of: coordinator) }
        #expect(error.kind == .misuse)
        #expect(error.message.contains("only SQLite files answer questions in SQL"))
    }

    // MARK: Every kind of value and relationship

    @Test func valuesLookAsInAList() throws {
        let store = try OddModel()
        let line = try answer(
            "SELECT isOpen, born, price, tag, link, ratio, \"place.city\" FROM Person WHERE name = 'Ada'", .json,
            in: store.location)
        #expect(
            line == [
                "{\"isOpen\":true,\"born\":\"2001-01-01\",\"price\":9.99,\"tag\":\"\(OddModel.tag.uuidString)\","
                    + "\"link\":\"https://example.com/a\",\"ratio\":0.1,\"place.city\":\"Oslo\"}"
            ])
        // A Boolean stays a number for conditions.
        #expect(try answer("SELECT name FROM Person WHERE isOpen", in: store.location) == ["name", "Ada"])
        #expect(try answer("SELECT COUNT(*) AS n FROM Person WHERE price > 5", in: store.location) == ["n", "1"])
    }

    @Test func datesCompareWithAnyTextOfADate() throws {
        let store = try OddModel()
        func names(_ condition: String) throws -> [String] {
            Array(
                try answer("SELECT name FROM Person WHERE \(condition) ORDER BY born", in: store.location).dropFirst())
        }
        #expect(try names("born IS NOT NULL") == ["Ada", "Bob", "Cleo"])
        #expect(try names("born >= '2001-01-01 00:00:01'") == ["Bob", "Cleo"])
        #expect(try names("born > '2001-01-01T00:00:01Z'") == ["Cleo"])
        #expect(try names("strftime('%Y', born) = '2001'") == ["Ada", "Bob", "Cleo"])
        #expect(
            try answer("SELECT MAX(born) AS born FROM Person", in: store.location) == [
                "born", "2001-01-01T00:00:01.5Z",
            ])
    }

    @Test func relationshipsAreKeysAndPairs() throws {
        let store = try OddModel()
        #expect(
            try answer(
                "SELECT p.name, b.name AS boss FROM Person p JOIN Person b ON b.pk = p.boss ORDER BY 1",
                in: store.location) == ["name,boss", "Bob,Ada", "Cleo,Ada"])
        #expect(
            try answer(
                """
                SELECT p.name, c.title2 AS title FROM Person p JOIN Person_clubs x ON x.source = p.pk
                JOIN Club c ON c.pk = x.destination ORDER BY 1, x.position
                """, in: store.location) == ["name,title", "Ada,Zeta", "Ada,Alpha", "Bob,Alpha"])
        #expect(
            try answer("SELECT COUNT(*) AS n FROM Club_members", in: store.location) == ["n", "3"])
    }

    @Test func subentitiesAreInTheTableOfTheirParent() throws {
        let store = try OddModel()
        #expect(
            try answer("SELECT name, entity FROM Person ORDER BY name", in: store.location)
                == ["name,entity", "Ada,Person", "Bob,Manager", "Cleo,Person"])
        #expect(
            try answer("SELECT name, \"order\" FROM Manager", in: store.location) == ["name,order", "Bob,3"])
    }

    @Test func namesThatClashAreTold() throws {
        let store = try OddModel()
        let surroundings = TestSurroundings()
        try SQLCommand(store: store.location, format: .csv).run(in: surroundings.surroundings())
        #expect(surroundings.lines.contains("Club,Title,String"))
        #expect(surroundings.lines.contains("Club,title2,String"))
        #expect(surroundings.lines.contains("Manager,\"\"\"order\"\"\",Integer 16"))
        #expect(surroundings.lines.contains("Person,\"\"\"place.city\"\"\",String"))
        #expect(surroundings.notes.contains { $0.hasPrefix("Club.title is called title2") })
    }
}

/// A store with every kind of attribute and relationship that SQL shows in another form.
private struct OddModel {
    let folder: TemporaryFolder
    let location: StoreLocation
    static let tag = UUID()

    init() throws {
        folder = try TemporaryFolder()
        let path = folder.path("Odd.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try Self.model())
        let store = try coordinator.addPersistentStore(
            type: .sqlite, at: URL(fileURLWithPath: path), options: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            func make(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                for (key, value) in values { object.setValue(value, forKey: key) }
                return object
            }
            func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }
            let ada = make(
                "Person",
                [
                    "name": "Ada", "isOpen": true, "born": date(0), "price": NSDecimalNumber(string: "9.99"),
                    "tag": Self.tag, "link": try #require(URL(string: "https://example.com/a")), "ratio": Float(0.1),
                    "place": ["city": "Oslo"],
                ])
            let bob = make("Manager", ["name": "Bob", "born": date(1), "order": 3, "boss": ada])
            _ = make("Person", ["name": "Cleo", "born": date(1.5), "isOpen": false, "boss": ada])
            let alpha = make("Club", ["title": "Alpha"])
            let zeta = make("Club", ["title": "Zeta"])
            ada.setValue(NSOrderedSet(array: [zeta, alpha]), forKey: "clubs")
            bob.setValue(NSOrderedSet(array: [alpha]), forKey: "clubs")
            try context.save()
        }
        try coordinator.remove(store)
        location = StoreLocation(store: path)
    }

    static func model() throws -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType) = (name, type)
            return attribute
        }
        func relationship(_ name: String, to entity: NSEntityDescription, many: Bool) -> NSRelationshipDescription {
            let relationship = NSRelationshipDescription()
            (relationship.name, relationship.destinationEntity) = (name, entity)
            relationship.maxCount = many ? 0 : 1
            return relationship
        }
        let (person, manager, club) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
        (person.name, manager.name, club.name) = ("Person", "Manager", "Club")
        person.subentities = [manager]
        let place = NSCompositeAttributeDescription()
        place.name = "place"
        place.elements = [attribute("city", .stringAttributeType)]
        let boss = relationship("boss", to: person, many: false)
        let staff = relationship("staff", to: person, many: true)
        (boss.inverseRelationship, staff.inverseRelationship) = (staff, boss)
        let clubs = relationship("clubs", to: club, many: true)
        clubs.isOrdered = true
        let members = relationship("members", to: person, many: true)
        (clubs.inverseRelationship, members.inverseRelationship) = (members, clubs)
        person.properties = [
            attribute("name", .stringAttributeType), attribute("isOpen", .booleanAttributeType),
            attribute("born", .dateAttributeType), attribute("price", .decimalAttributeType),
            attribute("tag", .UUIDAttributeType), attribute("link", .URIAttributeType),
            attribute("ratio", .floatAttributeType), place, boss, staff, clubs,
        ]
        manager.properties = [attribute("order", .integer16AttributeType)]
        club.properties = [
            attribute("title", .stringAttributeType), attribute("Title", .stringAttributeType), members,
        ]
        let model = NSManagedObjectModel()
        model.entities = [person, manager, club]
        return model
    }
}
