import Foundation
import StoreConformance
import Testing

@testable import CoreData

/// Memory use of a migration through the manager, which still finds the destination of each source object.
@MainActor @Suite struct MigrationMemoryTests {
    private let desk: MigrationDesk

    init() throws { desk = try MigrationDesk() }

    /// Letters in bags; the second version has a note, which a policy writes.
    private static func model(_ version: Int) -> NSManagedObjectModel {
        let letter = MigrationDesk.entity(
            "Letter",
            [
                MigrationDesk.attribute("text"), MigrationDesk.attribute("number", .integer64AttributeType),
                MigrationDesk.attribute("sent", .dateAttributeType),
            ])
        let bag = MigrationDesk.entity("Bag", [MigrationDesk.attribute("name")])
        if version > 1 { letter.properties.append(MigrationDesk.attribute("note")) }
        MigrationDesk.relate(bag, "letters", many: true, letter, "bag")
        return MigrationDesk.model([letter, bag])
    }

    private func fill(_ model: NSManagedObjectModel, count: Int) throws {
        try desk.make(model) { context in
            let bags = (0..<7).map { desk.insert("Bag", ["name": "bag \($0)"], context) }
            for number in 0..<count {
                desk.insert(
                    "Letter",
                    [
                        "text": "letter \(number)", "number": number, "bag": bags[number % 7],
                        "sent": Date(timeIntervalSinceReferenceDate: Double(number)),
                    ], context)
                if number % 10_000 == 9_999 { try context.save() }
            }
        }
    }

    private func mapping(_ policy: NSEntityMigrationPolicy.Type, _ models: [NSManagedObjectModel]) throws
        -> NSMappingModel
    {
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: models[0], destinationModel: models[1])
        let letter = try #require(mapping.entityMappings.first { $0.sourceEntityName == "Letter" })
        letter.mappingType = .customEntityMappingType
        letter.entityMigrationPolicyClassName = NSStringFromClass(policy)
        return mapping
    }

    @Test func neitherSideIsInMemoryAsAWhole() throws {
        let models = [Self.model(1), Self.model(2)]
        try fill(models[0], count: 3_000)
        let made = desk.folder.appendingPathComponent("Made.sqlite")
        let manager = NSMigrationManager(sourceModel: models[0], destinationModel: models[1])
        let record = LetterPolicy.Record()
        manager.userInfo = ["record": record]
        try manager.migrateStore(
            from: desk.url, type: .sqlite, mapping: mapping(LetterPolicy.self, models), to: made, type: .sqlite)
        // A block of 500, the bags, and objects of inverse relationships.
        #expect(record.created == 3_000 && record.related == 3_000)
        #expect(record.source < 600, "\(record.source)")
        #expect(record.destination < 600, "\(record.destination)")
        let container = try desk.open(models[1], at: made)
        let letters = try desk.all("Letter", container.viewContext, by: "number")
        #expect(letters.count == 3_000)
        for (number, letter) in letters.enumerated() {
            let bag = letter.value(forKey: "bag") as? NSManagedObject
            #expect(letter.value(forKey: "note") as? String == "was letter \(number)")
            #expect(bag?.value(forKey: "name") as? String == "bag \(number % 7)")
        }
        try desk.close(container)
    }

    /// Several objects of several entities for one source object, created in another order than that of the keys.
    @Test func destinationsAreFoundInAnyOrder() throws {
        let models = [Self.model(1), Self.model(2)]
        try fill(models[0], count: 1_300)
        let made = desk.folder.appendingPathComponent("Made.sqlite")
        let mapping = try mapping(ScatteringPolicy.self, models)
        for each in mapping.entityMappings {
            each.mappingType = .customEntityMappingType
            each.relationshipMappings = []
        }
        mapping.entityMappings.first { $0.sourceEntityName == "Letter" }?.sourceExpression = NSExpression(
            format:
                "FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", 'Letter', 'modulus:by:(number, 13) != 5')"
        )
        let manager = NSMigrationManager(sourceModel: models[0], destinationModel: models[1])
        let record = LetterPolicy.Record()
        manager.userInfo = ["record": record]
        try manager.migrateStore(from: desk.url, type: .sqlite, mapping: mapping, to: made, type: .sqlite)
        #expect(record.problems == [])
        #expect(record.created == 1_200)
        let container = try desk.open(models[1], at: made)
        let context = container.viewContext
        #expect(try desk.all("Letter", context, by: "number").count == 1_200 + 401)
        #expect(try desk.all("Bag", context, by: "name").count == 7 + 240)
        try desk.close(container)
    }

    /// Each row once and in the same order, whatever the block size.
    @Test(arguments: [1, 50, 999, 1_003, 5_000]) func keysAreReadInParts(least: Int) throws {
        try fill(Self.model(1), count: 1_003)
        let container = try desk.open(Self.model(1))
        let objects = MigratedObjects(context: container.viewContext)
        func pages(_ request: NSFetchRequest<NSManagedObject>) throws -> [[RowKey]] {
            var pages: [[RowKey]] = []
            try objects.forEachPage(of: request, atLeast: least) { pages.append($0) }
            return pages
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Letter")
        let found = try pages(request)
        let all = found.flatMap { $0 }
        #expect(all.count == 1_003 && Set(all).count == 1_003 && all.map(\.reference) == Array(1...1_003))
        #expect(found.count <= 17 && (least < 1_003) == (found.count > 1))
        #expect(request.fetchLimit == 0 && request.fetchOffset == 0)
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: false)]
        #expect(try pages(request).map { $0.map(\.reference) } == [Array((1...1_003).reversed())])
        request.sortDescriptors = nil
        request.fetchLimit = 20
        #expect(try pages(request).map(\.count) == [20])
        try desk.close(container)
    }

    /// A developer's store may return another order each time.
    @Test func keysOfADevelopersStoreAreReadAtOnce() throws {
        let stack = try StoreConformance(DocumentStore.type)
        try stack.inContext { context in
            for number in 0..<20 { _ = context.make("Author", named: "author \(number)") }
            try context.save()
            var pages: [[RowKey]] = []
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            try MigratedObjects(context: context).forEachPage(of: request, atLeast: 5) { pages.append($0) }
            #expect(pages.map(\.count) == [20] && Set(pages.flatMap { $0 }).count == 20)
        }
    }

    /// For manual runs: `ROSTER_MIGRATED_ROWS=100000` prints the peak memory of the process.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["ROSTER_MIGRATED_ROWS"] != nil))
    func memoryOfManyRows() throws {
        let count = ProcessInfo.processInfo.environment["ROSTER_MIGRATED_ROWS"].flatMap { Int($0) } ?? 0
        let models = [Self.model(1), Self.model(2)]
        try fill(models[0], count: count)
        try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        func status(_ key: String) throws -> String {
            let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            return text.split(separator: "\n").first { $0.hasPrefix(key) }.map(String.init) ?? ""
        }
        let before = try status("VmRSS")
        let manager = NSMigrationManager(sourceModel: models[0], destinationModel: models[1])
        try manager.migrateStore(
            from: desk.url, type: .sqlite, mapping: mapping(LetterPolicy.self, models),
            to: desk.folder.appendingPathComponent("Made.sqlite"), type: .sqlite)
        FileHandle.standardError.write(Data("\(count) rows: \(before), \(try status("VmHWM"))\n".utf8))
    }
}

