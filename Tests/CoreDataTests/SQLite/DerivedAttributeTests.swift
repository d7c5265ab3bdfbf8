import Foundation
import SQLiteAccess
import TestSupport
import Testing

@testable import CoreData

#if PostgreSQL
    import PostgreSQLCluster
#endif

/// Derived attributes have the correct value after every save: in objects, in queries and in the file.
@Suite struct DerivedAttributeTests {
    // MARK: The model

    private static func derived(_ name: String, _ type: NSAttributeType, _ expression: String) -> NSPropertyDescription
    {
        let attribute = NSDerivedAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = false
        attribute.derivationExpression = NSExpression(format: expression)
        return attribute
    }

    private static func relate(
        _ one: NSEntityDescription, _ name: String, many: Bool, _ other: NSEntityDescription, _ back: String,
        backMany: Bool
    ) {
        let there = StoreModels.relationship(name, toMany: many)
        let here = StoreModels.relationship(back, toMany: backMany)
        one.properties.append(there)
        other.properties.append(here)
        StoreModels.connect(there, to: other, inverse: here)
        StoreModels.connect(here, to: one, inverse: there)
    }

    /// Firm (staff → Person, tags ⇄ Tag, city → City), Person with subentity Manager; each with attributes of every
    /// form.
    ///
    /// - Parameter colleagues: true to count the persons of the same firm, which costs a step for each.
    static func model(colleagues: Bool = true) -> NSManagedObjectModel {
        let attribute = StoreModels.attribute
        let city = StoreModels.entity("City", [attribute("name", .stringAttributeType)])
        let tag = StoreModels.entity("Tag", [attribute("weight", .integer32AttributeType)])
        let firm = StoreModels.entity(
            "Firm",
            [
                attribute("name", .stringAttributeType), derived("staffCount", .integer32AttributeType, "staff.@count"),
                derived("pay", .doubleAttributeType, "staff.salary.@sum"),
                derived("bonuses", .decimalAttributeType, "sum:(staff.bonus)"),
                derived("tagCount", .integer16AttributeType, "count:(tags)"),
                derived("weight", .integer64AttributeType, "tags.weight.@sum"),
            ])
        let manager = StoreModels.entity("Manager", [derived("quiet", .stringAttributeType, "lowercase:(name)")])
        let person = StoreModels.entity(
            "Person",
            [
                attribute("name", .stringAttributeType), attribute("salary", .doubleAttributeType),
                attribute("bonus", .decimalAttributeType), derived("loud", .stringAttributeType, "uppercase:(name)"),
                derived("plain", .stringAttributeType, "canonical:(name)"),
                derived("firmName", .stringAttributeType, "firm.name"),
                derived("firmPlain", .stringAttributeType, "canonical:(firm.name)"),
                derived("cityName", .stringAttributeType, "firm.city.name"),
                derived("colleagues", .integer32AttributeType, "firm.staff.@count"),
                derived("changed", .dateAttributeType, "now()"),
            ], subentities: [manager])
        if !colleagues { person.properties.removeAll { $0.name == "colleagues" } }
        relate(firm, "staff", many: true, person, "firm", backMany: false)
        relate(firm, "tags", many: true, tag, "firms", backMany: true)
        relate(city, "firms", many: true, firm, "city", backMany: false)
        return StoreModels.model([city, tag, firm, person, manager])
    }

    // MARK: Expected values

