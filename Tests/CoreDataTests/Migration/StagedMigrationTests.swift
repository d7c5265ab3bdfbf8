import CoreData
import Testing

/// Stores that migrate through several versions of their model, with code of the program in between. Uses only the
/// public interface.
@MainActor @Suite struct StagedMigrationTests {
    private let desk: MigrationDesk

    init() throws { desk = try MigrationDesk() }

    /// Version 1 has a name; 2 also its parts; 3 only the parts; 4 also a note.
    private static func version(_ number: Int) -> NSManagedObjectModel {
        let names: [[String]] = [["name"], ["name", "first", "last"], ["first", "last"], ["first", "last", "note"]]
        return MigrationDesk.model([
            MigrationDesk.entity("Person", names[number - 1].map { MigrationDesk.attribute($0) })
        ])
    }

    private func reference(_ number: Int) -> NSManagedObjectModelReference {
        let model = Self.version(number)
        return NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    }

    private func checksum(_ number: Int) -> String { Self.version(number).versionChecksum }

    private func fill() throws {
        try desk.make(Self.version(1)) { context in
            for name in ["Ada Lovelace", "مريم ميرزاخاني", "李 娜"] { desk.insert("Person", ["name": name], context) }
        }
    }

    private func splitting() -> NSCustomMigrationStage {
        let stage = NSCustomMigrationStage(migratingFrom: reference(2), to: reference(3))
        stage.label = "split names"
        stage.willMigrateHandler = { manager, stage in
            let context = try #require(manager.container).newBackgroundContext()
            try context.performAndWait {
                for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
                    let parts = (person.value(forKey: "name") as? String ?? "").split(separator: " ").map(String.init)
                    person.setValue(parts.first, forKey: "first")
                    person.setValue(parts.last, forKey: "last")
                }
                try context.save()
            }
        }
        return stage
    }

    private func open(_ stages: [NSMigrationStage], as number: Int = 4) throws -> NSPersistentContainer {
        try desk.open(
            Self.version(number),
            options: [NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager(stages)])
    }

    @Test func aStoreIsMigratedThroughAllStages() throws {
        try fill()
        let stage = splitting()
        nonisolated(unsafe) var seen: [Int] = []
        stage.didMigrateHandler = { manager, stage in
            let container = try #require(manager.container)
            let entity = try #require(container.managedObjectModel.entitiesByName["Person"])
            seen.append(entity.attributesByName.count)
            #expect(stage.label == "split names")
        }
        let manager = NSStagedMigrationManager([
            NSLightweightMigrationStage([checksum(1), checksum(2)]), stage,
            NSLightweightMigrationStage([checksum(3), checksum(4)]),
        ])
        let container = try desk.open(
            Self.version(4), options: [NSPersistentStoreStagedMigrationManagerOptionKey: manager])
        #expect(seen == [2])
        #expect(manager.container == nil)
        let people = try desk.all("Person", container.viewContext, by: "first")
        #expect(people.compactMap { $0.value(forKey: "last") as? String } == ["Lovelace", "ميرزاخاني", "娜"])
        try desk.close(container)
        // At the last version, nothing happens.
        try desk.close(try open([splitting()]))
    }

    @Test func aThrowingHandlerStopsAndTheNextAttemptContinues() throws {
        struct Trouble: Error {}
        try fill()
        let stages: () -> [NSMigrationStage] = {
            [NSLightweightMigrationStage([checksum(1), checksum(2)]), splitting()]
        }
        let refusing = stages()
        (refusing[1] as? NSCustomMigrationStage)?.willMigrateHandler = { _, _ in throw Trouble() }
        #expect(throws: Trouble.self) { try open(refusing) }
        let container = try open(stages())
        let people = try desk.all("Person", container.viewContext, by: "first")
        #expect(people.first?.value(forKey: "first") as? String == "Ada")
        try desk.close(container)
    }

    @Test func theLastHandlerIsCalledAgainAfterItFailed() throws {
        struct Trouble: Error {}
        try fill()
        nonisolated(unsafe) var calls = 0
        nonisolated(unsafe) var fails = true
        func stages() -> [NSMigrationStage] {
            let last = splitting()
            last.didMigrateHandler = { manager, _ in
                calls += 1
                let entity = try #require(manager.container?.managedObjectModel.entitiesByName["Person"])
                #expect(entity.attributesByName.count == 2)
                if fails { throw Trouble() }
            }
            return [NSLightweightMigrationStage([checksum(1), checksum(2)]), last]
        }
        // The error is thrown in the last stage and in an earlier one.
        #expect(throws: Trouble.self) { try open(stages(), as: 3) }
        #expect(throws: Trouble.self) { try open(stages(), as: 3) }
        #expect(throws: Trouble.self) { try open(stages(), as: 4) }
        #expect(calls == 3)
        fails = false
        let container = try open(stages(), as: 4)
        #expect(calls == 4)
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        let metadata = container.persistentStoreCoordinator.metadata(for: store)
        #expect(!metadata.keys.contains { $0.hasPrefix("Roster") })
        #expect(try desk.all("Person", container.viewContext, by: "first").count == 3)
        try desk.close(container)
        try desk.close(try open(stages(), as: 4))
        #expect(calls == 4)
    }

    private func code(_ stages: [NSMigrationStage]) -> Int {
        do { try desk.close(try open(stages)) } catch { return (error as NSError).code }
        return 0
    }

    @Test func invalidStagesAreReported() throws {
        try fill()
        let unknown = NSManagedObjectModelReference(name: "Nothing", in: nil, versionChecksum: "abc")
        #expect(code([splitting()]) == NSManagedObjectModelReferenceNotFoundError)
        #expect(code([]) == NSManagedObjectModelReferenceNotFoundError)
        #expect(
            code([NSCustomMigrationStage(migratingFrom: reference(1), to: unknown)])
                == NSManagedObjectModelReferenceNotFoundError)
        #expect(
            code([
                NSCustomMigrationStage(migratingFrom: reference(1), to: reference(2)),
                NSCustomMigrationStage(migratingFrom: reference(2), to: reference(1)),
            ]) == NSStagedMigrationBackwardMigrationError)
        #expect(
            code([NSLightweightMigrationStage([checksum(1), checksum(2), checksum(1)])])
                == NSStagedMigrationBackwardMigrationError)
        // The store is unchanged.
        let container = try desk.open(Self.version(1))
        #expect(try container.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 3)
        try desk.close(container)
    }

    @Test func referencesFindTheirModel() throws {
        let file = desk.folder.appendingPathComponent("People.mom")
        try Self.version(3).write(to: file)
        let sum = checksum(3)
        #expect(NSManagedObjectModelReference(fileURL: file, versionChecksum: sum).resolvedModel.versionChecksum == sum)
        let bundle = try #require(Bundle(path: desk.folder.path))
        let named = NSManagedObjectModelReference(name: "People", in: bundle, versionChecksum: sum)
        #expect(named.resolvedModel.versionChecksum == sum)
        let hashes = NSManagedObjectModelReference(
            entityVersionHashes: Self.version(3).entityVersionHashesByName, in: bundle, versionChecksum: sum)
        #expect(hashes.resolvedModel.versionChecksum == sum)
    }
}
