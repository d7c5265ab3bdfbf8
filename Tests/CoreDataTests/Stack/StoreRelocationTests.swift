import ChildProgram
import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// Copying, replacing and moving stores.
@Suite struct StoreRelocationTests {
    /// Two files with the model `web` of ``StoreModels``; the first one has rows.
    private final class World {
        let harness: StoreHarness
        let other: URL
        let coordinator: NSPersistentStoreCoordinator

        init() throws {
            harness = try StoreHarness(StoreModels.web())
            other = harness.folder.appendingPathComponent("Other.sqlite")
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: harness.model)
        }

        func add(_ url: URL, _ options: [AnyHashable: Any]? = nil) throws -> NSPersistentStore {
            try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
        }

        /// Creates a store with a folder with ordered notes and parts, friends and marks.
        func fill(_ url: URL, _ name: String, _ options: [AnyHashable: Any]? = nil) throws {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: harness.model)
            let store = try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
            defer { try? coordinator.remove(store) }
            try League.context(coordinator).use { context in
                let folder = context.make("Folder", ["name": name])
                let notes = ["c", "a", "b"].map { context.make("Note", ["name": $0]) }
                let parts = ["z", "y", "x"].map { context.make("Part", ["name": $0]) }
                folder.setValue(NSOrderedSet(array: notes), forKey: "notes")
                folder.setValue(NSOrderedSet(array: parts), forKey: "parts")
                let people = ["Ada", "Bob", "Cleo"].map { context.make("Person", ["name": $0]) }
                people[0].setValue(Set(people[1...]), forKey: "friends")
                folder.setValue(Set([context.make("Mark", ["name": "m"])]), forKey: "marks")
                parts[0].setValue(context.make("Song", ["title": "La", "text": "la"]), forKey: "medium")
                try context.save()
            }
        }

        func check(_ name: String, mark: String = "m") throws {
            try League.context(coordinator).use { context in
                let folders = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Folder"))
                #expect(folders.map { $0.value(forKey: "name") as? String } == [name])
                let folder = try #require(folders.first)
                #expect(folder.names("notes") == ["c", "a", "b"] && folder.names("parts") == ["z", "y", "x"])
                #expect(folder.names("marks") == [mark])
                let part = (folder.value(forKey: "parts") as? NSOrderedSet)?.firstObject as? NSManagedObject
                #expect(part?.object("medium")?.value(forKey: "text") as? String == "la")
                let people = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
                let friends = people.sorted { "\($0.value(forKey: "name")!)" < "\($1.value(forKey: "name")!)" }
                #expect(friends.map { $0.names("friends") } == [["Bob", "Cleo"], ["Ada"], ["Ada"]])
            }
        }

        /// Files in the folder that belong to none of the stores.
        func strangers() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: harness.folder.path)
                .filter { !$0.hasPrefix("Store.sqlite") && !$0.hasPrefix("Other.sqlite") && !$0.hasSuffix("_SUPPORT") }
        }
    }

    @Test func theURLIsReadWhileTheStoreMoves() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: StoreModels.web())
        let places = ["first", "second"].map { URL(string: "memory:///\($0)/\(String(repeating: $0, count: 50))")! }
        let store = try coordinator.addPersistentStore(type: .inMemory, at: places[0])
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for round in 0..<2000 {
                if thread == 0 { store.url = places[round % 2] }
                if thread == 1 { coordinator.setURL(places[round % 2], for: store) }
                guard thread > 1 else { continue }
                let url = thread == 2 ? store.url : coordinator.url(for: store)
                if url != places[0] && url != places[1] { Issue.record("\(String(describing: url))") }
            }
        }
    }

    @Test func aStoreIsSavedAsAnother() throws {
        let world = try World()
        try world.fill(world.harness.url, "Full", StoreHarness.history)
        let old = try world.add(world.harness.url, StoreHarness.history)
        world.coordinator.setMetadata(["Season": 2022], for: old)
        let heard = Heard(.NSPersistentStoreCoordinatorStoresDidChange, from: world.coordinator)
        let new = try world.coordinator.migratePersistentStore(old, to: world.other, type: .sqlite)
        #expect(world.coordinator.persistentStores == [new] && old.persistentStoreCoordinator == nil)
        #expect(new.url == world.other && new.identifier != old.identifier)
        #expect(world.coordinator.metadata(for: new)["Season"] as? Int == 2022)
        let changed = try #require(heard.last?.userInfo?[NSUUIDChangedPersistentStoresKey] as? [Any])
        #expect(changed[0] as? NSPersistentStore === old && changed[1] as? NSPersistentStore === new)
        #expect((changed[2] as? [NSManagedObjectID])?.count == 12)
        try world.check("Full")
        #expect(try world.strangers().isEmpty)
        #expect(FileManager.default.fileExists(atPath: world.harness.url.path), "the old file stays")
        let connection = try Connection(path: world.other.path, access: .readOnly)
        #expect(try connection.integer("SELECT COUNT(*) FROM ACHANGE") == 12, "the history comes along")
    }

    @Test func aStoreIsSavedAsOneOfAnotherType() throws {
        let (coordinator, memory) = try League.memoryStack()
        let place = try League.Place(.sqlite)
        try League.context(coordinator).use { context in
            let venue = context.addVenue("Accra")
            let teams = [context.addTeam("Ghana", wins: 3), context.addTeam("Togo", entity: "ClubTeam")]
            for team in teams { team.setValue(venue, forKey: "venue") }
            teams[0].setValue(Set([teams[1]]), forKey: "rivals")
            try context.save()
        }
        let new = try coordinator.migratePersistentStore(memory, to: place.url, withType: NSSQLiteStoreType)
        #expect(coordinator.persistentStores == [new] && new.type == NSSQLiteStoreType)
        try League.context(coordinator).use { context in
            let teams = try context.fetch(League.request("Team", by: "name"))
            #expect(teams.map(\.entity.name) == ["Team", "ClubTeam"] && teams[0].value(forKey: "wins") as? Int == 3)
            #expect(teams[0].names("rivals") == ["Togo"] && teams[1].names("rivals") == ["Ghana"])
            #expect(teams[0].object("venue")?.names("teams") == ["Ghana", "Togo"])
        }
    }

    @Test func nothingIsOverwrittenByMigrating() throws {
        let world = try World()
        try world.fill(world.harness.url, "Full")
        let old = try world.add(world.harness.url)
        try Data("precious".utf8).write(to: world.other)
        #expect {
            try world.coordinator.migratePersistentStore(old, to: world.other, type: .sqlite)
        } throws: { code($0) == 516 }
        #expect(try Data(contentsOf: world.other) == Data("precious".utf8))
        #expect(world.coordinator.persistentStores == [old])
        try world.check("Full")
        #expect {
            try world.coordinator.migratePersistentStore(
                old, to: world.harness.folder.appendingPathComponent("none/x.sqlite"), type: .sqlite)
        } throws: { code($0) != 516 }
        #expect(world.coordinator.persistentStores == [old])
    }

    @Test func aStoreIsReplacedByAnother() throws {
        let world = try World()
        try world.fill(world.harness.url, "New")
        try world.fill(world.other, "Old")
        let (first, second) = (try world.add(world.harness.url), try world.add(world.other))
        let external = ExternalData(storePath: world.harness.url.path).values.url
        try FileManager.default.createDirectory(at: external, withIntermediateDirectories: true)
        let name = UUID().uuidString
        try Data("external".utf8).write(to: external.appendingPathComponent(name))
        try world.coordinator.remove(second)
        // The source is open and has a change that is only in its log.
        try League.context(world.coordinator).use { context in
            let mark = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Mark")).first)
            mark.setValue("late", forKey: "name")
            try context.save()
        }
        try world.coordinator.replacePersistentStore(
            at: world.other, withPersistentStoreFrom: world.harness.url, type: .sqlite)
        try world.coordinator.remove(first)
        let replaced = try world.add(world.other)
        #expect(replaced.identifier == first.identifier)
        try world.check("New", mark: "late")
        #expect(try world.strangers().isEmpty)
        // No row refers to the file, so it is not copied.
        let copied = ExternalData(storePath: world.other.path).values.url.appendingPathComponent(name)
        #expect(!FileManager.default.fileExists(atPath: copied.path))
        #expect(try Data(contentsOf: external.appendingPathComponent(name)) == Data("external".utf8))
    }

    @Test(arguments: [false, true]) func aStoreOfAnotherProcessStays(isOpenHereToo: Bool) throws {
        let world = try World()
        try world.fill(world.harness.url, "New")
        try world.fill(world.other, "Old")
        let first = try world.add(world.harness.url)
        guard let elsewhere = try HeldElsewhere(world.other) else { return print("skipped: no sqlite3 here") }
        let here = isOpenHereToo ? try Connection(path: world.other.path, access: .readWrite) : nil
        #expect(try here?.integer("SELECT COUNT(*) FROM ZFOLDER") != 0)
        let options: [AnyHashable: Any] = [NSPersistentStoreTimeoutOption: 0.05]
        #expect {
            try world.coordinator.replacePersistentStore(
                at: world.other, destinationOptions: options, withPersistentStoreFrom: world.harness.url, type: .sqlite)
        } throws: { code($0) == 134090 }
        #expect {
            try world.coordinator.destroyPersistentStore(at: world.other, type: .sqlite, options: options)
        } throws: { code($0) == 134090 }
        let reader = try Connection(path: world.other.path, access: .readWrite)
        #expect(try reader.rows("SELECT ZNAME FROM ZFOLDER") == [[.text("Old")]])
        reader.close()
        here?.close()
        elsewhere.end()
        try world.coordinator.replacePersistentStore(
            at: world.other, withPersistentStoreFrom: world.harness.url, type: .sqlite)
        try world.coordinator.remove(first)
        _ = try world.add(world.other)
        try world.check("New")
    }

    @Test func aSourceThatIsNotAStoreReplacesNothing() throws {
        let world = try World()
        try world.fill(world.other, "Old")
        try Data("nothing".utf8).write(to: world.harness.url)
        #expect(throws: CocoaError.self) {
            try world.coordinator.replacePersistentStore(
                at: world.other, withPersistentStoreFrom: world.harness.url, type: .sqlite)
        }
        #expect {
            try world.coordinator.replacePersistentStore(
                at: world.other, withPersistentStoreFrom: world.harness.folder.appendingPathComponent("none"),
                ofType: NSSQLiteStoreType)
        } throws: { code($0) == 260 }
        _ = try world.add(world.other)
        try world.check("Old")
        #expect(try world.strangers().isEmpty)
    }

    @Test func aDamagedStoreIsReplaced() throws {
        let world = try World()
        try world.fill(world.harness.url, "New")
        let first = try world.add(world.harness.url)
        try Data("no store".utf8).write(to: world.other)
        try Data("no log".utf8).write(to: URL(fileURLWithPath: world.other.path + "-wal"))
        // It may be anything and is replaced only if the option is set.
        #expect {
            try world.coordinator.replacePersistentStore(
                at: world.other, withPersistentStoreFrom: world.harness.url, type: .sqlite)
        } throws: { code($0) == 259 && message($0).contains("not a store") }
        #expect(try Data(contentsOf: world.other) == Data("no store".utf8))
        try world.coordinator.replacePersistentStore(
            at: world.other, destinationOptions: [NSPersistentStoreForceDestroyOption: true],
            withPersistentStoreFrom: world.harness.url, type: .sqlite)
        try world.coordinator.remove(first)
        _ = try world.add(world.other)
        try world.check("New")
    }

    /// Another store's log next to the destination is not applied to it. If the destination cannot be replaced, it is
    /// unchanged.
    @Test func aForeignLogIsNotPlayedIntoTheReplacedStore() throws {
        let world = try World()
        try world.fill(world.harness.url, "New")
        try world.fill(world.other, "Old")
        let third = world.harness.folder.appendingPathComponent("Store.sqlite-third")
        let store = try world.add(third)
        try? FileManager.default.removeItem(atPath: world.other.path + "-wal")
        try FileManager.default.copyItem(atPath: third.path + "-wal", toPath: world.other.path + "-wal")
        try world.coordinator.remove(store)
        let main = try Data(contentsOf: world.other)
        let files = try [world.harness.url, world.other].map {
            try StoreFile(url: $0, options: StoreOptions(nil), isReadOnly: false)
        }
        let replacement = StoreReplacement(source: files[0], destination: files[1], isForced: false)
        #expect { try replacement.whileNobodyHasItOpen {} } throws: { code($0) == 259 }
        #expect(try Data(contentsOf: world.other) == main)
        try world.coordinator.replacePersistentStore(
            at: world.other, withPersistentStoreFrom: world.harness.url, type: .sqlite)
        _ = try world.add(world.other)
        try world.check("New")
    }

    @Test func aStoreFollowsItsFile() throws {
        let world = try World()
        try world.fill(world.harness.url, "Full")
        let store = try world.add(world.harness.url)
        try world.coordinator.replacePersistentStore(
            at: world.other, withPersistentStoreFrom: world.harness.url, type: .sqlite)
        #expect(!world.coordinator.setURL(world.harness.folder.appendingPathComponent("none.sqlite"), for: store))
        #expect(store.url == world.harness.url)
        #expect(
            !FileManager.default.fileExists(atPath: world.harness.folder.appendingPathComponent("none.sqlite").path))
        #expect(world.coordinator.setURL(world.other, for: store) && store.url == world.other)
        try world.check("Full")
        try League.context(world.coordinator).use { context in
            _ = context.make("Mark", ["name": "second"])
            try context.save()
        }
        let connection = try Connection(path: world.other.path, access: .readOnly)
        #expect(try connection.integer("SELECT COUNT(*) FROM ZMARK") == 2)
        let stranger = try World()
        _ = try stranger.add(stranger.harness.url)
        #expect(!world.coordinator.setURL(stranger.harness.url, for: store), "another store is not the same one moved")
        #expect(store.url == world.other)
    }

    @Test func finishingWithoutAnythingThatWaitsDoesNothing() throws {
        let world = try World()
        let store = try world.add(world.harness.url)
        try world.coordinator.finishDeferredLightweightMigrationTask()
        try world.coordinator.finishDeferredLightweightMigration()
        #expect(store.metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] == nil)
    }
}

/// A database that another program has open, with a log.
private final class HeldElsewhere {
    private let process = Process()
    private let input = Pipe()

    /// `nil` if the program is not installed.
    init?(_ url: URL) throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["sqlite3", url.path]
        process.standardInput = input
        process.standardOutput = output
        try ChildProgram.startAlone { try process.run() }
        try input.fileHandleForWriting.write(contentsOf: Data("PRAGMA journal_mode=wal; SELECT 'open';\n".utf8))
        var heard = ""
        while !heard.contains("open") {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { return nil }
            heard += String(decoding: data, as: UTF8.self)
        }
    }

    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
