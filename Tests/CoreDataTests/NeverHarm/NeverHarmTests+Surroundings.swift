import Foundation
import Synchronization
import Testing

@testable import CoreData

/// Links in the place of values, folders of the framework's own, and writers that are faster than a reader.
extension NeverHarmTests {
    @Test func aLinkIsNoExternalValue() throws {
        let world = try World()
        let url = world.url("Store.sqlite")
        try world.fill(url, "picture", pictureSize: 300_000)
        let folder = world.url(".Store_SUPPORT/_EXTERNAL_DATA")
        let name = try #require(FileManager.default.contentsOfDirectory(atPath: folder.path).first)
        let secret = world.url("secret")
        try Data(repeating: 1, count: 300_000).write(to: secret)
        try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        try FileManager.default.createSymbolicLink(at: folder.appendingPathComponent(name), withDestinationURL: secret)
        let context = try world.coordinator(url).context()
        try context.performAndWait {
            let item = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).first)
            #expect(item.value(forKey: "picture") == nil)
        }
    }

    @Test func cachesStandInTheHomeOfTheEnvironment() async {
        await #expect(processExitsWith: .success) {
            let world = try NeverHarmTests.World()
            unsetenv("XDG_CACHE_HOME")
            setenv("HOME", world.folder.path, 1)
            #expect(ResultsCacheDirectory.path.hasPrefix(world.folder.path + "/.cache/"))
            #expect(ChangeToken.notesFolder.path.hasPrefix(world.folder.path + "/.cache/"))
            try ResultsCacheDirectory.create()
            let attributes = try FileManager.default.attributesOfItem(atPath: ResultsCacheDirectory.path)
            guard attributes[.posixPermissions] as? Int == 0o700 else { exit(3) }
            guard ResultsCacheDirectory.path.hasPrefix(world.folder.path + "/.cache/") else { exit(4) }
        }
    }

    /// What another process commits while a context is busy is merged as one batch, and all of it.
    @Test func aBacklogOfCommitsIsOneBatch() throws {
        let world = try World()
        let url = world.url("Store.sqlite")
        let options: [AnyHashable: Any] = [
            NSPersistentHistoryTrackingKey: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
        ]
        let (here, there) = (try world.coordinator(url, options: options), try world.coordinator(url, options: options))
        let (reader, writer) = (here.context(), there.context())
        reader.automaticallyMergesChangesFromParent = true
        let id = try writer.fill("one")
        let numbers = UncheckedSendable(NSFetchRequest<NSManagedObject>(entityName: "Item"))
        let item = try reader.performAndWait { UncheckedSendable(try #require(reader.fetch(numbers.value).first)) }
        _ = reader.performAndWait { item.value.value(forKey: "number") }
        let merges = Mutex(0)
        let token = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didMergeChangesObjectIDsNotification, object: reader, queue: nil
        ) { _ in merges.withLock { $0 += 1 } }
        defer { NotificationCenter.default.removeObserver(token) }
        Thread.sleep(forTimeInterval: 0.3)
        merges.withLock { $0 = 0 }
        // The reader's queue is busy while the watcher looks several times.
        let release = DispatchSemaphore(value: 0)
        reader.perform { release.wait() }
        for number in 1...40 {
            try writer.performAndWait {
                writer.object(with: id).setValue(number, forKey: "number")
                try writer.save()
            }
            Thread.sleep(forTimeInterval: 0.02)
        }
        Thread.sleep(forTimeInterval: 0.3)
        release.signal()
        var last = 0
        for _ in 0..<200 where last != 40 {
            Thread.sleep(forTimeInterval: 0.01)
            last = reader.performAndWait { item.value.value(forKey: "number") as? Int ?? 0 }
        }
        #expect(last == 40)
        #expect(merges.withLock { $0 } <= 2)
    }
}
