import CoreData
import SQLiteAccess
import Testing

/// Lightweight migrations with deferred steps, as an app uses them: the option, the metadata and the two calls.
@MainActor @Suite struct DeferredMigrationTests {
    private let desk: MigrationDesk

    init() throws { desk = try MigrationDesk() }

    private static let key = NSPersistentStoreDeferredLightweightMigrationOptionKey

    private func deferred(_ model: NSManagedObjectModel) throws -> NSPersistentContainer {
        try desk.open(model, options: [Self.key: true as NSNumber])
    }

    /// Teams and players; later versions lack some properties or have others.
    private func model(
        city: Bool = true, players: Bool = true, label: String = "name", indexed: Bool = false, motto: Bool = false
    ) -> NSManagedObjectModel {
        let team = MigrationDesk.entity(
            "Team",
            [MigrationDesk.attribute(label, was: "name"), MigrationDesk.attribute("size", .integer64AttributeType)])
        if city {
            team.properties += [
                MigrationDesk.attribute("city"), MigrationDesk.attribute("badge", .binaryDataAttributeType),
            ]
        }
        if motto { team.properties += [MigrationDesk.attribute("motto")] }
        if indexed, let size = team.attributesByName["size"] {
            let element = NSFetchIndexElementDescription(property: size, collationType: .binary)
            team.indexes = [NSFetchIndexDescription(name: "bySize", elements: [element])]
        }
        guard players else { return MigrationDesk.model([team]) }
        let player = MigrationDesk.entity("Player", [MigrationDesk.attribute("name")])
        MigrationDesk.relate(team, "players", many: true, player, "team")
        return MigrationDesk.model([team, player])
    }

    private func fill(_ context: NSManagedObjectContext) {
        for number in 0..<20 {
            let team = desk.insert(
                "Team", ["name": "Team \(number)", "size": number, "city": "City", "badge": Data([1, 2, 3])], context)
            desk.insert("Player", ["name": "Player \(number)", "team": team], context)
        }
    }

    private func names(_ container: NSPersistentContainer, _ key: String = "name") throws -> [String] {
        try desk.all("Team", container.viewContext, by: "size").map { $0.value(forKey: key) as? String ?? "-" }
    }

    private let expected = (0..<20).map { "Team \($0)" }

    private func store(_ container: NSPersistentContainer) throws -> NSPersistentStore {
        try #require(container.persistentStoreCoordinator.persistentStores.first)
    }

    private func waits(_ container: NSPersistentContainer) throws -> Bool {
        container.persistentStoreCoordinator.metadata(for: try store(container))[Self.key] != nil
    }

    private func findings(_ container: NSPersistentContainer) throws -> [PersistentStoreFinding] {
        try container.persistentStoreCoordinator.findings(in: try store(container))
    }

    private func rows(_ sql: String) throws -> [String] {
        let connection = try Connection(path: desk.url.path, access: .readOnly)
        defer { connection.close() }
        return try connection.rows(sql).map { if case .text(let text) = $0[0] { text } else { "" } }
    }

    private func columns() throws -> [String] { try rows("SELECT name FROM pragma_table_info('ZTEAM')") }

    private func expectSchemaOfANewStore(_ model: NSManagedObjectModel) throws {
        let fresh = desk.folder.appendingPathComponent("Fresh-\(UUID().uuidString).sqlite")
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        try desk.close(try desk.open(copy, at: fresh))
        #expect(try StoreSchema.text(of: desk.url) == StoreSchema.text(of: fresh))
    }

