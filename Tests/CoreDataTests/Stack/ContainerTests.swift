import Foundation
import TestSupport
import Testing

@testable import CoreData

/// The whole stack with files.
@Suite final class ContainerTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("ContainerTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func container(
        _ url: URL, _ model: NSManagedObjectModel = League.model(),
        _ configure: (NSPersistentStoreDescription) -> Void = { _ in }
    ) -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "League", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: url)
        configure(description)
        container.persistentStoreDescriptions = [description]
        return container
    }

    /// Loads the stores and returns the only error.
    private func load(_ container: NSPersistentContainer) -> NSError? {
        var errors: [(any Error)?] = []
        container.loadPersistentStores { _, error in errors.append(error) }
        #expect(errors.count == 1)
        return errors.first??.asNSError
    }

    @Test func savedObjectsAreReadAfterReopening() throws {
        let url = folder.appendingPathComponent("league.sqlite")
        let first = container(url)
        #expect(load(first) == nil)
        let writer = first.newBackgroundContext()
        try writer.performAndWait { () throws in
            let venue = writer.addVenue("Maracanã", city: "Rio de Janeiro")
            writer.addTeam("Brazil", zone: "CONMEBOL", wins: 76).setValue(venue, forKey: "venue")
            writer.addTeam("Germany", zone: "UEFA", wins: 68)
            try writer.save()
        }
        try first.persistentStoreCoordinator.remove(first.persistentStoreCoordinator.persistentStores[0])

        let second = container(url)
        #expect(load(second) == nil)
        let reader = second.newBackgroundContext()
        try reader.performAndWait { () throws in
            #expect(try reader.names(League.request("Team", by: "-wins")) == ["Brazil", "Germany"])
            let here = League.request("Team", NSPredicate(format: "venue.city BEGINSWITH %@", "Rio"))
            #expect(try reader.names(here) == ["Brazil"])
            #expect(try reader.count(for: League.request("Team", NSPredicate(format: "wins > 70"))) == 1)
        }
    }

    @Test func theDefaultStoreIsInTheDefaultFolder() {
        let container = NSPersistentContainer(name: "League", managedObjectModel: League.model())
        let url = container.persistentStoreDescriptions.first?.url
        #expect(url == NSPersistentContainer.defaultDirectoryURL().appendingPathComponent("League.sqlite"))
        #expect(container.viewContext.concurrencyType == .mainQueueConcurrencyType)
        #expect(container.viewContext.persistentStoreCoordinator === container.persistentStoreCoordinator)
    }

    @Test func loadingTwiceAddsNothing() throws {
        let loaded = container(folder.appendingPathComponent("a.sqlite"))
        #expect(load(loaded) == nil)
        loaded.loadPersistentStores { _, _ in Issue.record("nothing is left to load") }
        #expect(loaded.persistentStoreCoordinator.persistentStores.count == 1)
    }

    @Test func aStoreCanBeAddedOnAnotherThread() async throws {
        let loaded = container(folder.appendingPathComponent("b.sqlite")) { $0.shouldAddStoreAsynchronously = true }
        let error: NSError? = await withCheckedContinuation { continuation in
            loaded.loadPersistentStores { _, error in continuation.resume(returning: error?.asNSError) }
        }
        #expect(error == nil)
        #expect(loaded.persistentStoreCoordinator.persistentStores.count == 1)
    }

    @Test func backgroundTasksHaveContextsOfTheirOwn() async throws {
        let loaded = container(folder.appendingPathComponent("c.sqlite"))
        #expect(load(loaded) == nil)
        try await loaded.performBackgroundTask { context in
            context.addTeam("Japan")
            try context.save()
        }
        let count = try await loaded.performBackgroundTask { try $0.count(for: League.request("Team")) }
        #expect(count == 1)
    }

    @Test func aBackgroundTaskRunsWithoutBeingAwaited() {
        let loaded = container(folder.appendingPathComponent("d.sqlite"))
        #expect(load(loaded) == nil)
        let done = Heard(Notification.Name("done"), from: nil)
        loaded.performBackgroundTask { _ in
            NotificationCenter.default.post(name: Notification.Name("done"), object: nil)
        }
        eventually("the task has run") { done.count == 1 }
    }

    // MARK: Errors: one line with the file, and nothing stays open

    private func check(_ error: NSError?, _ code: Int, mentions parts: String...) {
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect(error?.code == code)
        let text = error?.localizedDescription ?? ""
        for part in parts { #expect(text.contains(part), "\(text) does not say \(part)") }
        #expect(!text.contains("\n"))
    }

    @Test func aMissingFolder() {
        let url = folder.appendingPathComponent("nowhere/league.sqlite")
        let failed = container(url)
        let error = load(failed)
        #expect(error != nil)
        #expect(error?.localizedDescription.contains(url.path) == true)
        #expect(failed.persistentStoreCoordinator.persistentStores.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: url.deletingLastPathComponent().path))
    }

    @Test func aFileThatIsNotAStore() throws {
        let url = folder.appendingPathComponent("notes.sqlite")
        let text = Data(repeating: 0x41, count: 4096)
        try text.write(to: url)
        let error = load(container(url))
        check(error, 259, mentions: url.path)
        #expect(try Data(contentsOf: url) == text)
    }

    @Test func aStoreOfAnotherModel() throws {
        let url = folder.appendingPathComponent("old.sqlite")
        #expect(load(container(url)) == nil)
        let before = try Data(contentsOf: url)
        let error = load(
            container(url, League.model(teamHashModifier: "2")) { $0.shouldMigrateStoreAutomatically = false })
        check(error, 134100, mentions: url.path, "Team changed")
        #expect(
            error?.userInfo["reason"] as? String
                == "The model used to open the store is incompatible with the one used to create the store")
        #expect((error?.userInfo["metadata"] as? [String: Any])?[NSStoreUUIDKey] != nil)
        #expect(try Data(contentsOf: url) == before)
        #expect(
            load(
                container(url, League.model(teamHashModifier: "2")) {
                    $0.setOption(true as NSNumber, forKey: NSIgnorePersistentStoreVersioningOption)
                }) == nil)
    }

    @Test func aMissingModelIsAnError() {
        let container = NSPersistentContainer(name: "NoSuchModel-\(UUID().uuidString)")
        let error = load(container)
        check(error, 260, mentions: "NoSuchModel")
    }

    @Test func aStoreGivesItsOwnModel() throws {
        let url = folder.appendingPathComponent("self.sqlite")
        #expect(load(container(url)) == nil)
        let model = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        #expect(model.entitiesByName.keys.sorted() == ["ClubTeam", "Team", "Venue"])
        #expect(model.entityVersionHashesByName == League.model().entityVersionHashesByName)
        #expect(load(container(url, model)) == nil)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)
        #expect(metadata[NSStoreUUIDKey] is String)
        let missing = folder.appendingPathComponent("missing.sqlite")
        #expect(throws: NSError.self) { try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: missing) }
    }

    @Test func metadataAreWrittenAtOnceWithoutAStack() throws {
        let url = folder.appendingPathComponent("meta.sqlite")
        #expect(load(container(url)) == nil)
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        metadata["season"] = 2022
        try NSPersistentStoreCoordinator.setMetadata(metadata, type: .sqlite, at: url)
        let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(read["season"] as? Int == 2022)
    }

    @Test func aDestroyedStoreIsEmpty() throws {
        let url = folder.appendingPathComponent("gone.sqlite")
        let first = container(url)
        #expect(load(first) == nil)
        let context = first.newBackgroundContext()
        try context.performAndWait { () throws in
            context.addTeam("Japan")
            try context.save()
        }
        try first.persistentStoreCoordinator.remove(first.persistentStoreCoordinator.persistentStores[0])
        try first.persistentStoreCoordinator.destroyPersistentStore(at: url, type: .sqlite)
        let second = container(url)
        #expect(load(second) == nil)
        let reader = second.newBackgroundContext()
        try reader.performAndWait { () throws in #expect(try reader.count(for: League.request("Team")) == 0) }
    }
}

extension Error {
    fileprivate var asNSError: NSError { self as NSError }
}
