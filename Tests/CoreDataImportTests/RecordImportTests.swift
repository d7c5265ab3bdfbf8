import CoreData
import CoreDataImport
import Foundation
import Synchronization
import Testing

/// Imports records of a web service into a graph of objects, as defined by the model's user info.
@MainActor @Suite struct RecordImportTests {
    private let world: ImportWorld

    init() throws { world = try ImportWorld() }

    private func person(_ id: Int) throws -> NSManagedObject {
        try #require(try world.all("Person", by: "personID").first { $0.value(forKey: "personID") as? Int == id })
    }

    private func date(_ text: String) throws -> Date { try #require(ImportValue.string(text).date) }

    // MARK: Names and formats

    @Test func keysAndDatesFollowTheModel() throws {
        let result = try world.take(
            """
            [{"id": 1, "full_name": "Ada", "residence": {"city": "London"}, "born": "10.12.1815", "seen": 86400,
              "joined": "2020-02-01T10:30:00Z", "score": 12.345678901234567890123, "active": true, "ignored": [1]},
             {"id": 2, "names": {"full": "Bob"}, "name": "not this", "residence": null, "level": 7, "seen": "0.5"}]
            """)
        #expect(result.outcomes == [.inserted, .inserted])
        let ada = try person(1)
        #expect(ada.value(forKey: "name") as? String == "Ada")
        #expect(ada.value(forKey: "city") as? String == "London")
        #expect(ada.value(forKey: "born") as? Date == (try date("1815-12-10")))
        #expect(ada.value(forKey: "seen") as? Date == Date(timeIntervalSince1970: 86_400))
        #expect(ada.value(forKey: "joined") as? Date == (try date("2020-02-01T10:30:00Z")))
        #expect(ada.value(forKey: "active") as? Bool == true)
        #expect(ada.value(forKey: "level") as? Int == 3)
        let bob = try person(2)
        #expect(bob.value(forKey: "name") as? String == "Bob")
        #expect(bob.value(forKey: "city") == nil)
        #expect(bob.value(forKey: "level") as? Int == 7)
        #expect(bob.value(forKey: "seen") as? Date == Date(timeIntervalSince1970: 0.5))
    }

    @Test func digitsOfDecimalsAreNotLost() throws {
        let record = ImportValue.object([
            ("id", .number("1")), ("score", .number("12345678901234567890.123456789012345")),
        ])
        try RecordImporter(context: world.context).importRecords([record], into: "Person")
        let score = try person(1).value(forKey: "score") as? NSDecimalNumber
        #expect(score?.description(withLocale: nil) == "12345678901234567890.123456789012345")
    }

    @Test func missingKeysKeepValuesAndNullRemovesThem() throws {
        try world.take(#"[{"id": 1, "full_name": "Ada", "active": true, "company": {"name": "Engines"}}]"#)
        try world.context.save()
        #expect(try world.take(#"[{"id": 1}]"#).outcomes == [.unchanged])
        #expect(!world.context.hasChanges)
        #expect(try world.take(#"[{"id": 1, "full_name": null, "company": null}]"#).outcomes == [.updated])
        let ada = try person(1)
        #expect(ada.value(forKey: "name") == nil && ada.value(forKey: "employer") == nil)
        #expect(ada.value(forKey: "active") as? Bool == true)
    }

    @Test func missingValuesGetTheDefault() throws {
        try world.take(#"[{"id": 1, "level": 9}]"#)
        #expect(try world.take(#"[{"id": 1}]"#).outcomes == [.updated])
        #expect(try person(1).value(forKey: "level") as? Int == 3)
    }

    // MARK: Create or update

    @Test func oneKeyIsOneObject() throws {
        try world.take(#"[{"id": 1, "full_name": "Ada"}, {"id": 2, "full_name": "Bob"}]"#)
        try world.context.save()
        let result = try world.take(
            #"[{"id": 2, "full_name": "Robert"}, {"id": 3}, {"id": 1, "full_name": "Ada"}, {"id": 3, "full_name": "Cy"}]"#
        )
        #expect(result.outcomes == [.updated, .inserted, .unchanged, .updated])
        #expect(result.objects[1] === result.objects[3])
        #expect(
            try world.all("Person", by: "personID").map { $0.value(forKey: "name") as? String } == [
                "Ada", "Robert", "Cy",
            ])
        #expect(result.count(.updated) == 2)
    }

    @Test func aKeyMayHaveSeveralAttributes() throws {
        try world.take(
            #"[{"code": "A", "year": 1, "price": 1}, {"code": "A", "year": 2, "price": 2}, {"code": "B", "year": 1, "price": 3}]"#,
            into: "Trip")
        try world.context.save()
        let result = try world.take(
            #"[{"code": "A", "year": 2, "price": 5}, {"code": "B", "year": 2, "price": 6}]"#, into: "Trip")
        #expect(result.outcomes == [.updated, .inserted])
        #expect(try world.all("Trip", by: "price").map { $0.value(forKey: "price") as? Double } == [1, 3, 5, 6])
    }

    @Test func aBatchLooksUpOnceForEachEntity() throws {
        try world.take(#"[{"id": 1, "company": {"name": "X"}}]"#)
        try world.context.save()
        // Unsaved objects are found as well, without a query for each.
        var records: [[String: Any]] = []
        for id in 0..<2_000 {
            records.append([
                "id": id, "company": ["name": "C\(id % 7)"], "friend_ids": [(id + 1) % 2_000, (id + 5) % 2_000],
            ])
        }
        let importer = RecordImporter(context: world.context)
        #expect(try importer.importRecords(records, into: "Person").count(.inserted) == 1_999)
        #expect(try importer.importRecords(records, into: "Person").count(.unchanged) == 2_000)
        #expect(try world.all("Company", by: "name").count == 8)
        #expect(try (person(3).value(forKey: "friends") as? Set<NSManagedObject>)?.count == 2)
    }

    // MARK: Relationships

    @Test func relationshipsTakeRecordsKeysAndLists() throws {
        try world.take(
            """
            [{"id": 1, "company": {"name": "Engines", "ticker": "ENG"}, "friend_ids": [2, {"id": 3, "full_name": "Cy"}]},
             {"id": 2, "company": "Engines", "formerEmployer": "ENG", "friend_ids": []}]
            """)
        let engines = try #require(try world.all("Company", by: "name").first)
        #expect(engines.value(forKey: "ticker") as? String == "ENG")
        #expect((engines.value(forKey: "staff") as? Set<NSManagedObject>)?.count == 2)
        #expect(try person(2).value(forKey: "formerEmployer") as? NSManagedObject === engines)
        let friends = try #require(try person(1).value(forKey: "friends") as? Set<NSManagedObject>)
        #expect(Set(friends.compactMap { $0.value(forKey: "personID") as? Int }) == [2, 3])
        try world.take(#"[{"id": 1, "friend_ids": [3]}]"#)
        #expect(try (person(1).value(forKey: "friends") as? Set<NSManagedObject>)?.count == 1)
        #expect(try world.all("Person", by: "personID").count == 3)
    }

    @Test func partsAreUpdatedOrReplacedNotAccumulated() throws {
        try world.take(#"[{"id": 1, "home": {"street": "A"}, "addresses": [{"street": "B"}, {"street": "C"}]}]"#)
        try world.context.save()
        let home = try person(1).value(forKey: "home") as? NSManagedObject
        let result = try world.take(#"[{"id": 1, "home": {"street": "D"}, "addresses": [{"street": "E"}]}]"#)
        #expect(result.outcomes == [.updated])
        #expect(try person(1).value(forKey: "home") as? NSManagedObject === home)
        try world.context.save()
        #expect(try world.all("Address", by: "street").map { $0.value(forKey: "street") as? String } == ["D", "E"])
    }

    @Test func missingDestinationsAreRefusedCreatedOrIgnored() throws {
        let json = #"[{"id": 1}, {"id": 2, "company": "Nowhere"}]"#
        let error = #expect(throws: RecordImportError.self) { try world.take(json) }
        #expect(error?.record == 1 && error?.keyPath == "employer" && error?.value == .string("Nowhere"))
        #expect(
            error?.localizedDescription
                == "record 2: employer: “Nowhere” not found: no Company has this name")
        #expect((error as NSError?)?.code == CocoaError.Code.managedObjectValidation.rawValue)
        world.context.rollback()
        try world.take(json) { $0.missingDestinations = .ignored }
        #expect(try person(2).value(forKey: "employer") == nil)
        try world.take(json) { $0.missingDestinations = .created }
        #expect(try person(2).value(forKeyPath: "employer.name") as? String == "Nowhere")
    }

    // MARK: Hooks

    @Test func hooksFilterRecordsAndCompleteObjects() throws {
        try world.take(#"[{"id": 1, "full_name": "Ada"}]"#)
        var asked: [Bool] = []
        var told: [String] = []
        let result = try world.take(
            #"[{"id": 1, "full_name": "no"}, {"id": 2, "full_name": "Bob", "company": {"name": "X"}}, {"id": 3}]"#
        ) { importer in
            importer.shouldImport = { record, object in
                asked.append(object != nil)
                guard case .object(let fields) = record else { return false }
                return !fields.contains { $0.key == "full_name" && $0.value == .string("no") }
            }
            importer.didImport = { object, _ in
                told.append("\(object.entity.name ?? "") \(object.value(forKey: "name") ?? "-")")
                if object.entity.name == "Person" { object.setValue(true, forKey: "active") }
            }
        }
        #expect(result.outcomes == [.skipped, .inserted, .inserted] && result.objects[0] == nil)
        #expect(asked == [true, false, false, false])
        #expect(told.sorted() == ["Company X", "Person -", "Person Bob"])
        #expect(try person(1).value(forKey: "name") as? String == "Ada" && person(1).value(forKey: "active") == nil)
        #expect(try person(2).value(forKey: "active") as? Bool == true)
    }

    // MARK: Invalid values

    @Test(arguments: [
        (#"[{"id": "x"}]"#, "record 1: personID: “x” is not a whole number"),
        (
            #"[{"id": 1, "level": 40000}]"#,
            "record 1: level: 40000 is out of range: Integer 16 must be -32768 to 32767"
        ),
        (#"[{"id": 1}, {"id": 2, "full_name": 5}]"#, "record 2: name: 5 is not a text"),
        (#"[{"id": 1, "born": "1815-12-10"}]"#, "record 1: born: “1815-12-10” is not a date of the form dd.MM.yyyy"),
        (#"[{"id": 1, "active": "perhaps"}]"#, "record 1: active: “perhaps” is not true or false"),
        (#"[{"id": 1, "company": {"name": 7}}]"#, "record 1: employer.name: 7 is not a text"),
        (#"[{"id": 1, "company": ["a"]}]"#, "record 1: employer: a list is not a Company"),
        (#"[{"id": 1, "home": 5}]"#, "record 1: home: 5 cannot be found: Address has no unique key"),
        (#"[{"id": 1, "friend_ids": 2}]"#, "record 1: friends: 2 is not a list"),
        (#"[{"id": 1, "friend_ids": [[2]]}]"#, "record 1: friends: a list is not a Person"),
    ]) func theErrorContainsRecordKeyValueAndReason(json: String, message: String) throws {
        let error = #expect(throws: RecordImportError.self) { try world.take(json) }
        #expect(error?.localizedDescription.hasPrefix(message) == true, "\(error?.localizedDescription ?? "")")
        world.context.rollback()
        #expect(try world.all("Person", by: "personID").isEmpty)
    }

    @Test func unknownKeysAreRefusedOnRequest() throws {
        let error = #expect(throws: RecordImportError.self) {
            try world.take(#"[{"id": 1, "Active": true}]"#) { $0.refusesUnknownKeys = true }
        }
        #expect(error?.reason == "Person has no property “Active”; did you mean active?")
    }

    @Test func deepNestingIsAnErrorNotATrap() throws {
        var record = ImportValue.object([("id", .number("0"))])
        for _ in 0..<400 { record = .object([("id", .number("1")), ("friend_ids", .array([record]))]) }
        let error = #expect(throws: RecordImportError.self) {
            try RecordImporter(context: world.context).importRecords([record], into: "Person")
        }
        #expect(error?.reason == "is nested deeper than 256 levels")
    }

    @Test func swiftValuesBecomeImportValues() throws {
        let uuid = UUID()
        let record: [String: Any] = [
            "a": Date(timeIntervalSinceReferenceDate: 0.25), "b": uuid, "c": [true, 1, 2.5, NSNull()],
            "d": NSNumber(value: true), "e": Data([1, 2]), "f": Decimal(string: "1.10") ?? 0, "g": NSNumber(value: 1),
        ]
        let members: [(key: String, value: ImportValue)] = [
            ("a", .string("2001-01-01T00:00:00.25Z")), ("b", .string(uuid.uuidString)),
            ("c", .array([.bool(true), .number("1"), .number("2.5"), .null])), ("d", .bool(true)),
            ("e", .string("AQI=")), ("f", .number("1.1")), ("g", .number("1")),
        ]
        #expect(ImportValue(record) == .object(members))
        #expect(ImportValue(["x": NSObject()]) == nil)
    }

    @Test func oneObjectIsUpdatedFromARecord() throws {
        try world.take(#"[{"id": 1, "full_name": "Ada"}]"#)
        let ada = try person(1)
        let importer = RecordImporter(context: world.context, usesMappedNames: false)
        #expect(try importer.update(ada, from: .object([("name", .string("Countess")), ("home", .object([]))])))
        #expect(ada.value(forKey: "name") as? String == "Countess" && ada.value(forKey: "home") != nil)
        #expect(try !importer.update(ada, from: .object([("name", .string("Countess"))])))
    }

    // MARK: Exact sums

    @Test(arguments: [
        ("Trip", "price", ImportValue.number("1e999"), "out of range"),
        ("Trip", "price", .string("nan"), "not a number"), ("Trip", "price", .string("-Infinity"), "not a number"),
        ("Trip", "price", .string("0x1p3"), "not a number"), ("Person", "seen", .string("nan"), "not a date"),
        ("Person", "seen", .number("1e999"), "not a date"),
        ("Person", "score", .number("123456789012345678901234567890123456789.5"), "38 digits"),
        ("Person", "score", .number("1e300"), "38 digits"),
    ])
    func numbersOutOfRangeAreRefused(
        _ entity: String, _ key: String, _ value: ImportValue, _ reason: String
    ) throws {
        let error = #expect(throws: (any Error).self) {
            try RecordImporter(context: world.context).importRecords([.object([(key, value)])], into: entity)
        }
        let text = error?.localizedDescription ?? ""
        #expect(text.contains(reason), "\(text)")
    }

    @Test func decimalsThatFitAreAccepted() throws {
        for text in ["0", "-0.00", "1E3", "00012.3400", "99999999999999999999999999999999999999", "1e-100", "+5"] {
            let record = ImportValue.object([("id", .number("1")), ("score", .string(text))])
            try RecordImporter(context: world.context).importRecords([record], into: "Person")
            #expect(try person(1).value(forKey: "score") as? NSDecimalNumber == NSDecimalNumber(string: text))
        }
    }

    @Test func canonicallyEqualTextsAreStillUpdated() throws {
        try world.take(#"[{"id": 1, "full_name": "e\u0301"}]"#)
        try world.context.save()
        #expect(try world.take(#"[{"id": 1, "full_name": "\u00e9"}]"#).outcomes == [.updated])
        let name = try person(1).value(forKey: "name") as? String
        #expect(name.map { Array($0.utf8) } == [0xc3, 0xa9])
    }

    @Test func aRemovedPartIsDeleted() throws {
        try world.take(#"[{"id": 1, "home": {"street": "High Street"}, "company": {"name": "Engines"}}]"#)
        try world.context.save()
        #expect(try world.take(#"[{"id": 1, "home": null, "company": null}]"#).outcomes == [.updated])
        try world.context.save()
        #expect(try world.all("Address", by: "street").isEmpty)
        #expect(try world.all("Company", by: "name").count == 1)
    }

    @Test func keysOfSeveralAttributesReadNothingElse() throws {
        let world = try ImportWorld(type: NSSQLiteStoreType)
        func trips(_ range: [(Int, Int)], price: Int) -> String {
            let trips = range.map { #"{"code": "c\#($0.0)", "year": \#($0.1), "price": \#(price)}"# }
            return "[\(trips.joined(separator: ","))]"
        }
        try world.take(trips((0..<30).flatMap { code in (0..<30).map { (code, $0) } }, price: 1), into: "Trip")
        try world.context.save()
        world.context.reset()
        let rows = Mutex(0)
        let observation = StatementObservation { statement in
            if statement.sql.contains("FROM ZTRIP") { rows.withLock { $0 += statement.rows } }
        }
        let result = try world.take(trips((0..<30).map { ($0, $0) }, price: 2), into: "Trip")
        withExtendedLifetime(observation) {}
        #expect(result.outcomes == Array(repeating: .updated, count: 30))
        #expect(rows.withLock { $0 } == 30)
    }
}
