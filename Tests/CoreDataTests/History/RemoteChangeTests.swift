import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Two coordinators on one store, in the role of two processes.
@Suite struct RemoteChangeTests {
    private static let watching: [String: Bool] = [
        NSPersistentHistoryTrackingKey: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
    ]

    /// Two coordinators on one store.
    private final class Pair {
        private let place: League.Place
        let here: NSPersistentStoreCoordinator
        let there: NSPersistentStoreCoordinator

        init(
            _ kind: League.StoreKind, _ options: [String: Bool] = watching, pace: RemoteChangeWatcher.Pace = .init()
        ) throws {
            place = try League.Place(kind)
            here = try place.coordinator(options, pace: pace)
            there = try place.coordinator(options)
        }

        /// A third process, which observes commits.
        func witness() throws -> Witness { Witness(try place.coordinator(watching)) }
    }

    /// Waits for two more commits. All coordinators poll equally often, so earlier commits were posted everywhere by
    /// then.
    private final class Witness {
        private let coordinator: NSPersistentStoreCoordinator
        private let remote: Heard
        private let writer: NSManagedObjectContext

        init(_ coordinator: NSPersistentStoreCoordinator) {
            self.coordinator = coordinator
            remote = Heard(.NSPersistentStoreRemoteChange, from: coordinator)
            writer = League.context(coordinator)
        }

        func hears(_ there: NSManagedObjectContext) throws {
            for name in ["Fiji", "Peru"] {
                let before = remote.count
                try there.performAndWait { () throws in
                    there.addTeam(name)
                    try there.save()
                }
                eventually("another process hears of a commit") { remote.count > before }
            }
        }
    }

    private func save(_ context: NSManagedObjectContext, _ change: (NSManagedObjectContext) throws -> Void) throws {
        try context.performAndWait { () throws in
            try change(context)
            try context.save()
        }
    }

    @Test(arguments: League.StoreKind.allCases) func aCommitOfAnotherProcessIsMergedAndAnnounced(
        on kind: League.StoreKind
    ) throws {
        let pair = try Pair(kind)
        let (here, there) = (pair.here, pair.there)
        let reader = League.context(here)
        reader.automaticallyMergesChangesFromParent = true
        let writer = League.context(there)
        let remote = Heard(.NSPersistentStoreRemoteChange, from: here)
        try save(writer) { $0.addTeam("Ghana") }
        let ghana = try reader.performAndWait { () throws -> UncheckedSendable<NSManagedObject> in
            let ghana = try #require(try reader.fetch(League.request("Team")).first)
            _ = ghana.value(forKey: "wins")
            return UncheckedSendable(ghana)
        }.value
        let changed = Heard(NSManagedObjectContext.didChangeObjectsNotification, from: reader)
        eventually("the first commit is announced") { remote.count > 0 }
        let before = remote.count
        try save(writer) { writer in
            try #require(try writer.fetch(League.request("Team")).first).setValue(4, forKey: "wins")
        }
        eventually("the commit is merged") { changed.all.contains { $0.userInfo?[NSRefreshedObjectsKey] != nil } }
        reader.performAndWait { #expect(ghana.value(forKey: "wins") as? Int == 4) }
        eventually("the commit is announced") { remote.count > before }
        let info = remote.last?.userInfo
        let store = here.persistentStores[0]
        #expect(info?[NSStoreUUIDKey] as? String == store.identifier)
        #expect(info?[NSPersistentStoreURLKey] as? URL == store.url)
        #expect(
            (info?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken)?.number(ofStore: store.identifier) == 2)
    }

    /// While no program writes to the store, its files are watched: the system reports each commit and the removal of
    /// the file, even with an hour between two polls.
    @Test func aStoreAtRestIsWatchedWithoutPolling() throws {
        #expect(RemoteChangeWatcher.Pace().interval == .milliseconds(100), "how soon all others hear of a commit")
        let pair = try Pair(
            .sqlite, pace: .init(interval: .milliseconds(10), quietInterval: .seconds(3600), quietLooks: 3))
        let (here, there) = (pair.here, pair.there)
        let reader = League.context(here)
        reader.automaticallyMergesChangesFromParent = true
        let writer = League.context(there)
        let merged = Heard(NSManagedObjectContext.didMergeChangesObjectIDsNotification, from: reader)
        for name in ["Ghana", "Wales", "Chile"] {
            eventually("the files are watched") { here.remoteChanges.watchesFiles }
            let before = merged.count
            try save(writer) { $0.addTeam(name) }
            eventually("the commit of \(name) is merged") { merged.count > before }
        }
        eventually("the files are watched") { here.remoteChanges.watchesFiles }
        let lost = Heard(NSPersistentStoreCoordinator.storeFileDidVanishNotification, from: here)
        let url = try #require(here.persistentStores[0].url)
        try FileManager.default.moveItem(at: url, to: url.appendingPathExtension("away"))
        eventually("the loss of the file is announced") { lost.count > 0 }
        try FileManager.default.moveItem(at: url.appendingPathExtension("away"), to: url)
    }