/// Writes a note, and records the number of registered objects.
final class LetterPolicy: NSEntityMigrationPolicy {
    final class Record {
        var (created, related, source, destination) = (0, 0, 0, 0)
        var problems: [String] = []
    }

    private func look(_ manager: NSMigrationManager) -> Record? {
        guard let record = manager.userInfo?["record"] as? Record else { return nil }
        record.source = max(record.source, manager.sourceContext.registeredObjects.count)
        // Earlier objects stay registered for policies, as faults.
        let destination = manager.destinationContext.registeredObjects.filter { !$0.isFault }
        record.destination = max(record.destination, destination.count)
        return record
    }

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        made.first?.setValue("was \(sInstance.value(forKey: "text") ?? "")", forKey: "note")
        guard let number = sInstance.value(forKey: "number") as? Int, number % 50 == 0 else {
            (manager.userInfo?["record"] as? Record)?.created += 1
            return
        }
        look(manager)?.created += 1
    }

    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
        guard let number = dInstance.value(forKey: "number") as? Int, number % 50 == 0 else {
            (manager.userInfo?["record"] as? Record)?.related += 1
            return
        }
        look(manager)?.related += 1
    }
}

/// Creates a second letter for each third one and a bag for each fifth, and associates them in another order.
final class ScatteringPolicy: NSEntityMigrationPolicy {
    private var waiting: [(source: NSManagedObject, made: [NSManagedObject])] = []
    private var expected: [Int: [String]] = [:]

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        let number = try #require(sInstance.value(forKey: "number") as? Int)
        var made: [NSManagedObject] = []
        func make(_ entity: String, _ key: String) {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: manager.destinationContext)
            object.setValue("\(entity) \(made.count) of \(number)", forKey: key)
            made.append(object)
        }
        if number % 5 == 0 { make("Bag", "name") }
        make("Letter", "text")
        if number % 3 == 0 { make("Letter", "text") }
        waiting.append((sInstance, made))
        if waiting.count == 9 { flush(mapping, manager) }
        (manager.userInfo?["record"] as? LetterPolicy.Record)?.created += 1
    }

    private func flush(_ mapping: NSEntityMapping, _ manager: NSMigrationManager) {
        for (source, made) in waiting.reversed() {
            for object in made {
                manager.associate(sourceInstance: source, withDestinationInstance: object, for: mapping)
            }
            expected[source.value(forKey: "number") as? Int ?? -1] = made.map(text)
        }
        waiting = []
    }

    private func text(_ object: NSManagedObject) -> String {
        object.value(forKey: object.entity.name == "Bag" ? "name" : "text") as? String ?? ""
    }

    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        flush(mapping, manager)
    }

    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        let record = manager.userInfo?["record"] as? LetterPolicy.Record
        let sources = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [dInstance])
        guard sources.count == 1, let number = sources.first?.value(forKey: "number") as? Int else {
            record?.problems.append("\(sources.count) sources of \(text(dInstance))")
            return
        }
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: sources)
        if made.map(text) != expected[number] || !made.contains(dInstance) {
            record?.problems.append("\(number): \(made.map(text)) instead of \(expected[number] ?? [])")
        }
    }
}
