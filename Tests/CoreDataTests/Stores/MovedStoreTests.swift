import CoreData
import ChildProgram
import Foundation
import SQLiteAccess
import TestSupport
import Testing

/// Other programs move, replace or delete the files of an open store: a save throws, and nothing is written anywhere.
@Suite struct MovedStoreTests {
    enum Mishap: CaseIterable {
        case moved, replaced, replacedByCopy, overwritten, overwrittenWithTimes, deleted, logDeleted, logReplaced
        case indexDeleted, folderMoved
    }

    /// A folder with an open store.
    private final class Place {
        let base: URL
        var folder: URL { base.appendingPathComponent("here") }
        var url: URL { folder.appendingPathComponent("Store.sqlite") }
        var log: URL { folder.appendingPathComponent("Store.sqlite-wal") }
        var other: URL { base.appendingPathComponent("Other.sqlite") }
        let coordinator: NSPersistentStoreCoordinator
        let store: NSPersistentStore
        let context: NSManagedObjectContext

        init() throws {
            base = FileManager.default.temporaryDirectory.appendingPathComponent("moved-\(UUID().uuidString)")
            try FileManager.default.createDirectory(
                at: base.appendingPathComponent("here"), withIntermediateDirectories: true)
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: MovedStoreTests.model)
            store = try coordinator.addPersistentStore(
                type: .sqlite, at: base.appendingPathComponent("here/Store.sqlite"),
                options: [
                    NSPersistentHistoryTrackingKey: true,
                    NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
                ])
            context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try insert("first")
        }

        deinit {
            for store in coordinator.persistentStores { try? coordinator.remove(store) }
            try? FileManager.default.removeItem(at: base)
        }

        func insert(_ name: String) throws {
            try context.performAndWait {
                let object = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                object.setValue(name, forKey: "name")
                do { try context.save() } catch {
                    context.rollback()
                    throw error
                }
            }
        }

        func shell(_ line: String) throws {
            let child = try ChildProgram(URL(fileURLWithPath: "/bin/sh"), ["-c", "cd '\(base.path)' && { \(line); }"])
            try #require(child.status == 0, "\(line): \(child.output)")
        }

