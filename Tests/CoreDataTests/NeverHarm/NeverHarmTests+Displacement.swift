import CoreData
import Foundation
import Synchronization
import Testing

/// A store whose file is moved, replaced or deleted while it is open.
extension NeverHarmTests {
    enum Displacement: CaseIterable {
        case moved, deleted, replaced, logDeleted, indexReplaced

        func run(_ world: World, _ url: URL) throws {
            let manager = FileManager.default
            switch self {
            case .moved: try manager.moveItem(at: url, to: world.url("elsewhere.sqlite"))
            case .deleted: try manager.removeItem(at: url)
            case .replaced:
                try world.fill(world.url("other.sqlite"), "other")
                #expect(rename(world.url("other.sqlite").path, url.path) == 0)
            case .logDeleted: try manager.removeItem(atPath: url.path + "-wal")
            case .indexReplaced:
                try manager.copyItem(atPath: url.path + "-shm", toPath: world.url("index").path)
                #expect(rename(world.url("index").path, url.path + "-shm") == 0)
            }
        }
    }

    private func contents(_ url: URL) -> [Data?] {
        ["", "-wal"].map { try? Data(contentsOf: URL(fileURLWithPath: url.path + $0)) }
    }

    @Test(arguments: Displacement.allCases)
    func nothingIsSavedIntoAStoreThatIsNotAtItsPlace(_ displacement: Displacement) throws {
        let world = try World()
        let url = world.url("Store.sqlite")
        let coordinator = try world.coordinator(url)
        let context = coordinator.context()
        try context.fill("first")
        try displacement.run(world, url)
        let before = contents(url)
        do {
            try context.fill("second")
            Issue.record("saved into \(displacement)")
        } catch let error as NSError {
            #expect(error.code == 134030)
            #expect(
                error.localizedDescription.contains(url.path)
                    && error.localizedDescription.contains("Nothing was saved"))
            if displacement == .moved {
                #expect(error.localizedDescription.contains(world.url("elsewhere.sqlite").path))
            }
        }
        #expect(contents(url) == before)
        // What was not saved is still there, and can be saved once the file is back.
        #expect(context.performAndWait { context.insertedObjects.count } == 1)
        if displacement == .moved {
            try FileManager.default.moveItem(at: world.url("elsewhere.sqlite"), to: url)
            try context.performAndWait { try context.save() }
            #expect(try context.names() == ["first", "second"])
        }
        try coordinator.remove(coordinator.persistentStores[0])
        if displacement == .replaced { #expect(try world.names(url) == ["other"]) }
        if displacement == .deleted { #expect(!FileManager.default.fileExists(atPath: url.path)) }
    }

    /// The coordinator follows a file that was moved.
    @Test func aStoreFollowsItsFile() throws {
        let world = try World()
        let (url, place) = (world.url("Store.sqlite"), world.url("elsewhere.sqlite"))
        let coordinator = try world.coordinator(url)
        let context = coordinator.context()
        try context.fill("first")
        try FileManager.default.moveItem(at: url, to: place)
        #expect(thrownCode { try context.fill("second") } == 134030)
        #expect(coordinator.setURL(place, for: coordinator.persistentStores[0]))
        try context.performAndWait { try context.save() }
        try coordinator.remove(coordinator.persistentStores[0])
        #expect(try world.names(place) == ["first", "second"])
    }

    /// A store elsewhere takes what cannot be saved.
    @Test func aStoreElsewhereTakesTheRows() throws {
        let world = try World()
        let (url, place) = (world.url("Store.sqlite"), world.url("elsewhere.sqlite"))
        let coordinator = try world.coordinator(url)
        let context = coordinator.context()
        try context.fill("first")
        try FileManager.default.removeItem(at: url)
        #expect(thrownCode { try context.fill("second") } == 134030)
        try coordinator.migratePersistentStore(coordinator.persistentStores[0], to: place, type: .sqlite)
        try context.performAndWait { try context.save() }
        try coordinator.remove(coordinator.persistentStores[0])
        #expect(try world.names(place) == ["first", "second"])
    }

    @Test func whoFollowsAStoreHearsThatItIsGone() async throws {
        let world = try World()
        let url = world.url("Store.sqlite")
        let coordinator = try world.coordinator(
            url, options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        try coordinator.context().fill("first")
        let heard = Mutex<[String]>([])
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreDidLoseFile, object: coordinator, queue: nil
        ) { notification in
            let error = notification.userInfo?[NSUnderlyingErrorKey] as? NSError
            heard.withLock { $0.append(error?.localizedDescription ?? "") }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try FileManager.default.removeItem(at: url)
        for _ in 0..<200 where heard.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(20)) }
        try await Task.sleep(for: .milliseconds(250))
        #expect(heard.withLock { $0.count } == 1)
        #expect(heard.withLock { $0.first?.contains("it was deleted") ?? false })
        try coordinator.remove(coordinator.persistentStores[0])
    }
}