    @Test func aColumnIsDroppedWhenTheMigrationIsFinished() throws {
        try desk.make(model(), fill)
        let next = model(city: false)
        let container = try deferred(next)
        #expect(try waits(container))
        #expect(try names(container) == expected)
        #expect(try columns().contains("ZCITY"), "the table was not made anew")
        #expect(try findings(container) == [])
        // The store works as usual until the steps are finished.
        desk.insert("Team", ["name": "New", "size": 99], container.viewContext)
        try desk.all("Team", container.viewContext, by: "size").first?.setValue("First", forKey: "name")
        try container.viewContext.save()
        container.viewContext.reset()
        #expect(try names(container) == ["First"] + expected.dropFirst() + ["New"])
        var steps = 0
        while try waits(container), steps < 10 {
            try container.persistentStoreCoordinator.finishDeferredLightweightMigrationTask()
            steps += 1
        }
        #expect(steps == 2, "two columns")
        #expect(try !columns().contains("ZCITY") && !columns().contains("ZBADGE"))
        container.viewContext.reset()
        #expect(try names(container) == ["First"] + expected.dropFirst() + ["New"])
        #expect(try findings(container) == [])
        try desk.close(container)
        try expectSchemaOfANewStore(next)
        #expect(
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: desk.url)[
                Self.key] == nil)
    }

    @Test func deferredStepsWaitUntilTheyAreFinished() throws {
        try desk.make(model(), fill)
        let next = model(city: false, players: false, label: "title", indexed: true)
        var container = try deferred(next)
        #expect(try waits(container) && names(container, "title") == expected)
        #expect(try rows("SELECT name FROM sqlite_master WHERE name LIKE 'Z_Team_bySize'").isEmpty)
        try desk.close(container)
        let kept = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: desk.url)
        #expect(kept[Self.key] as? Bool == true)
        // Opens it without the option and by another coordinator.
        container = try desk.open(next)
        #expect(try waits(container) && names(container, "title") == expected)
        #expect(try findings(container) == [])
        try container.persistentStoreCoordinator.finishDeferredLightweightMigration()
        #expect(try !waits(container) && names(container, "title") == expected)
        try desk.close(container)
        try expectSchemaOfANewStore(next)
    }

    @Test(arguments: [false, true]) func theNextVersionFindsDeferredSteps(defers: Bool) throws {
        try desk.make(model(), fill)
        try desk.close(try deferred(model(city: false)))
        try desk.close(try deferred(model(city: false, players: false)))
        // A new attribute has the name of the removed city.
        let last = model(motto: true)
        let container = defers ? try deferred(last) : try desk.open(last)
        #expect(try names(container) == expected)
        #expect(try desk.all("Team", container.viewContext, by: "size").allSatisfy { $0.value(forKey: "city") == nil })
        #expect(try container.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Player")) == 0)
        if defers { try container.persistentStoreCoordinator.finishDeferredLightweightMigration() }
        #expect(try !waits(container) && findings(container) == [])
        try desk.close(container)
        try expectSchemaOfANewStore(last)
    }

    @Test func aVersionThatKeepsTheTableDropsWhatWaitedInIt() throws {
        try desk.make(model(), fill)
        try desk.close(try deferred(model(city: false)))
        let last = model(city: false, players: false)
        let container = try desk.open(last)
        #expect(try !waits(container) && names(container) == expected)
        try desk.close(container)
        try expectSchemaOfANewStore(last)
    }

    @Test func aReadOnlyStoreIsReadAndNotFinished() throws {
        try desk.make(model(), fill)
        try desk.close(try deferred(model(city: false)))
        let container = try desk.open(
            model(city: false), options: [NSReadOnlyPersistentStoreOption: true as NSNumber])
        #expect(try names(container) == expected)
        #expect(throws: CocoaError.self) {
            try container.persistentStoreCoordinator.finishDeferredLightweightMigration()
        }
        #expect(try waits(container))
    }

    @Test func indexesAndColumnsOfOthersAreKept() throws {
        try desk.make(model(), fill)
        let connection = try Connection(path: desk.url.path, access: .readWrite)
        try connection.execute("CREATE INDEX THEIRS ON ZTEAM (ZCITY)")
        try connection.execute("ALTER TABLE ZTEAM ADD COLUMN THEIRS VARCHAR")
        connection.close()
        let container = try deferred(model(city: false))
        try container.persistentStoreCoordinator.finishDeferredLightweightMigration()
        #expect(try !waits(container) && names(container) == expected)
        #expect(try columns().contains("THEIRS") && !columns().contains("ZBADGE"))
        try desk.close(container)
        #expect(try rows("SELECT name FROM sqlite_master WHERE name = 'THEIRS'") == ["THEIRS"])
    }

    @Test func aCopyOfAnotherTypeHasNoDeferredSteps() throws {
        try desk.make(model(), fill)
        let container = try deferred(model(city: false))
        let coordinator = container.persistentStoreCoordinator
        let other = try coordinator.migratePersistentStore(
            try store(container), to: desk.folder.appendingPathComponent("Copy.bin"), options: nil,
            withType: NSBinaryStoreType)
        #expect(coordinator.metadata(for: other)[Self.key] == nil)
        #expect(try names(container) == expected)
    }
}