        /// A store with other rows in one file.
        func makeOther() throws {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: MovedStoreTests.model)
            let store = try coordinator.addPersistentStore(type: .sqlite, at: other)
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                for name in ["a", "b", "c"] {
                    NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                        .setValue(name, forKey: "name")
                }
                try context.save()
            }
            try coordinator.remove(store)
            try shell("rm -f Other.sqlite-wal Other.sqlite-shm")
        }

        func suffer(_ mishap: Mishap) throws {
            switch mishap {
            case .moved: try shell("mv here/Store.sqlite here/Moved.sqlite")
            case .replaced: try shell("cp Other.sqlite new && mv new here/Store.sqlite")
            case .replacedByCopy: try shell("cp here/Store.sqlite new && mv new here/Store.sqlite")
            case .overwritten: try shell("cp Other.sqlite here/Store.sqlite")
            case .overwrittenWithTimes: try shell("cp -p Other.sqlite here/Store.sqlite")
            case .deleted: try shell("rm here/Store.sqlite")
            case .logDeleted: try shell("rm here/Store.sqlite-wal")
            case .logReplaced: try shell("cp here/Store.sqlite-wal new && mv new here/Store.sqlite-wal")
            case .indexDeleted: try shell("rm here/Store.sqlite-shm")
            case .folderMoved: try shell("mv here there && mkdir here")
            }
        }
    }

    private static let model: NSManagedObjectModel = {
        let name = NSAttributeDescription()
        name.name = "name"
        name.attributeType = .stringAttributeType
        let entity = NSEntityDescription()
        entity.name = "Item"
        entity.properties = [name]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }()

    private static func rows(_ url: URL) throws -> [String] {
        let connection = try Connection(path: url.path, access: .readWrite)
        defer { connection.close() }
        #expect(try connection.value("PRAGMA integrity_check") == .text("ok"))
        return try connection.rows("SELECT ZNAME FROM ZITEM ORDER BY ZNAME").compactMap { row in
            if case .text(let name) = row[0] { return name }
            return nil
        }
    }

    /// All ways to write to a store.
    private static let writings: [(String, @Sendable (NSPersistentStore, NSManagedObjectContext) throws -> Void)] = [
        (
            "save",
            { _, context in
                NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                    .setValue("lost", forKey: "name")
                defer { context.rollback() }
                try context.save()
            }
        ),
        (
            "batch insert",
            { _, context in
                try context.execute(NSBatchInsertRequest(entityName: "Item", objects: [["name": "lost"]]))
            }
        ),
        (
            "batch update",
            { _, context in
                let request = NSBatchUpdateRequest(entityName: "Item")
                request.propertiesToUpdate = ["name": "lost"]
                try context.execute(request)
            }
        ),
        (
            "batch delete",
            { _, context in
                try context.execute(
                    NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSFetchRequestResult>(entityName: "Item")))
            }
        ),
        (
            "history",
            { _, context in try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date())) }
        ),
        (
            "metadata",
            { store, context in
                context.persistentStoreCoordinator?.setMetadata(
                    (store.metadata ?? [:]).merging(["lost": "lost"]) { $1 }, for: store)
                try context.save()
            }
        ),
    ]

    /// The last commit before the loss is detected may be later than the copy, so the times of file and log are not
    /// reliable.
    @Test func theLogOfAnOverwrittenStoreIsNotAppliedWhateverTheTimes() throws {
        let place = try Place()
        try place.shell("cp here/Store.sqlite Backup.sqlite && cp Backup.sqlite here/Store.sqlite")
        try place.shell("touch -d '+1 second' here/Store.sqlite-wal")
        #expect(throws: NSError.self) { try place.insert("lost") }
        try place.coordinator.remove(place.store)
        func open() throws -> [String] {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model)
            let store = try coordinator.addPersistentStore(type: .sqlite, at: place.url)
            defer { try? coordinator.remove(store) }
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            return try context.performAndWait {
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).compactMap {
                    $0.value(forKey: "name") as? String
                }
            }
        }
        let error = #expect(throws: NSError.self) { try open() }
        #expect(error?.code == 259 && error?.localizedDescription.contains("touch") == true, "\(error as Any)")
        // Touching the log declares that it belongs to the file.
        try place.shell("touch -d '+2 seconds' here/Store.sqlite-wal")
        #expect(try open() == ["first"])
    }

    @Test(arguments: Mishap.allCases)
    func nothingIsWritten(mishap: Mishap) throws {
        let place = try Place()
        try place.makeOther()
        let other = try Data(contentsOf: place.other)
        let log = try FileHandle(forReadingFrom: place.log)
        defer { try? log.close() }
        let before = try log.readToEnd()
        try place.coordinator.checkFile(of: place.store)
        try place.suffer(mishap)
        for (name, write) in Self.writings {
            let error = #expect(throws: NSError.self, "\(name)") {
                try place.context.performAndWait { try write(place.store, place.context) }
            }
            let text = error?.localizedDescription ?? ""
            #expect(error?.code == 134030 && text.contains("Nothing was written"), "\(name): \(text)")
            #expect(text.contains(place.url.path) && !text.contains("\n"), "\(text)")
        }
        #expect(throws: NSError.self) { try place.coordinator.checkFile(of: place.store) }
        try log.seek(toOffset: 0)
        #expect(try log.readToEnd() == before)
        try place.coordinator.remove(place.store)
        try log.seek(toOffset: 0)
        switch mishap {
        case .replaced: #expect(try Data(contentsOf: place.url) == other)
        case .overwritten, .overwrittenWithTimes:
            #expect(try Data(contentsOf: place.url) == other)
            #expect(try log.readToEnd() == before)
        case .logDeleted, .indexDeleted: #expect(try Self.rows(place.url) == ["first"])
        default: #expect(try log.readToEnd() == before)
        }
    }

    /// A reader gets the error, too, if the log has no commit and its index still exists.
    @Test func aReaderSeesThatItsStoreWasWrittenOver() throws {
        let place = try Place()
        try place.makeOther()
        try place.shell("sqlite3 here/Store.sqlite 'PRAGMA wal_checkpoint(TRUNCATE)'")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model)
        let store = try coordinator.addPersistentStore(
            type: .sqlite, at: place.url, options: [NSReadOnlyPersistentStoreOption: true])
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        #expect(
            try context.performAndWait { try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) }
                == 1)
        try coordinator.checkFile(of: store)
        try place.insert("second")
        try coordinator.checkFile(of: store)
        try place.shell("sqlite3 here/Store.sqlite 'PRAGMA wal_checkpoint(TRUNCATE)'")
        try coordinator.checkFile(of: store)
        try place.shell("cp Other.sqlite here/Store.sqlite")
        let error = #expect(throws: NSError.self) { try coordinator.checkFile(of: store) }
        #expect(error?.code == 260 && error?.localizedDescription.contains("overwritten") == true, "\(error as Any)")
    }

    @Test func aFileThatIsBackIsWrittenAgain() throws {
        let place = try Place()
        try place.shell("mv here there")
        #expect(throws: NSError.self) { try place.insert("lost") }
        try place.shell("mv there here && touch here")
        try place.insert("second")
        try place.coordinator.remove(place.store)
        #expect(try Self.rows(place.url) == ["first", "second"])
    }

    /// Not errors: another program reads and writes the store and checkpoints its log; permissions and names change.
    @Test func ordinaryChangesByOthersAreNotErrors() throws {
        let place = try Place()
        for step in 0..<3 {
            let other = try Connection(path: place.url.path, access: .readWrite)
            try other.execute("UPDATE ZITEM SET ZNAME = ZNAME || '\(step)'")
            try other.execute("PRAGMA wal_checkpoint(PASSIVE)")
            other.close()
            try place.shell("chmod 600 here/Store.sqlite; ln here/Store.sqlite link\(step)")
            try place.insert("x\(step)")
        }
        try place.coordinator.remove(place.store)
        #expect(
            try Self.rows(place.url) == ["first012", "x012", "x12", "x2"])
    }

    @Test(arguments: [Mishap.moved, .folderMoved])
    func aMovedFileIsFollowed(mishap: Mishap) throws {
        let place = try Place()
        try place.suffer(mishap)
        let url = try #require(place.coordinator.fileURL(of: place.store))
        #expect(url.path.hasSuffix(mishap == .moved ? "here/Moved.sqlite" : "there/Store.sqlite"), "\(url)")
        #expect(place.coordinator.setURL(url, for: place.store))
        #expect(place.store.url == url)
        try place.insert("second")
        try place.coordinator.remove(place.store)
        #expect(try Self.rows(url) == ["first", "second"])
    }

    @Test(arguments: [Mishap.deleted, .moved, .replaced])
    func aStoreGoesOnAsACopy(mishap: Mishap) throws {
        let place = try Place()
        try place.makeOther()
        try place.suffer(mishap)
        if mishap == .deleted { #expect(place.coordinator.fileURL(of: place.store) == nil) }
        let copy = place.base.appendingPathComponent("Copy.sqlite")
        #expect(throws: NSError.self) { try place.coordinator.copyContents(of: place.store, to: place.other) }
        try place.coordinator.copyContents(of: place.store, to: copy)
        #expect(place.coordinator.setURL(copy, for: place.store))
        try place.insert("second")
        try place.coordinator.remove(place.store)
        #expect(try Self.rows(copy) == ["first", "second"])
    }

    /// `migratePersistentStore` is Apple's method to save a store elsewhere.
    @Test func aDeletedStoreIsMigrated() throws {
        let place = try Place()
        try place.suffer(.deleted)
        let copy = place.base.appendingPathComponent("Copy.sqlite")
        let new = try place.coordinator.migratePersistentStore(place.store, to: copy, type: .sqlite)
        try place.insert("second")
        try place.coordinator.remove(new)
        #expect(try Self.rows(copy) == ["first", "second"])
    }

    @Test func observersAreNotifiedOnce() async throws {
        let place = try Place()
        let count = Counter()
        let observer = NotificationCenter.default.addObserver(
            forName: NSPersistentStoreCoordinator.storeFileDidVanishNotification, object: place.coordinator, queue: nil
        ) { notification in
            let error = notification.userInfo?[NSUnderlyingErrorKey] as? NSError
            if error?.code == 134030 { count.raise() }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try place.suffer(.deleted)
        await eventuallyAsync("the loss is announced") { count.value > 0 }
        // Two polls of the watcher.
        try await Task.sleep(for: .milliseconds(250))
        #expect(count.value == 1)
    }

    private final class Counter: @unchecked Sendable {
        private let lock = NSLock()
        private var number = 0
        func raise() { lock.withLock { number += 1 } }
        var value: Int { lock.withLock { number } }
    }
}