    private static func expected(_ object: NSManagedObject) -> [String: NSObject] {
        func text(_ path: String) -> String? { object.value(forKeyPath: path) as? String }
        func objects(_ path: String) -> [NSManagedObject] {
            (object.value(forKeyPath: path) as? NSSet)?.allObjects as? [NSManagedObject] ?? []
        }
        func canonical(_ text: String?) -> String? {
            guard let text, case .text(let result) = TextFunction.canonical.apply(to: text) else { return nil }
            return result
        }
        var values: [String: Any?] = [:]
        switch object.entity.name {
        case "Firm":
            let staff = objects("staff")
            values["staffCount"] = staff.count
            values["pay"] = staff.sorted { ObjectOrdering.compare($0.objectID, $1.objectID) == .orderedAscending }
                .reduce(0.0) { $0 + ($1.value(forKey: "salary") as? Double ?? 0) }
            values["bonuses"] = NSDecimalNumber(
                decimal: staff.reduce(Decimal(0)) {
                    $0 + (($1.value(forKey: "bonus") as? NSDecimalNumber)?.decimalValue ?? 0)
                })
            values["tagCount"] = objects("tags").count
            values["weight"] = objects("tags").reduce(0) { $0 + ($1.value(forKey: "weight") as? Int ?? 0) }
        case "Person", "Manager":
            values["loud"] = text("name")?.uppercased()
            values["plain"] = canonical(text("name"))
            values["firmName"] = text("firm.name")
            values["firmPlain"] = canonical(text("firm.name"))
            values["cityName"] = text("firm.city.name")
            values["colleagues"] = objects("firm.staff").count
            if object.entity.name == "Manager" { values["quiet"] = text("name")?.lowercased() }
        default: break
        }
        return values.compactMapValues { $0 as? NSObject }
    }

    private static func actual(_ object: NSManagedObject) -> [String: NSObject] {
        var values: [String: NSObject] = [:]
        for (name, attribute) in object.entity.attributesByName where attribute is NSDerivedAttributeDescription {
            if name != "changed", let value = object.value(forKey: name) as? NSObject { values[name] = value }
        }
        return values
    }

