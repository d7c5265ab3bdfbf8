import Foundation
import Glibc
import SQLiteAccess
import Synchronization
import Testing

@testable import CoreData

/// Files of external values that are used through several paths, rows or programs.
@Suite struct SharedExternalFilesTests {
    private let harness: StoreHarness
    private var values: ExternalDataFolder { ExternalData(storePath: harness.url.path).values }

    init() throws { harness = try StoreHarness(StoreModels.types()) }

    private static func value(_ byte: UInt8) -> Data { Data(repeating: byte, count: 150_000) }

    private func context(_ url: URL, _ options: [AnyHashable: Any]? = nil) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: harness.model)
        try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func close(_ context: NSManagedObjectContext) throws {
        let coordinator = try #require(context.persistentStoreCoordinator)
        context.performAndWait { context.reset() }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    private func insert(_ bytes: [UInt8], _ context: NSManagedObjectContext) throws {
        try context.performAndWait {
            for byte in bytes {
                let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
                thing.setValue("\(byte)", forKey: "string")
                thing.setValue(Self.value(byte), forKey: "external")
            }
            try context.save()
        }
    }

    private static func things(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
        request.sortDescriptors = [NSSortDescriptor(key: "string", ascending: true)]
        return try context.fetch(request)
    }

    private func read(_ url: URL) throws -> [Data?] {
        let context = try context(url, [NSReadOnlyPersistentStoreOption: true])
        defer { try? close(context) }
        return try context.performAndWait { try Self.things(context).map { $0.value(forKey: "external") as? Data } }
    }

    // MARK: Links

    @Test func aStoreOpenedThroughALinkKeepsItsValuesNextToItsFile() throws {
        let made = try context(harness.url)
        try insert([1], made)
        try close(made)
        let folder = harness.folder.appendingPathComponent("links")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let link = folder.appendingPathComponent("Current.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "../Store.sqlite")
        #expect(try read(link) == [Self.value(1)])
        let linked = try context(link)
        try insert([2], linked)
        // External values are in the folder of the file, not of the link, while it is open and afterwards.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Current.sqlite"])
        #expect(try read(harness.url) == [Self.value(1), Self.value(2)])
        // A link that now refers to another store: nothing is written to either.
        let other = harness.folder.appendingPathComponent("Other.sqlite")
        try close(try context(other))
        try FileManager.default.removeItem(at: link)
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "../Other.sqlite")
        let error = #expect(throws: CocoaError.self) { try insert([3], linked) }
        #expect(error?.code.rawValue == 134030)
        #expect(values.names().count == 2)
        let copy = harness.folder.appendingPathComponent("Copy.sqlite")
        try FileManager.default.removeItem(at: link)
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "../Store.sqlite")
        try NSPersistentStoreCoordinator(managedObjectModel: harness.model)
            .replacePersistentStore(at: copy, withPersistentStoreFrom: link, type: .sqlite)
        #expect(try read(copy) == [Self.value(1), Self.value(2)])
    }

    // MARK: Rows that share a file

    private func share() throws {
        let made = try context(harness.url)
        try insert([1, 2, 3], made)
        try close(made)
        let connection = try Connection(path: harness.url.path, access: .readWrite)
        try connection.execute("UPDATE ZTHING SET ZEXTERNAL = (SELECT ZEXTERNAL FROM ZTHING WHERE ZSTRING = '1')")
        connection.close()
        #expect(try read(harness.url) == Array(repeating: Self.value(1), count: 3))
    }

    @Test func aFileIsRemovedWithTheLastRowThatRefersToIt() throws {
        try share()
        let context = try context(harness.url)
        try context.performAndWait {
            let things = try Self.things(context)
            things[0].setValue(Self.value(9), forKey: "external")
            try context.save()
            context.delete(things[1])
            try context.save()
            context.refreshAllObjects()
            #expect(things[2].value(forKey: "external") as? Data == Self.value(1))
            // The framework does not know the files of rows that SQL overwrote.
            let before = values.names().count
            things[2].setValue(nil, forKey: "external")
            try context.save()
            #expect(values.names().count == before - 1)
        }
        try close(context)
    }

    @Test func batchesKeepFilesOfOtherRows() throws {
        try share()
        let context = try context(harness.url)
        try context.performAndWait {
            let some = NSFetchRequest<any NSFetchRequestResult>(entityName: "Thing")
            some.predicate = NSPredicate(format: "string == '1'")
            try context.execute(NSBatchDeleteRequest(fetchRequest: some))
            let update = NSBatchUpdateRequest(entityName: "Thing")
            update.predicate = NSPredicate(format: "string == '2'")
            update.propertiesToUpdate = ["external": Self.value(7)]
            try context.execute(update)
        }
        try close(context)
        #expect(try read(harness.url) == [Self.value(7), Self.value(1)])
    }

    // MARK: Copies

    @Test func noFileGoesWhileTheStoreIsCopied() throws {
        let context = try context(harness.url)
        try insert([1], context)
        let before = values.names()
        var copying = values.keepFiles()
        #expect(copying != nil)
        try context.performAndWait {
            try Self.things(context)[0].setValue(Self.value(2), forKey: "external")
            try context.save()
        }
        #expect(values.names().count == 2)
        try close(context)
        // The next opening does not remove it, either, until the copy is complete.
        try close(try self.context(harness.url))
        #expect(Set(values.names()).isSuperset(of: before))
        copying = nil
        try close(try self.context(harness.url))
        #expect(values.names().count == 1)
        #expect(try read(harness.url) == [Self.value(2)])
    }

    private final class Flag: Sendable {
        let isRaised = Atomic(false)
    }

    @Test func copiesMadeDuringWritesHaveAllValues() throws {
        let context = try context(harness.url)
        try insert([1, 2, 3, 4], context)
        let isOver = Flag()
        let writer = Thread {
            var byte: UInt8 = 10
            while !isOver.isRaised.load(ordering: .relaxed) {
                try? context.performAndWait {
                    for thing in try Self.things(context) { thing.setValue(Self.value(byte), forKey: "external") }
                    try context.save()
                }
                byte = byte &+ 1
            }
        }
        writer.start()
        defer { isOver.isRaised.store(true, ordering: .relaxed) }
        for number in 0..<20 {
            let copy = harness.folder.appendingPathComponent("Copy \(number).sqlite")
            try NSPersistentStoreCoordinator(managedObjectModel: harness.model)
                .replacePersistentStore(at: copy, withPersistentStoreFrom: harness.url, type: .sqlite)
            let values = try read(copy)
            #expect(values.count == 4 && !values.contains(nil), "copy \(number)")
            // The copy contains only the files of its rows.
            #expect(ExternalData(storePath: copy.path).values.names().count == 4, "copy \(number)")
        }
    }

    /// Closing a descriptor twice could close another thread's file.
    @Test func aFolderThatCannotBeLockedIsClosedOnce() throws {
        let folder = ExternalData(storePath: harness.url.path).values
        try folder.make()
        let kept = try #require(folder.keepFiles())
        let isOver = Flag()
        let other = Thread {
            while !isOver.isRaised.load(ordering: .relaxed) { _ = folder.lockForRemoval() }
        }
        other.start()
        defer { isOver.isRaised.store(true, ordering: .relaxed) }
        let lost = (0..<20_000).count { _ in Glibc.close(Glibc.open(harness.folder.path, O_RDONLY | O_CLOEXEC)) != 0 }
        #expect(lost == 0)
        withExtendedLifetime(kept) {}
    }
}
