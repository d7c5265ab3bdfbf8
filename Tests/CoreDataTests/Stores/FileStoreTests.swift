import CoreData
import Foundation
import Testing

/// The files of the built-in atomic stores: damaged, foreign, and written by others.
@Suite struct FileStoreTests {
    static let types: [NSPersistentStore.StoreType] = [.binary]

    private func filled(_ type: NSPersistentStore.StoreType) throws -> StoreConformance {
        let stack = try StoreConformance(type)
        try stack.inContext { context in
            let author = context.make("Author", named: "Ada")
            author.setValue(NSOrderedSet(array: [context.make("Novel", named: "C", "title")]), forKey: "books")
            try context.save()
        }
        return stack
    }

    private func code(_ body: () throws -> Void) -> Int? {
        do { try body() } catch { return (error as NSError).code }
        return nil
    }

    @Test(arguments: types) func foreignFilesAreRefusedAndLeftAlone(_ type: NSPersistentStore.StoreType) throws {
        let stack = try filled(type)
        let url = stack.folder.appendingPathComponent("Other.store")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
        for text in ["hello", "<?xml version=\"1.0\"?><a/>", "<database>", "SQLite format 3\0", "RosterBinary1\nabc"] {
            try Data(text.utf8).write(to: url)
            let codes = [
                code { try coordinator.addPersistentStore(type: type, at: url) },
                code { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url) },
                code { try NSPersistentStoreCoordinator.setMetadata([:], type: type, at: url) },
            ]
            #expect(codes == [259, 259, 259], "\(text)")
            #expect(try Data(contentsOf: url) == Data(text.utf8))
        }
        let missing = stack.folder.appendingPathComponent("None.store")
        let options = [NSReadOnlyPersistentStoreOption: true]
        let absent = code { try coordinator.addPersistentStore(type: type, at: missing, options: options) }
        #expect(absent == 260 && !FileManager.default.fileExists(atPath: missing.path))
        let folder = code { try coordinator.addPersistentStore(type: type, at: stack.folder) }
        #expect(folder == 134080)
    }

    /// A file with any byte altered, or any end cut off, opens or is refused; it stays as it is.
    @Test(arguments: types) func damageNeverStopsTheProgram(_ type: NSPersistentStore.StoreType) throws {
        let stack = try filled(type)
        let whole = try Data(contentsOf: stack.url)
        let url = stack.folder.appendingPathComponent("Damaged.store")
        var generator = SystemRandomNumberGenerator()
        var refused = 0
        for turn in 0..<150 {
            var data = whole
            if turn % 3 == 0 {
                data = data.prefix(Int.random(in: 1..<data.count, using: &generator))
            } else {
                for _ in 0...(turn % 4) {
                    data[Int.random(in: 0..<data.count, using: &generator)] = UInt8.random(in: 0...255)
                }
            }
            try data.write(to: url)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
            let options = [NSReadOnlyPersistentStoreOption: true]
            if let code = code({ try coordinator.addPersistentStore(type: type, at: url, options: options) }) {
                #expect([259, 134010, 134100, 133021].contains(code))
                refused += 1
            }
            #expect(try Data(contentsOf: url) == data)
        }
        #expect(refused > 0)
    }

    @Test(arguments: types) func anEmptyFileIsANewStore(_ type: NSPersistentStore.StoreType) throws {
        let stack = try StoreConformance(type)
        let url = stack.folder.appendingPathComponent("Empty.store")
        try Data().write(to: url)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
        try coordinator.addPersistentStore(type: type, at: url)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url)
        #expect(metadata[NSStoreTypeKey] as? String == type.rawValue)
    }

    @Test(arguments: types) func aStoreThatAnotherStackWroteIsNotOverwritten(_ type: NSPersistentStore.StoreType) throws
    {
        let stack = try filled(type)
        let other = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
        try other.addPersistentStore(type: type, at: stack.url)
        try stack.inContext { context in
            try #require(try context.all("Author").first).setValue("Eva", forKey: "name")
            try context.save()
        }
        let written = try Data(contentsOf: stack.url)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = other
        try context.performAndWait {
            _ = context.make("Author", named: "Bob")
            #expect(code { try context.save() } == 134030)
            #expect(context.insertedObjects.count == 1)
            let stored = try Data(contentsOf: stack.url)
            #expect(stored == written)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: stack.folder.path) == ["Library.store"])
    }

    /// Something stands where the new file would be written: the save fails, and nothing is lost.
    @Test(arguments: types) func aSaveThatCannotWriteLeavesTheOldFile(_ type: NSPersistentStore.StoreType) throws {
        let stack = try filled(type)
        let before = try Data(contentsOf: stack.url)
        let obstacle = stack.folder.appendingPathComponent(".Library.store.new")
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: false)
        try stack.inContext { context in
            let author = try #require(try context.all("Author").first)
            author.setValue("Eva", forKey: "name")
            #expect(throws: CocoaError.self) { try context.save() }
            let stored = try Data(contentsOf: stack.url)
            #expect(stored == before && author.isUpdated)
            try FileManager.default.removeItem(at: obstacle)
            try context.save()
        }
        try stack.reopen()
        let names = try stack.inContext { try $0.all("Author").map { $0.text("name") } }
        #expect(names == ["Eva"])
    }

    @Test(arguments: types) func nodesShowTheRows(_ type: NSPersistentStore.StoreType) throws {
        let stack = try filled(type)
        let store = try #require(stack.store as? NSAtomicStore)
        #expect(store.cacheNodes().count == 2)
        let author = try #require(store.cacheNodes().first { $0.objectID.entity.name == "Author" })
        #expect(author.value(forKey: "name") as? String == "Ada")
        let books = author.value(forKey: "books") as? NSOrderedSet
        #expect((books?.firstObject as? NSAtomicStoreCacheNode)?.value(forKey: "title") as? String == "C")
    }
}
