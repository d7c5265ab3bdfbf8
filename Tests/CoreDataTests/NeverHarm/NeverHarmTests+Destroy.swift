import CoreData
import ChildProgram
import Foundation
import Testing
import Glibc

// Point 1: only stores of the given type are destroyed. Point 2: an open store is removed from its coordinator first.
extension NeverHarmTests {
    /// File mode, size, device number and inode of a path.
    private func facts(_ path: String) -> [UInt64] {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return [] }
        return [UInt64(facts.st_mode), UInt64(facts.st_size), UInt64(facts.st_rdev), UInt64(facts.st_ino)]
    }

    private func destroy(_ url: URL, options: [AnyHashable: Any]? = nil) throws {
        try NSPersistentStoreCoordinator(managedObjectModel: World.model())
            .destroyPersistentStore(at: url, type: .sqlite, options: options)
    }

    @Test(arguments: [false, true])
    func destroyKeepsATextFile(isForced: Bool) throws {
        let world = try World()
        let options = [NSPersistentStoreForceDestroyOption: isForced]
        for text in ["precious", String(repeating: "我的日記 مذكراتي 📓\n", count: 500), "SQLite format 3"] {
            let url = world.url("diary.txt")
            try Data(text.utf8).write(to: url)
            try Data("log".utf8).write(to: world.url("diary.txt-wal"))
            #expect(thrownCode { try destroy(url, options: options) } == 259)
            #expect(try Data(contentsOf: url) == Data(text.utf8))
            #expect(try Data(contentsOf: world.url("diary.txt-wal")) == Data("log".utf8))
        }
    }

    @Test(arguments: [false, true])
    func destroyKeepsFoldersLinksPipesAndSockets(isForced: Bool) throws {
        let world = try World()
        let options = [NSPersistentStoreForceDestroyOption: isForced]
        let (store, link, folder) = (world.url("a.sqlite"), world.url("link.sqlite"), world.url("folder.sqlite"))
        let (pipe, dangling) = (world.url("pipe.sqlite"), world.url("dangling.sqlite"))
        try world.fill(store, "kept")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: store)
        try FileManager.default.createSymbolicLink(at: dangling, withDestinationURL: world.url("none"))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try Data("x".utf8).write(to: folder.appendingPathComponent("inside"))
        #expect(mkfifo(pipe.path, 0o600) == 0)
        let all = [link, folder, pipe, dangling]
        let before = all.map { facts($0.path) }
        #expect(all.map { url in thrownCode { try destroy(url, options: options) } } == [259, 134080, 259, 259])
        #expect(all.map { facts($0.path) } == before)
        #expect(try Data(contentsOf: folder.appendingPathComponent("inside")) == Data("x".utf8))
        #expect(try world.names(store) == ["kept"])
    }

    /// Uses a device node created for the test, with the numbers of `/dev/null`: as root it could be removed.
    @Test(arguments: [false, true])
    func destroyKeepsADeviceNode(isForced: Bool) throws {
        let world = try World()
        let node = world.url("null.sqlite")
        guard mknod(node.path, S_IFCHR | 0o666, 1 << 8 | 3) == 0 else {
            print("destroyKeepsADeviceNode: skipped, mknod is not permitted here")
            return
        }
        let before = facts(node.path)
        #expect(!before.isEmpty)
        let options = [NSPersistentStoreForceDestroyOption: isForced]
        #expect(thrownCode { try destroy(node, options: options) } == 259)
        #expect(facts(node.path) == before)
        let link = world.url("link.sqlite")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: node)
        #expect(thrownCode { try destroy(link, options: options) } == 259)
        #expect(facts(node.path) == before)
        // A copy of a store cannot replace it, either.
        let store = world.url("a.sqlite")
        try world.fill(store, "kept")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.model())
        #expect(
            thrownCode {
                try coordinator.replacePersistentStore(
                    at: node, destinationOptions: options, withPersistentStoreFrom: store, type: .sqlite)
            } == 259)
        #expect(facts(node.path) == before)
        let null = facts("/dev/null")
        try destroy(URL(fileURLWithPath: "/dev/null"), options: options)
        #expect(
            thrownCode {
                try coordinator.replacePersistentStore(
                    at: URL(fileURLWithPath: "/dev/null"), destinationOptions: options, withPersistentStoreFrom: store,
                    type: .sqlite)
            } == 134080)
        #expect(facts("/dev/null") == null && !null.isEmpty)
    }

    @Test func destroyKeepsAnotherProgramsDatabase() throws {
        let world = try World()
        let url = world.url("other.sqlite")
        let making = [url.path, "CREATE TABLE precious (x); INSERT INTO precious VALUES ('y')"]
        guard try ChildProgram(named: "sqlite3", making).status == 0 else { return print("skipped: no sqlite3 here") }
        let before = try Data(contentsOf: url)
        for isForced in [false, true] {
            let options = [NSPersistentStoreForceDestroyOption: isForced]
            #expect(thrownCode { try destroy(url, options: options) } == 259)
        }
        #expect(try Data(contentsOf: url) == before)
    }

    @Test func destroyLeavesAValidEmptyFile() throws {
        let world = try World()
        let url = world.url("数据 📦.sqlite")
        try world.fill(url, "gone", pictureSize: 300_000)
        try destroy(url)
        #expect(try FileManager.default.contentsOfDirectory(atPath: world.folder.path) == [url.lastPathComponent])
        #expect(try Data(contentsOf: url).isEmpty)
        try destroy(url)
        // A new and complete store can be created at this path.
        #expect(try world.names(url).isEmpty)
        try world.fill(url, "new", pictureSize: 300_000)
        #expect(try world.names(url) == ["new"])
        try destroy(url)
        try FileManager.default.removeItem(at: url)
        try destroy(url)
        #expect(try FileManager.default.contentsOfDirectory(atPath: world.folder.path) == [url.lastPathComponent])
    }

    /// Stores whose names differ only in their extension share the folder of their external data.
    @Test func destroyKeepsTheExternalDataOfAnotherStore() throws {
        let world = try World()
        try world.fill(world.url("a.sqlite"), "gone", pictureSize: 300_000)
        try world.fill(world.url("a.db"), "kept", pictureSize: 200_000)
        try destroy(world.url("a.sqlite"))
        let coordinator = try world.coordinator(world.url("a.db"))
        let context = coordinator.context()
        try context.performAndWait {
            let item = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).first)
            #expect((item.value(forKey: "picture") as? Data)?.count == 200_000)
        }
        let data = world.url(".a_SUPPORT/_EXTERNAL_DATA")
        #expect(try FileManager.default.contentsOfDirectory(atPath: data.path).count == 1)
    }

    @Test func aStoreThatThisProcessHasOpenIsDestroyed() throws {
        let world = try World()
        let url = world.url("a.sqlite")
        let other = try world.coordinator(url)
        let context = other.context()
        try context.fill("kept")
        try destroy(url)
        #expect(try Data(contentsOf: url).isEmpty)
        #expect(try context.names() == ["kept"], "who has the old file open goes on with it")
        #expect(try world.names(url).isEmpty)
    }

    @Test func aDamagedStoreIsDestroyedWhenForced() throws {
        let world = try World()
        let url = world.url("a.sqlite")
        try world.fill(url, "gone")
        var bytes = try Data(contentsOf: url)
        for index in 100..<4096 { bytes[index] = 0xFF }
        try bytes.write(to: url)
        #expect(thrownCode { try destroy(url) } == 259)
        #expect(try Data(contentsOf: url) == bytes)
        try destroy(url, options: [NSPersistentStoreForceDestroyOption: true])
        #expect(try world.names(url).isEmpty)
    }

    @Test func destroyingAnOpenStoreRemovesItFirst() throws {
        let world = try World()
        let url = world.url("a.sqlite")
        let coordinator = try world.coordinator(url)
        let context = coordinator.context()
        let id = try context.fill("gone")
        let held = context.performAndWait { context.object(with: id) }
        try coordinator.destroyPersistentStore(at: url, type: .sqlite)
        #expect(coordinator.persistentStores.isEmpty)
        #expect(
            thrownCode {
                try context.performAndWait {
                    held.setValue("changed", forKey: "name")
                    try context.save()
                }
            } != nil, "a changed object of a destroyed store cannot be saved")
        #expect(thrownCode { try context.fill("new") } != nil, "and nothing new either")
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        context.performAndWait { context.reset() }
        try context.fill("again")
        #expect(try context.names() == ["again"])
    }

    @Test func changesBeforeTheDestructionAreNotReportedAsSaved() throws {
        let world = try World()
        let url = world.url("a.sqlite")
        let coordinator = try world.coordinator(url)
        let (context, other) = (coordinator.context(), coordinator.context())
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = context
        let id = try context.fill("gone")
        let held = [context, child, other].map { context in
            context.performAndWait {
                let item = context.object(with: id)
                item.setValue("changed", forKey: "name")
                return item
            }
        }
        // Another spelling of the path, as in some programs.
        try coordinator.destroyPersistentStore(
            at: world.folder.appendingPathComponent("../\(world.folder.lastPathComponent)/a.sqlite"),
            ofType: NSSQLiteStoreType)
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        for context in [context, child, other] {
            #expect(thrownCode { try context.performAndWait { try context.save() } } != nil)
            #expect(thrownCode { try context.performAndWait { try context.save() } } != nil, "nor the second time")
            context.performAndWait { context.rollback() }
            #expect(thrownCode { try context.performAndWait { try context.save() } } == nil)
        }
        #expect(try other.names().isEmpty)
        _ = held
    }

    @Test func aStoreThatIsOpenAsAnotherTypeIsKept() throws {
        let world = try World()
        let url = world.url("a.sqlite")
        let coordinator = try world.coordinator(url)
        let context = coordinator.context()
        try context.fill("kept")
        #expect(thrownCode { try coordinator.destroyPersistentStore(at: url, ofType: "None") } == 134000)
        #expect(coordinator.persistentStores.count == 1)
        #expect(try context.names() == ["kept"])
    }
}
