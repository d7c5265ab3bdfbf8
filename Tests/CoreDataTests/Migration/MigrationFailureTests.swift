import CoreData
import ChildProgram
import Foundation
import TestSupport
import Testing

/// Migrations that fail at any moment: the old store is unchanged, and the next attempt succeeds.
@MainActor @Suite(.serialized) struct MigrationFailureTests {
    private static let factor = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) } ?? 1
    private let desk: MigrationDesk

    init() throws { desk = try MigrationDesk() }

    private func model(_ version: Int) -> NSManagedObjectModel {
        // The teams are copied to a new table for the new type; the players stay in their table.
        let size = version == 1 ? NSAttributeType.integer64AttributeType : .decimalAttributeType
        let team = MigrationDesk.entity(
            "Team", [MigrationDesk.attribute("name"), MigrationDesk.attribute("size", size)])
        let player = MigrationDesk.entity(
            "Player", [MigrationDesk.attribute(version == 1 ? "name" : "title", was: "name")])
        if version == 2 { team.properties += [MigrationDesk.attribute("motto")] }
        MigrationDesk.relate(team, "players", many: true, player, "team")
        return MigrationDesk.model([team, player])
    }

    private func fill(_ count: Int = 120) throws {
        try desk.make(model(1)) { context in
            for number in 0..<count {
                let team = desk.insert(
                    "Team", ["name": String(repeating: "Team \(number) ", count: 12), "size": number], context)
                desk.insert("Player", ["name": "Player \(number)", "team": team], context)
            }
        }
    }

    /// Players with their teams, for the version of the store.
    private func contents(_ model: NSManagedObjectModel, _ key: String, at url: URL? = nil) throws -> [String] {
        let container = try desk.open(
            model, at: url, options: [NSMigratePersistentStoresAutomaticallyOption: false as NSNumber])
        defer { try? desk.close(container) }
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        #expect(try container.persistentStoreCoordinator.findings(in: store) == [])
        return try desk.all("Player", container.viewContext, by: key).map { player in
            let team = player.value(forKey: "team") as? NSManagedObject
            return "\(player.value(forKey: key) ?? "-") in \(team?.value(forKey: "name") ?? "-")"
        }
    }

    private func code(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch { return (error as NSError).code }
    }

    /// Limits the file to a number of pages.
    private func full(_ pages: Int) -> [String: NSObject] {
        [NSSQLitePragmasOption: ["max_page_count": "\(pages)"] as NSDictionary]
    }

    private func pages(_ url: URL) throws -> Int {
        let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0
        return size / 4096
    }

    @Test func aDiskThatIsFullInPlace() throws {
        // More rows need more pages, and the disk can be full at each page.
        try fill(120 * min(Self.factor, 20))
        let before = try contents(model(1), "name")
        let pages = try pages(desk.url)
        let probe = desk.folder.appendingPathComponent("Probe.sqlite")
        try NSPersistentStoreCoordinator(managedObjectModel: model(1)).replacePersistentStore(
            at: probe, withPersistentStoreFrom: desk.url, type: .sqlite)
        try desk.close(try desk.open(model(2), at: probe))
        let needed = try self.pages(probe) - pages
        #expect(needed > 3)
        var random = SeededGenerator(seed: 4)
        for _ in 0..<(5 * Self.factor) {
            let room = Int.random(in: 0..<needed, using: &random)
            let failure = code { try desk.close(try desk.open(model(2), options: full(pages + room))) }
            #expect(failure == 640 || failure == 134110, "\(room) of \(needed) pages: \(failure ?? 0)")
            #expect(try contents(model(1), "name") == before)
        }
        try desk.close(try desk.open(model(2)))
        #expect(try contents(model(2), "title") == before)
        print("migrations on a full disk: \(5 * Self.factor)")
    }

    @Test func aDiskThatIsFullForTheManager() throws {
        try fill()
        let before = try Data(contentsOf: desk.url)
        let made = desk.folder.appendingPathComponent("Made.sqlite")
        let (source, destination) = (model(1), model(2))
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
        func migrate(_ options: [AnyHashable: Any]?) -> Int? {
            code {
                try NSMigrationManager(sourceModel: source, destinationModel: destination).migrateStore(
                    from: desk.url, type: .sqlite, options: nil, mapping: mapping, to: made, type: .sqlite,
                    options: options)
            }
        }
        #expect(migrate(nil) == nil)
        let needed = try pages(made)
        try removeMade(made, destination)
        var random = SeededGenerator(seed: 5)
        // With the smallest limit, the new store cannot even be created.
        for room in [2] + (0..<(2 * Self.factor)).map({ _ in Int.random(in: needed / 2..<needed - 1, using: &random) })
        {
            let failure = migrate(full(room))
            #expect([640, 134110, 134160].contains(failure), "\(room) of \(needed) pages: \(failure ?? 0)")
            #expect(try isNothingMade())
            #expect(try Data(contentsOf: desk.url) == before)
        }
    }

    @Test func aDiskThatIsFullForACopy() throws {
        let container = try desk.open(
            model(1), at: desk.folder.appendingPathComponent("Memory"), type: NSInMemoryStoreType)
        let context = container.viewContext
        for number in 0..<120 { desk.insert("Player", ["name": "Player \(number)"], context) }
        try context.save()
        let coordinator = container.persistentStoreCoordinator
        let store = try #require(coordinator.persistentStores.first)
        let made = desk.folder.appendingPathComponent("Made.sqlite")
        let failure = code {
            _ = try coordinator.migratePersistentStore(store, to: made, options: full(2), type: .sqlite)
        }
        #expect(failure == 640)
        #expect(try isNothingMade())
        #expect(coordinator.persistentStores == [store])
        #expect(try desk.all("Player", context, by: "name").count == 120)
    }

    private func isNothingMade() throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: desk.folder.path).allSatisfy { !$0.contains("Made") }
    }

    private func removeMade(_ made: URL, _ model: NSManagedObjectModel) throws {
        try NSPersistentStoreCoordinator(managedObjectModel: model).destroyPersistentStore(at: made, type: .sqlite)
        try FileManager.default.removeItem(at: made)
    }

    /// Uses a file system that is mounted for the test, which requires root.
    @Test(.needs(.process), .enabled(if: geteuid() == 0, "needs root for a file system that cannot be written"))
    func aFolderThatCannotBeWritten() throws {
        let mount = desk.folder.appendingPathComponent("disk").path
        try FileManager.default.createDirectory(atPath: mount, withIntermediateDirectories: true)
        guard run("mount", "-t", "tmpfs", "-o", "size=4m", "none", mount) == 0 else { return }
        defer { _ = run("umount", mount) }
        let url = URL(fileURLWithPath: mount).appendingPathComponent("App.sqlite")
        try fill(20)
        try NSPersistentStoreCoordinator(managedObjectModel: model(1)).replacePersistentStore(
            at: url, withPersistentStoreFrom: desk.url, type: .sqlite)
        let before = try contents(model(1), "name", at: url)
        guard run("mount", "-o", "remount,ro", mount) == 0 else { return }
        #expect(code { try desk.close(try desk.open(model(2), at: url)) } != nil)
        guard run("mount", "-o", "remount,rw", mount) == 0 else { return }
        #expect(try contents(model(1), "name", at: url) == before)
        try desk.close(try desk.open(model(2), at: url))
        #expect(try contents(model(2), "title", at: url) == before)
    }

    private func run(_ arguments: String...) -> Int32 {
        (try? ChildProgram(named: arguments[0], Array(arguments.dropFirst())).status) ?? -1
    }

    /// A policy that throws or cancels at the nth call of its hooks.
    @Test(arguments: [false, true]) func aPolicyThatEndsItAtAnyMoment(cancels: Bool) throws {
        try fill(15)
        let before = try Data(contentsOf: desk.url)
        let made = desk.folder.appendingPathComponent("Made.sqlite")
        let (source, destination) = (model(1), model(2))
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
        for entity in mapping.entityMappings {
            entity.entityMigrationPolicyClassName = NSStringFromClass(EndingPolicy.self)
        }
        func migrate(endingAt call: Int) -> Int? {
            (EndingPolicy.calls, EndingPolicy.end, EndingPolicy.cancels) = (0, call, cancels)
            return code {
                try NSMigrationManager(sourceModel: source, destinationModel: destination).migrateStore(
                    from: desk.url, type: .sqlite, mapping: mapping, to: made, type: .sqlite)
            }
        }
        #expect(migrate(endingAt: .max) == nil)
        let calls = EndingPolicy.calls
        #expect(calls > 60)
        #expect(try contents(destination, "title", at: made).count == 15)
        try NSPersistentStoreCoordinator(managedObjectModel: destination).destroyPersistentStore(
            at: made, type: .sqlite)
        try FileManager.default.removeItem(at: made)
        var random = SeededGenerator(seed: cancels ? 6 : 7)
        let moments = [1, calls] + (0..<(4 * Self.factor)).map { _ in Int.random(in: 1...calls, using: &random) }
        for moment in moments {
            let failure = migrate(endingAt: moment)
            #expect(failure == EndingPolicy.code, "call \(moment) of \(calls)")
            #expect(try isNothingMade())
            #expect(try Data(contentsOf: desk.url) == before)
        }
        #expect(migrate(endingAt: .max) == nil)
    }
}

final class EndingPolicy: NSEntityMigrationPolicy {
    static let code = 4711
    nonisolated(unsafe) static var calls = 0
    nonisolated(unsafe) static var end = Int.max
    nonisolated(unsafe) static var cancels = false

    private func count(_ manager: NSMigrationManager) throws {
        Self.calls += 1
        guard Self.calls == Self.end else { return }
        let error = NSError(domain: "mine", code: Self.code)
        if Self.cancels { manager.cancelMigrationWithError(error) } else { throw error }
    }

    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws { try count(manager) }

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try count(manager)
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    }

    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try count(manager)
    }

    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try count(manager)
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    }

    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try count(manager)
    }

    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try count(manager)
    }

    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws { try count(manager) }
}