    private func check(_ context: NSManagedObjectContext, _ note: String) throws {
        for entity in ["Firm", "Person"] {
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)) {
                let (expected, actual) = (Self.expected(object), Self.actual(object))
                #expect(actual == expected, "\(note): \(object.objectID)")
            }
        }
    }

    // MARK: Tests

    /// The triggers for related rows and for the row itself must not count it twice.
    @Test func aRowThatIsBehindItselfIsCountedOnce() throws {
        let person = StoreModels.entity(
            "Person",
            [
                StoreModels.attribute("pay", .integer32AttributeType),
                Self.derived("count", .integer32AttributeType, "reports.@count"),
                Self.derived("sum", .integer64AttributeType, "reports.pay.@sum"),
            ])
        Self.relate(person, "reports", many: true, person, "boss", backMany: false)
        let context = try ClubStack(model: StoreModels.model([person])).context()
        try context.performAndWait {
            let people = (1...3).map { number in
                let made = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
                made.setValue(number, forKey: "pay")
                return made
            }
            func values() throws -> [[Int?]] {
                try context.save()
                context.refreshAllObjects()
                return people.map { person in
                    ["count", "sum"].map { person.value(forKey: $0) as? Int }
                }
            }
            people[0].setValue(people[0], forKey: "boss")
            people[1].setValue(people[0], forKey: "boss")
            #expect(try values() == [[2, 3], [0, 0], [0, 0]])
            people[0].setValue(people[2], forKey: "boss")
            people[2].setValue(people[2], forKey: "boss")
            #expect(try values() == [[1, 2], [0, 0], [2, 4]])
            people[0].setValue(people[0], forKey: "boss")
            context.delete(people[2])
            try context.save()
            context.refreshAllObjects()
            #expect(people[0].value(forKey: "count") as? Int == 2 && people[0].value(forKey: "sum") as? Int == 3)
        }
    }

    /// Inserts so many rows at once that their triggers run for each.
    @Test func manyNewRowsHaveTheirValues() throws {
        let word = StoreModels.entity(
            "Word",
            [
                StoreModels.attribute("name", .stringAttributeType),
                Self.derived("loud", .stringAttributeType, "uppercase:(name)"),
            ])
        let context = try ClubStack(model: StoreModels.model([word])).context()
        try context.performAndWait {
            let words = (0..<300).map { number in
                let word = NSEntityDescription.insertNewObject(forEntityName: "Word", into: context)
                word.setValue("word \(number)", forKey: "name")
                return word
            }
            try context.save()
            #expect(words.map { $0.value(forKey: "loud") as? String } == (0..<300).map { "WORD \($0)" })
            let request = NSFetchRequest<NSManagedObject>(entityName: "Word")
            request.predicate = NSPredicate(format: "loud == uppercase:(name)")
            #expect(try context.count(for: request) == 300)
        }
    }

    @Test func valuesAreThereAfterTheSave() throws {
        let stack = try ClubStack(model: Self.model())
        let context = stack.context()
        try context.performAndWait {
            let before = Date()
            let city = NSEntityDescription.insertNewObject(forEntityName: "City", into: context)
            city.setValue("Accra", forKey: "name")
            let firm = NSEntityDescription.insertNewObject(forEntityName: "Firm", into: context)
            firm.setValue("Café Zoë", forKey: "name")
            firm.setValue(city, forKey: "city")
            let people = ["Ängström", "bo"].map { name in
                let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
                person.setValue(name, forKey: "name")
                person.setValue(firm, forKey: "firm")
                person.setValue(NSDecimalNumber(string: "0.1"), forKey: "bonus")
                return person
            }
            try context.save()
            #expect(!context.hasChanges)
            #expect(firm.value(forKey: "staffCount") as? Int == 2)
            #expect(firm.value(forKey: "bonuses") as? NSDecimalNumber == NSDecimalNumber(string: "0.2"))
            #expect(people[0].value(forKey: "loud") as? String == "ÄNGSTRÖM")
            #expect(people[0].value(forKey: "cityName") as? String == "Accra")
            let changed = try #require(people[0].value(forKey: "changed") as? Date)
            #expect(changed.timeIntervalSince(before) > -0.01 && Date().timeIntervalSince(changed) > -0.01)
            try check(context, "first")
            // A change of the destination updates the objects that refer to it without writing their other values.
            city.setValue("Kumasi", forKey: "name")
            try context.save()
            #expect(people[1].value(forKey: "cityName") as? String == "Kumasi")
            people[1].setValue(nil, forKey: "firm")
            try context.save()
            #expect(firm.value(forKey: "staffCount") as? Int == 1)
            #expect(people[1].value(forKey: "firmName") == nil)
            try check(context, "last")
        }
    }

    /// Random edits for several seeds: after each save, the objects, a second context that merges, and a fresh one have
    /// the expected values.
    @Test(arguments: 1...3) func valuesStayRight(_ seed: Int) throws {
        try checkRandomEdits(ClubStack(model: Self.model()), seed)
    }

    #if PostgreSQL
        @Test(
            .needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"),
            arguments: 1...5)
        func valuesStayRightOnAServer(_ seed: Int) throws {
            try checkRandomEdits(ClubStack.onServer(model: Self.model()), seed)
        }
    #endif

    private func checkRandomEdits(_ stack: ClubStack, _ seed: Int) throws {
        let context = stack.context()
        let follower = stack.context()
        follower.automaticallyMergesChangesFromParent = true
        var numbers = SplitMix(state: UInt64(seed))
        func all(_ name: String) throws -> [NSManagedObject] {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name)).filter { !$0.isDeleted }
        }
        try follower.performAndWait { try check(follower, "empty") }
        for round in 1...12 {
            try context.performAndWait {
                for _ in 0..<Int.random(in: 1...12, using: &numbers) { try edit(context, all, &numbers) }
                try context.save()
                try check(context, "seed \(seed), round \(round), own")
            }
            try follower.performAndWait {
                try check(follower, "seed \(seed), round \(round), follower")
            }
            let fresh = stack.context()
            try fresh.performAndWait { try check(fresh, "seed \(seed), round \(round), fresh") }
        }
    }

    private func edit(
        _ context: NSManagedObjectContext, _ all: (String) throws -> [NSManagedObject], _ numbers: inout SplitMix
    ) throws {
        let entity = ["City", "Tag", "Firm", "Person", "Person", "Manager"].randomElement(using: &numbers) ?? "City"
        let existing = try all(entity)
        switch Int.random(in: 0..<10, using: &numbers) {
        case 0 where !existing.isEmpty:
            if let victim = existing.randomElement(using: &numbers) { context.delete(victim) }
        case 1...3:
            _ = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        default:
            guard let object = existing.randomElement(using: &numbers) else { return }
            let keys = object.entity.properties.filter { !($0 is NSDerivedAttributeDescription) }.map(\.name).sorted()
            for key in keys where Bool.random(using: &numbers) {
                object.setValue(try value(for: key, of: object, all, &numbers), forKey: key)
            }
        }
    }

    private func value(
        for key: String, of object: NSManagedObject, _ all: (String) throws -> [NSManagedObject],
        _ numbers: inout SplitMix
    ) throws -> Any? {
        if let relationship = object.entity.relationshipsByName[key] {
            let others = try all(relationship.destinationEntity?.name ?? "")
            if !relationship.isToMany {
                return Bool.random(using: &numbers) ? others.randomElement(using: &numbers) : nil
            }
            return NSSet(array: others.filter { _ in Bool.random(using: &numbers) })
        }
        if Int.random(in: 0..<5, using: &numbers) == 0 { return nil }
        switch key {
        case "name": return ["Zoë", "ALPHA", "straße", "b", ""].randomElement(using: &numbers)
        case "bonus":
            return NSDecimalNumber(value: Int.random(in: -99...99, using: &numbers)).multiplying(byPowerOf10: -1)
        default: return Int.random(in: -9...9, using: &numbers)
        }
    }

    private struct SplitMix: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    @Test func queriesAndListsUseTheValues() throws {
        let stack = try ClubStack(model: Self.model())
        let context = stack.context()
        try context.performAndWait {
            let firms = (0..<3).map { number in
                let firm = NSEntityDescription.insertNewObject(forEntityName: "Firm", into: context)
                firm.setValue("F\(number)", forKey: "name")
                return firm
            }
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Firm")
            request.sortDescriptors = [
                NSSortDescriptor(key: "staffCount", ascending: false), NSSortDescriptor(key: "name", ascending: true),
            ]
            let list = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            try list.performFetch()
            for number in [2, 2, 1] {
                let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
                person.setValue(firms[number], forKey: "firm")
            }
            // A value that the program sets is replaced by the derived one.
            firms[0].setValue(77, forKey: "staffCount")
            try context.save()
            #expect(firms[0].value(forKey: "staffCount") as? Int == 0)
            #expect(try context.fetch(request).map { $0.value(forKey: "name") as? String } == ["F2", "F1", "F0"])
            request.predicate = NSPredicate(format: "staffCount BETWEEN {1, 2}")
            #expect(try context.count(for: request) == 2)
            list.delegate = nil
            try list.performFetch()
            #expect(list.fetchedObjects?.map { $0.value(forKey: "name") as? String } == ["F2", "F1"])
        }
    }

    /// A list moves rows whose derived values changed by saves of others.
    @Test func listsFollowTheValues() throws {
        final class Follower: NSObject, NSFetchedResultsControllerDelegate {
            var changes = 0
            func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
                changes += 1
            }
        }
        let stack = try ClubStack(model: Self.model())
        let context = stack.context()
        try context.performAndWait {
            let firms = ["A", "B"].map { name in
                let firm = NSEntityDescription.insertNewObject(forEntityName: "Firm", into: context)
                firm.setValue(name, forKey: "name")
                return firm
            }
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Firm")
            request.sortDescriptors = [
                NSSortDescriptor(key: "staffCount", ascending: false), NSSortDescriptor(key: "name", ascending: true),
            ]
            let list = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let follower = Follower()
            list.delegate = follower
            try list.performFetch()
            #expect(list.fetchedObjects?.first === firms[0])
            NSEntityDescription.insertNewObject(forEntityName: "Person", into: context).setValue(
                firms[1], forKey: "firm")
            try context.save()
            #expect(list.fetchedObjects?.first === firms[1])
            #expect(follower.changes > 0)
        }
    }

    /// Unknown kinds of derivation are left to the triggers of the store.
    @Test func unknownDerivationsAreLeftToTheStore() throws {
        let model = Self.model()
        let harness = try StoreHarness(model)
        let first = try harness.open()
        try first.insert("Firm", ["name": .text("A")])
        try first.close()
        for row in try harness.sql("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE '%_pay_%'") {
            guard case .text(let name) = row[0] else { continue }
            _ = try harness.sql("DROP TRIGGER \(SQLName.quoted(name))")
        }
        _ = try harness.sql(
            """
            CREATE TRIGGER PAY AFTER INSERT ON ZPERSON BEGIN UPDATE ZFIRM SET ZPAY = 77; SELECT \
            NSCoreDataDATriggerUpdatedAffectedObjectValue('ZFIRM', Z_ENT, Z_PK, 'pay', ZPAY) FROM ZFIRM; END
            """)
        func pay(_ model: NSManagedObjectModel) throws -> [[SQLiteValue]] {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(type: .sqlite, at: harness.url)
            let open = StoreHarness.Open(coordinator, try #require(store as? SQLiteStore))
            let firm = RowKey(entity: UInt32(try open.entity("Firm").layout.index), reference: 1)
            try open.insert("Person", ["firm": .reference(open.store.objectID(for: firm)), "salary": .real(1)])
            try open.close()
            return try harness.sql("SELECT ZPAY FROM ZFIRM")
        }
        let changed = Self.model()
        let attribute = changed.entitiesByName["Firm"]?.attributesByName["pay"] as? NSDerivedAttributeDescription
        attribute?.derivationExpression = nil
        let unknown = try NSManagedObjectModel(
            cachedModelData: changed.cachedModelData(),
            metadata: ["NSStoreModelVersionHashes": model.entityVersionHashesByName])
        let read = unknown.entitiesByName["Firm"]?.attributesByName["pay"]
        #expect(try #require(read as? NSDerivedAttributeDescription).derivationExpression == nil)
        #expect(unknown.readingNotes.contains { $0.contains("Firm.pay") }, "\(unknown.readingNotes)")
        #expect(try pay(unknown) == [[.real(77)]])
        #expect(try pay(model) == [[.real(2)]])
        #expect { try StoreHarness(unknown).open() } throws: { code($0) == 134060 && message($0).contains("pay") }
    }

    @Test func theHistoryNamesTheRowsToo() throws {
        let harness = try StoreHarness(Self.model())
        let open = try harness.open(StoreHarness.history)
        let firm = try open.insert("Firm", ["name": .text("A")])
        let before = try #require(try open.store.lastHistoryNumber())
        try open.insert("Person", ["firm": .reference(firm)])
        let changes = try open.store.history(after: before).flatMap(\.changes)
        let update = try #require(changes.first { $0.kind == .update })
        #expect(open.store.objectID(for: update.key) == firm)
        #expect(update.changedProperties.contains("staffCount"))
        #expect(!update.changedProperties.contains("name"))
    }

    @Test(arguments: [
        ("staff.@sum.salary", "must be at the end"), ("staff.@avg", "only @count and @sum"),
        ("staff.salary", "needs @count or @sum"),
        ("nothing.name", "has no value at the key path"), ("name + name", "not a key path"),
        ("tags.firms.@count", "exactly one to-many"),
        ("city", "does not end at an attribute"), ("uppercase:(staffCount)", "needs strings"),
    ]) func invalidDerivationsAreRefused(_ expression: String, _ reason: String) throws {
        let model = Self.model()
        let firm = try #require(model.entitiesByName["Firm"])
        firm.properties.append(Self.derived("extra", .stringAttributeType, expression))
        if expression.contains("@") { firm.attributesByName["extra"]?.attributeType = .integer32AttributeType }
        let harness = try StoreHarness(model)
        #expect {
            _ = try harness.open()
        } throws: {
            code($0) == 134060 && message($0).contains("Firm.extra") && message($0).contains(reason)
        }
        #expect(!FileManager.default.fileExists(atPath: harness.url.path))
    }

    /// The sums of a large save are exact and are computed in one step per row.
    @Test func manyRowsOfOneOwnerAreSummed() throws {
        let stack = try ClubStack(model: Self.model(colleagues: false))
        let context = stack.context()
        try context.performAndWait {
            let firm = NSEntityDescription.insertNewObject(forEntityName: "Firm", into: context)
            for _ in 0..<400 {
                let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
                person.setValue(NSDecimalNumber(string: "0.1"), forKey: "bonus")
                person.setValue(firm, forKey: "firm")
            }
            try context.save()
            #expect(firm.value(forKey: "bonuses") as? NSDecimalNumber == NSDecimalNumber(string: "40"))
            #expect(firm.value(forKey: "staffCount") as? Int == 400)
        }
    }
}