    @Test(arguments: League.StoreKind.allCases) func ownSavesAreAnnouncedOnceAndNotMergedTwice(
        on kind: League.StoreKind
    ) throws {
        let pair = try Pair(kind)
        let here = pair.here
        let writer = League.context(here)
        let reader = League.context(here)
        reader.automaticallyMergesChangesFromParent = true
        let remote = Heard(.NSPersistentStoreRemoteChange, from: here)
        let merged = Heard(NSManagedObjectContext.didMergeChangesObjectIDsNotification, from: reader)
        try save(writer) { $0.addTeam("Ghana") }
        eventually("the save is announced and merged") { remote.count > 0 && merged.count > 0 }
        #expect(remote.count == 1)
        #expect(merged.count == 1)
        // The poll that finds the other process's commit reads the own commit in the history, too, and skips it.
        try save(League.context(pair.there)) { $0.addTeam("Wales") }
        eventually("the other's save is announced and merged") { remote.count > 1 && merged.count > 1 }
        #expect(remote.count == 2)
        #expect(merged.count == 2)
        #expect((merged.last?.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID>)?.count == 1)
    }

    @Test(arguments: League.StoreKind.allCases) func withoutTheOptionNothingIsPolled(on kind: League.StoreKind) throws {
        let pair = try Pair(kind, [NSPersistentHistoryTrackingKey: true])
        let (here, there) = (pair.here, pair.there)
        let reader = League.context(here)
        reader.automaticallyMergesChangesFromParent = true
        let remote = Heard(.NSPersistentStoreRemoteChange, from: nil)
        let merged = Heard(NSManagedObjectContext.didMergeChangesObjectIDsNotification, from: reader)
        try pair.witness().hears(League.context(there))
        #expect(merged.count == 0)
        #expect(!remote.all.contains { $0.object as AnyObject? === here })
    }

    @Test(arguments: League.StoreKind.allCases) func aStoreWithoutHistoryIsSweptByVersions(on kind: League.StoreKind)
        throws
    {
        let pair = try Pair(
            kind,
            [
                NSPersistentHistoryTrackingKey: false, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
            ])
        let (here, there) = (pair.here, pair.there)
        let reader = League.context(here)
        reader.automaticallyMergesChangesFromParent = true
        let writer = League.context(there)
        let unknown = Heard(.contextHasUnknownChanges, from: reader)
        try save(writer) { writer in
            for name in ["Ghana", "Mali", "Togo"] { writer.addTeam(name) }
        }
        let teams = try reader.performAndWait { () throws -> UncheckedSendable<[NSManagedObject]> in
            let teams = try reader.fetch(League.request("Team", by: "name"))
            for team in teams { _ = team.value(forKey: "wins") }
            return UncheckedSendable(teams)
        }.value
        eventually("the first commit is heard of") { unknown.count > 0 }
        let before = unknown.count
        try save(writer) { writer in
            let theirs = try writer.fetch(League.request("Team", by: "name"))
            theirs[0].setValue(7, forKey: "wins")
            writer.delete(theirs[2])
        }
        eventually("the second commit is heard of") { unknown.count > before }
        reader.performAndWait {
            #expect(teams[0].value(forKey: "wins") as? Int == 7)
            #expect(teams[1].value(forKey: "wins") as? Int == 0)
            #expect(teams[2].isDeleted)
        }
    }

    @Test(arguments: League.StoreKind.allCases)
    func relationshipsFollowAnotherProcess(on kind: League.StoreKind) throws {
        let pair = try Pair(kind)
        let writer = League.context(pair.there)
        let reader = League.context(pair.here)
        reader.automaticallyMergesChangesFromParent = true
        try save(writer) { writer in
            let venue = writer.addVenue("Accra")
            let teams = ["Ghana", "Mali", "Togo"].map { writer.addTeam($0) }
            teams[0].setValue(venue, forKey: "venue")
            teams[0].setValue([teams[1]] as Set<NSManagedObject>, forKey: "rivals")
        }
        func names(_ value: Any?) -> Set<String> {
            Set(
                ((value as? NSSet)?.allObjects as? [NSManagedObject] ?? []).compactMap {
                    $0.value(forKey: "name") as? String
                })
        }
        let held = try reader.performAndWait { () throws -> UncheckedSendable<[NSManagedObject]> in
            let venue = try #require(try reader.fetch(League.request("Venue")).first)
            let teams = try reader.fetch(League.request("Team", by: "name"))
            #expect(names(venue.value(forKey: "teams")) == ["Ghana"])
            #expect(teams.map { names($0.value(forKey: "rivals")) } == [["Mali"], ["Ghana"], []])
            return UncheckedSendable([venue] + teams)
        }.value
        try save(writer) { writer in
            let venue = try #require(try writer.fetch(League.request("Venue")).first)
            let teams = try writer.fetch(League.request("Team", by: "name"))
            teams[0].setValue(nil, forKey: "venue")
            teams[1].setValue(venue, forKey: "venue")
            teams[2].setValue([teams[0], teams[1]] as Set<NSManagedObject>, forKey: "rivals")
            writer.delete(teams[1])
        }
        eventually("the deletion is merged") { reader.performAndWait { held[2].isDeleted } }
        reader.performAndWait {
            #expect(names(held[0].value(forKey: "teams")) == [])
            #expect(names(held[1].value(forKey: "rivals")) == ["Togo"])
            #expect(names(held[3].value(forKey: "rivals")) == ["Ghana"])
            #expect(!reader.hasChanges)
        }
    }

    @Test(arguments: League.StoreKind.allCases) func removingTheStoreEndsTheWatch(on kind: League.StoreKind) throws {
        let pair = try Pair(kind)
        let (here, there) = (pair.here, pair.there)
        let remote = Heard(.NSPersistentStoreRemoteChange, from: here)
        try here.remove(here.persistentStores[0])
        try pair.witness().hears(League.context(there))
        #expect(remote.count == 0)
    }
}
