import CoreData
import Foundation
import SQLiteAccess
import Testing

/// Logs, indexes and journals of a store, or without a store: either they belong to it, or nothing is changed.
@Suite struct SideFileTests {
    private let folder: URL
    private var url: URL { folder.appendingPathComponent("Store.sqlite") }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("beside-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (coordinator, store) = try open()
        try insert("first", coordinator)
        try coordinator.remove(store)
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

    private func open(
        _ place: URL? = nil, readOnly: Bool = false
    ) throws -> (NSPersistentStoreCoordinator, NSPersistentStore) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model)
        let store = try coordinator.addPersistentStore(
            type: .sqlite, at: place ?? url, options: [NSReadOnlyPersistentStoreOption: readOnly])
        return (coordinator, store)
    }

    private func insert(_ name: String, _ coordinator: NSPersistentStoreCoordinator) throws {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "Item", into: context).setValue(name, forKey: "name")
            try context.save()
        }
    }

    private func names(_ place: URL? = nil) throws -> [String] {
        let (coordinator, store) = try open(place, readOnly: true)
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
                .compactMap { $0.value(forKey: "name") as? String }.sorted()
        }
    }

    private func beside(_ suffix: String) -> URL { URL(fileURLWithPath: url.path + suffix) }

    private func contents() throws -> [String: Data] {
        try Dictionary(
            uniqueKeysWithValues: FileManager.default.contentsOfDirectory(atPath: folder.path).map {
                ($0, try Data(contentsOf: folder.appendingPathComponent($0)))
            })
    }

    // MARK: Journals

    /// A journal with one record with a valid checksum: the first page of the file, with some bytes of its header set.
    private func journal(pages: UInt32, recorded: UInt32?) throws -> Data {
        func bytes(_ number: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }
        var page = [UInt8](try Data(contentsOf: url).prefix(4096))
        if let recorded { page.replaceSubrange(28..<32, with: bytes(recorded)) }
        var sum: UInt32 = 7
        for place in stride(from: 4096 - 200, to: 0, by: -200) { sum &+= UInt32(page[place]) }
        var data: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        for number in [1, 7, pages, 512, 4096] { data += bytes(number) }
        data += [UInt8](repeating: 0, count: 512 - data.count)
        data += bytes(1)
        data += page
        data += bytes(sum)
        return Data(data)
    }

    @Test(arguments: [
        (UInt32(5), UInt32?.none), (5, 5), (0, nil), (1 << 31, nil), (1 << 31, 1 << 31), (.max, .max), (4000, 4000),
    ])
    func aForgedJournalChangesNothing(pages: UInt32, recorded: UInt32?) throws {
        try journal(pages: pages, recorded: recorded).write(to: beside("-journal"))
        let before = try contents()
        for readOnly in [true, false] {
            let error = #expect(throws: NSError.self) { try open(readOnly: readOnly) }
            let text = error?.localizedDescription ?? ""
            #expect(error?.code == 259 && text.contains("mv -n '\(url.path)-journal'"), "\(text)")
        }
        #expect(throws: NSError.self) {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        }
        #expect(try contents() == before)
        try FileManager.default.removeItem(at: beside("-journal"))
        #expect(try names() == ["first"])
    }

    @Test func aFileThatIsNotAJournalIsKept() throws {
        try Data("my diary".utf8).write(to: beside("-journal"))
        let before = try contents()
        #expect(throws: NSError.self) { try names() }
        #expect(try contents() == before)
    }

    /// A program is killed in a transaction; then another state of the store replaces its file.
    @Test(arguments: ["older", "newer", "branch", "own"]) func aJournalOfAnotherStateIsNotPlayed(_ state: String) throws
    {
        let place = folder.appendingPathComponent("Kept.sqlite")
        func keep() throws {
            try? FileManager.default.removeItem(at: place)
            try FileManager.default.copyItem(at: url, to: place)
        }
        func add(_ name: String, _ url: URL) throws {
            let (coordinator, store) = try open(url)
            try insert(name, coordinator)
            try coordinator.remove(store)
        }
        try keep()
        try add("second", url)
        if state == "branch" { try add("branch", place) }
        let writer = try Connection(path: url.path, access: .readWrite)
        try writer.setPragma("journal_mode", to: "delete")
        try writer.setPragma("cache_size", to: "1")
        if state == "newer" || state == "own" { try keep() }
        if state == "newer" { try add("newer", place) }
        var left = Data()
        var torn = Data()
        try writer.transaction { () throws -> Void in
            try writer.execute("UPDATE ZITEM SET ZNAME = 'lost'")
            for _ in 0..<30 {
                try writer.execute("INSERT INTO ZITEM (Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, hex(zeroblob(3000)))")
            }
            left = try Data(contentsOf: beside("-journal"))
            torn = try Data(contentsOf: url)
        }
        writer.close()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(at: beside(suffix)) }
        let wanted = ["older": ["first"], "newer": ["first", "newer", "second"], "branch": ["branch", "first"]][state]
        if wanted == nil { try torn.write(to: url) } else { try FileManager.default.moveItem(at: place, to: url) }
        #expect(left.count > 5000)
        try left.write(to: beside("-journal"))
        let before = try contents()
        guard let wanted else {
            // A reader sees the committed state and leaves writing it back to a writer.
            #expect(try names() == ["first", "second"])
            #expect(try contents() == before)
            let (coordinator, store) = try open()
            try coordinator.remove(store)
            #expect(try names() == ["first", "second"] && contents() != before)
            return
        }
        #expect(throws: NSError.self) { try names() }
        #expect(throws: NSError.self) { try open() }
        #expect(try contents() == before)
        try FileManager.default.removeItem(at: beside("-journal"))
        #expect(try names() == wanted)
    }

    // MARK: Other than plain files

    @Test(arguments: ["-wal", "-shm", "-journal"], ["fifo", "device", "folder", "link"])
    func anythingElseInTheirPlaceIsRefusedAtOnce(_ suffix: String, _ kind: String) throws {
        let path = beside(suffix).path
        try? FileManager.default.removeItem(atPath: path)
        switch kind {
        case "fifo": try #require(mkfifo(path, 0o600) == 0)
        case "device": try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/zero")
        case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        default:
            try #require(mkfifo(path + ".fifo", 0o600) == 0)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".fifo")
        }
        for readOnly in [true, false] {
            let error = #expect(throws: NSError.self) { try open(readOnly: readOnly) }
            #expect(
                error?.code == 259 && error?.localizedDescription.contains("mv -n '\(path)'") == true, "\(error as Any)"
            )
        }
        unlink(path)
        rmdir(path)
        #expect(try names() == ["first"])
    }

    /// No store is created next to such a file, nor does one replace another store there.
    @Test(arguments: ["-wal", "-shm", "-journal"], [false, true])
    func noStoreIsCreatedNextToForeignFiles(_ suffix: String, isThere: Bool) throws {
        let other = folder.appendingPathComponent("Other.sqlite")
        try FileManager.default.copyItem(at: url, to: other)
        let path = beside(suffix).path
        try? FileManager.default.removeItem(atPath: path)
        try #require(mkfifo(path, 0o600) == 0)
        if !isThere { try FileManager.default.removeItem(at: url) }
        let before = isThere ? try Data(contentsOf: url) : nil
        let error = #expect(throws: NSError.self) {
            try NSPersistentStoreCoordinator(managedObjectModel: Self.model)
                .replacePersistentStore(at: url, withPersistentStoreFrom: other, type: .sqlite)
        }
        #expect(
            error?.code == 259 && error?.localizedDescription.contains("mv -n '\(path)'") == true, "\(error as Any)")
        #expect((try? Data(contentsOf: url)) == before)
    }

    // MARK: No store

    /// Only the store's file was moved after a program that had it open was killed.
    private func moveAway() throws -> URL {
        let (coordinator, store) = try open()
        try insert("second", coordinator)
        let kept = folder.appendingPathComponent("kept", isDirectory: true)
        try FileManager.default.createDirectory(at: kept, withIntermediateDirectories: true)
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: url.path + suffix, toPath: kept.path + "/Store.sqlite" + suffix)
        }
        try coordinator.remove(store)
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(at: beside(suffix)) }
        try FileManager.default.moveItem(atPath: kept.path + "/Store.sqlite-wal", toPath: beside("-wal").path)
        return kept.appendingPathComponent("Store.sqlite")
    }

    @Test(arguments: ["add", "empty file", "replace", "migrate", "copy", "destroy"])
    func theLogOfAStoreThatWasMovedAwayStays(_ way: String) throws {
        let moved = try moveAway()
        let log = try Data(contentsOf: beside("-wal"))
        let other = folder.appendingPathComponent("Other.sqlite")
        let (coordinator, store) = try open(other)
        try insert("other", coordinator)
        if way == "empty file" || way == "destroy" { try Data().write(to: url) }
        let error = #expect(throws: NSError.self) {
            switch way {
            case "replace":
                try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: other, type: .sqlite)
            case "migrate": _ = try coordinator.migratePersistentStore(store, to: url, type: .sqlite)
            case "copy": try coordinator.copyContents(of: store, to: url)
            case "destroy": try coordinator.destroyPersistentStore(at: url, type: .sqlite)
            default: _ = try open()
            }
        }
        #expect(error?.code == 516, "\(error as Any)")
        #expect(error?.localizedDescription.contains("mv -n '\(url.path)-wal'") == true, "\(error as Any)")
        #expect(try Data(contentsOf: beside("-wal")) == log)
        // At its old path, the store is complete.
        try? FileManager.default.removeItem(at: url)
        try FileManager.default.moveItem(at: moved, to: url)
        #expect(try names() == ["first", "second"])
    }

    // MARK: While a program writes

    @Test(arguments: ["cut", "emptied", "zeroed", "middle zeroed", "written over"])
    func aDamagedLogIsNotWrittenOn(_ how: String) throws {
        let (coordinator, store) = try open()
        for number in 0..<20 { try insert("\(number)", coordinator) }
        let log = beside("-wal")
        let size = try #require(try FileManager.default.attributesOfItem(atPath: log.path)[.size] as? Int)
        let main = try Data(contentsOf: url)
        // File times have a resolution of some milliseconds.
        usleep(20_000)
        let file = try FileHandle(forWritingTo: log)
        switch how {
        case "cut": try file.truncate(atOffset: UInt64(size / 2))
        case "emptied": try file.truncate(atOffset: 0)
        case "zeroed": try file.write(contentsOf: Data(count: size))
        case "middle zeroed":
            try file.seek(toOffset: UInt64(size / 2))
            try file.write(contentsOf: Data(count: 5000))
        default: try file.write(contentsOf: (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        }
        try file.close()
        let damaged = try Data(contentsOf: log)
        for _ in 0..<2 {
            let error = #expect(throws: NSError.self) { try insert("lost", coordinator) }
            #expect(error?.localizedDescription.contains("Nothing was written") == true, "\(error as Any)")
        }
        #expect(throws: NSError.self) { try coordinator.checkFile(of: store) }
        try coordinator.remove(store)
        #expect(try Data(contentsOf: log) == damaged)
        #expect(try Data(contentsOf: url) == main)
    }
}
