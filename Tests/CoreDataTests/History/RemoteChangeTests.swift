import Foundation
import Testing

@testable import CoreData

/// Two coordinators on one store stand for two processes.
@Suite struct RemoteChangeTests {
    private static let watching: [String: Bool] = [
        NSPersistentHistoryTrackingKey: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
    ]

    private func pair(
        _ options: [String: Bool] = watching
    ) throws -> (here: NSPersistentStoreCoordinator, there: NSPersistentStoreCoordinator) {
        let url = URL(fileURLWithPath: "/memory/\(UUID().uuidString)")
        return (
            try League.memoryStack(at: url, options: options).coordinator,
            try League.memoryStack(at: url, options: options).coordinator
        )
    }

    private func save(_ context: NSManagedObjectContext, _ change: (NSManagedObjectContext) throws -> Void) throws {
        try context.performAndWait { () throws in
            try change(context)
            try context.save()
        }
    }

    @Test func aCommitOfAnotherProcessIsMergedAndAnnouncedWithinHalfASecond() throws {
        let (here, there) = try pair()
        let reader = League.context(here)
        reader.automaticallyMergesChangesFromParent = true
        let writer = League.context(there)
        try save(writer) { $0.addTeam("Ghana") }
        let ghana = try reader.performAndWait { () throws -> UncheckedSendable<NSManagedObject> in
            let ghana = try #require(try reader.fetch(League.request("Team")).first)
            _ = ghana.value(forKey: "wins")
            return UncheckedSendable(ghana)
        }.value
        let remote = Heard(.NSPersistentStoreRemoteChange, from: here)
        let changed = Heard(NSManagedObjectContext.didChangeObjectsNotification, from: reader)
        _ = waits(upTo: 0.3) { remote.count > 0 }
        let before = remote.count
        let start = Date()
        try save(writer) { writer in
            try #require(try writer.fetch(League.request("Team")).first).setValue(4, forKey: "wins")
        }
        #expect(waits(upTo: 2) { changed.all.contains { $0.userInfo?[NSRefreshedObjectsKey] != nil } })
        #expect(Date().timeIntervalSince(start) < 0.5)
        reader.performAndWait { #expect(ghana.value(forKey: "wins") as? Int == 4) }
        #expect(waits { remote.count > before })
        let info = remote.last?.userInfo
        let store = here.persistentStores[0]
        #expect(info?[NSStoreUUIDKey] as? String == store.identifier)
        #expect(info?[NSPersistentStoreURLKey] as? URL == store.url)
        #expect(
            (info?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken)?.number(ofStore: store.identifier) == 2)
    }

    @Test func ownSavesAreAnnouncedOnceAndNotMergedTwice() throws {
        let (here, _) = try pair()
        let writer = League.context(here)
        let reader = League.context(here)
        reader.automaticallyMergesChangesFromParent = true
        let remote = Heard(.NSPersistentStoreRemoteChange, from: here)
        let merged = Heard(NSManagedObjectContext.didMergeChangesObjectIDsNotification, from: reader)
        try save(writer) { $0.addTeam("Ghana") }
        #expect(waits { remote.count > 0 && merged.count > 0 })
        _ = waits(upTo: 0.35) { remote.count > 1 || merged.count > 1 }
        #expect(remote.count == 1)
        #expect(merged.count == 1)
    }

    @Test func withoutTheOptionNothingIsPolled() throws {
        let (here, there) = try pair([NSPersistentHistoryTrackingKey: true])
        let reader = League.context(here)
        reader.automaticallyMergesChangesFromParent = true
        let remote = Heard(.NSPersistentStoreRemoteChange, from: nil)
        let merged = Heard(NSManagedObjectContext.didMergeChangesObjectIDsNotification, from: reader)
        try save(League.context(there)) { $0.addTeam("Ghana") }
        #expect(!waits(upTo: 0.35) { merged.count > 0 })
        #expect(!remote.all.contains { $0.object as AnyObject? === here })
    }

    @Test func aStoreWithoutHistoryIsSweptByVersions() throws {
        let (here, there) = try pair([
            NSPersistentHistoryTrackingKey: false, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
        ])
        let reader = League.context(here)
        reader.automaticallyMergesChangesFromParent = true
        let writer = League.context(there)
        try save(writer) { writer in
            for name in ["Ghana", "Mali", "Togo"] { writer.addTeam(name) }
        }
        let teams = try reader.performAndWait { () throws -> UncheckedSendable<[NSManagedObject]> in
            let teams = try reader.fetch(League.request("Team", by: "name"))
            for team in teams { _ = team.value(forKey: "wins") }
            return UncheckedSendable(teams)
        }.value
        let unknown = Heard(.contextHasUnknownChanges, from: reader)
        _ = waits(upTo: 0.25) { unknown.count > 0 }
        let before = unknown.count
        try save(writer) { writer in
            let theirs = try writer.fetch(League.request("Team", by: "name"))
            theirs[0].setValue(7, forKey: "wins")
            writer.delete(theirs[2])
        }
        #expect(waits { unknown.count > before })
        reader.performAndWait {
            #expect(teams[0].value(forKey: "wins") as? Int == 7)
            #expect(teams[1].value(forKey: "wins") as? Int == 0)
            #expect(teams[2].isDeleted)
        }
    }

    @Test func removingTheStoreEndsTheWatch() throws {
        let (here, there) = try pair()
        let remote = Heard(.NSPersistentStoreRemoteChange, from: here)
        try here.remove(here.persistentStores[0])
        try save(League.context(there)) { $0.addTeam("Ghana") }
        #expect(!waits(upTo: 0.3) { remote.count > 0 })
    }
}
