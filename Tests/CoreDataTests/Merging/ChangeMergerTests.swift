import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData

@Suite struct ChangeMergerTests {
    /// Two contexts of one coordinator with the same three teams, which the second one has read.
    private struct Pair {
        let writer: NSManagedObjectContext
        let reader: NSManagedObjectContext
        let store: MemoryStore

        init(automatic: Bool = false) throws {
            let (coordinator, store) = try League.memoryStack()
            self.store = store
            writer = League.context(coordinator)
            reader = League.context(coordinator)
            reader.automaticallyMergesChangesFromParent = automatic
            try writer.performAndWait { [writer] in
                for (wins, name) in ["Ghana", "Mali", "Togo"].enumerated() { writer.addTeam(name, wins: wins) }
                try writer.save()
            }
        }

        func edit(_ change: (NSManagedObjectContext) throws -> Void) throws {
            try writer.performAndWait {
                try change(writer)
                try writer.save()
            }
        }

        func team(_ name: String, in context: NSManagedObjectContext) throws -> NSManagedObject {
            try #require(try context.fetch(League.request("Team", NSPredicate(format: "name == %@", name))).first)
        }
    }

    /// Observes commits as the child of a context does, and runs a closure then.
    private final class Listener: CommitObserver {
        let onTold: @Sendable () -> Void
        var isBehind: Bool { false }

        init(_ onTold: @escaping @Sendable () -> Void) { self.onTold = onTold }

        func coordinatorDidCommit(_ changes: CommittedChanges, from source: AnyObject?) {}
        func coordinatorDidRemove(_ store: NSPersistentStore) {}
        func coordinatorDidMove(_ move: StoreMove) {}
        func objectsBeneathDidChange() { onTold() }
        func storesAnswer() {}
    }

    /// A thread that reports a commit does not retain contexts: as the last owner, it would release their objects off
    /// their queue. Issue 19, sound 2.
    @Test(arguments: [false, true]) func aCommitHoldsNoContext(mergesAutomatically: Bool) throws {
        let pair = try Pair(automatic: mergesAutomatically)
        let coordinator = try #require(pair.reader.persistentStoreCoordinator)
        let kept = Mutex<NSManagedObjectContext?>(League.context(coordinator))
        weak let context = kept.withLock { $0 }
        context?.automaticallyMergesChangesFromParent = mergesAutomatically
        let wasGone = Mutex<Bool?>(nil)
        let listener = Listener {
            guard kept.withLock({ $0.take() }) != nil else { return }
            wasGone.withLock { $0 = context == nil }
        }
        context?.children.add(listener)
        let queue = try #require(context).queue
        // Keeps the queue busy until the commit was reported.
        let (told, busy) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        queue.async {
            busy.signal()
            told.wait()
        }
        busy.wait()
        try pair.edit { $0.addTeam("Kenya", wins: 3) }
        #expect(wasGone.withLock { $0 } == true)
        told.signal()
    }

    @Test func aSaveReachesASiblingThatMergesByItself() throws {
        let pair = try Pair(automatic: true)
        let ghana = try pair.reader.performAndWait { () throws in
            let ghana = try pair.team("Ghana", in: pair.reader)
            #expect(ghana.value(forKey: "wins") as? Int == 0)
            return UncheckedSendable(ghana)
        }.value
        let changed = Heard(NSManagedObjectContext.didChangeObjectsNotification, from: pair.reader)
        let merged = Heard(NSManagedObjectContext.didMergeChangesObjectIDsNotification, from: pair.reader)
        pair.store.asked.forget()
        try pair.edit { writer in
            try pair.team("Ghana", in: writer).setValue(8, forKey: "wins")
            writer.addTeam("Benin")
        }
        eventually("the changes are merged") { merged.count > 0 }
        pair.reader.performAndWait {
            #expect(ghana.value(forKey: "wins") as? Int == 8)
            #expect(!pair.reader.hasChanges)
            let info = changed.last?.userInfo ?? [:]
            #expect((info[NSRefreshedObjectsKey] as? Set<NSManagedObject>) == [ghana])
            let inserted = info[NSInsertedObjectsKey] as? Set<NSManagedObject>
            #expect(inserted?.first?.value(forKey: "name") as? String == "Benin")
            #expect(info[NSUpdatedObjectsKey] == nil)
            #expect((merged.last?.userInfo?[NSUpdatedObjectIDsKey] as? Set<NSManagedObjectID>) == [ghana.objectID])
            #expect((merged.last?.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID>)?.count == 1)
        }
        #expect(pair.store.asked.rowRequests == [], "the save's own rows are handed over")
    }

    @Test func objectsReportTheirChangesWhileAMergeIsPosted() throws {
        let pair = try Pair(automatic: true)
        let ghana = try pair.reader.performAndWait { () throws in
            let ghana = try pair.team("Ghana", in: pair.reader)
            #expect(ghana.value(forKey: "wins") as? Int == 0)
            return UncheckedSendable(ghana)
        }
        let told = UncheckedSendable(NSMutableArray())
        let observer = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didChangeObjectsNotification, object: pair.reader, queue: nil
        ) { _ in
            told.value.add(ghana.value.changedValuesForCurrentEvent() as NSDictionary)
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        let merged = Heard(NSManagedObjectContext.didMergeChangesObjectIDsNotification, from: pair.reader)
        try pair.edit { try pair.team("Ghana", in: $0).setValue(8, forKey: "wins") }
        eventually("the changes are merged") { merged.count > 0 }
        pair.reader.performAndWait {
            #expect(told.value.firstObject as? [String: Int] == ["wins": 0])
            #expect(ghana.value.changedValuesForCurrentEvent().isEmpty)
        }
    }

    @Test func nothingIsMergedWithoutTheOption() throws {
        let pair = try Pair()
        let ghana = try pair.reader.performAndWait { () throws in
            let ghana = try pair.team("Ghana", in: pair.reader)
            _ = ghana.value(forKey: "wins")
            return UncheckedSendable(ghana)
        }.value
        let saved = Heard(NSManagedObjectContext.didSaveObjectsNotification, from: pair.writer)
        try pair.edit { try pair.team("Ghana", in: $0).setValue(8, forKey: "wins") }
        pair.reader.performAndWait {
            #expect(ghana.value(forKey: "wins") as? Int == 0)
            if let notification = saved.last { pair.reader.mergeChanges(fromContextDidSave: notification) }
            #expect(ghana.value(forKey: "wins") as? Int == 8)
        }
    }

    @Test func localEditsStayOnTopAndCanBeSaved() throws {
        let pair = try Pair(automatic: true)
        let mali = try pair.reader.performAndWait { () throws in
            let mali = try pair.team("Mali", in: pair.reader)
            mali.setValue("CAF", forKey: "zone")
            return UncheckedSendable(mali)
        }.value
        let merged = Heard(NSManagedObjectContext.didMergeChangesObjectIDsNotification, from: pair.reader)
        try pair.edit { writer in
            let mali = try pair.team("Mali", in: writer)
            mali.setValue(30, forKey: "wins")
            mali.setValue("elsewhere", forKey: "zone")
        }
        eventually("the changes are merged") { merged.count > 0 }
        try pair.reader.performAndWait { () throws in
            #expect(mali.value(forKey: "wins") as? Int == 30)
            #expect(mali.value(forKey: "zone") as? String == "CAF")
            #expect(Set(mali.changedValues().keys) == ["zone"])
            try pair.reader.save()
        }
        try pair.writer.performAndWait { () throws in
            pair.writer.refreshAllObjects()
            let mali = try pair.team("Mali", in: pair.writer)
            #expect(mali.value(forKey: "zone") as? String == "CAF")
            #expect(mali.value(forKey: "wins") as? Int == 30)
        }
    }

    @Test func aDeletionLeavesTheObjectMarkedWithItsValues() throws {
        let pair = try Pair(automatic: true)
        let togo = try pair.reader.performAndWait { () throws in
            let togo = try pair.team("Togo", in: pair.reader)
            togo.setValue(99, forKey: "wins")
            return UncheckedSendable(togo)
        }.value
        let changed = Heard(NSManagedObjectContext.didChangeObjectsNotification, from: pair.reader)
        try pair.edit { writer in writer.delete(try pair.team("Togo", in: writer)) }
        eventually("the deletion is merged") { changed.all.contains { $0.userInfo?[NSDeletedObjectsKey] != nil } }
        try pair.reader.performAndWait { () throws in
            #expect(togo.isDeleted)
            #expect(togo.value(forKey: "name") as? String == "Togo")
            #expect(!pair.reader.hasChanges)
            #expect(try pair.reader.names(League.request("Team", by: "name")) == ["Ghana", "Mali"])
            try pair.reader.save()
        }
    }

    @Test func listsOfDestinationsFollow() throws {
        let pair = try Pair(automatic: true)
        try pair.edit { writer in
            let venue = writer.addVenue("Accra")
            try pair.team("Ghana", in: writer).setValue(venue, forKey: "venue")
        }
        let venue = try pair.reader.performAndWait { () throws in
            let venue = try #require(try pair.reader.fetch(League.request("Venue")).first)
            #expect((venue.value(forKey: "teams") as? NSSet)?.count == 1)
            return UncheckedSendable(venue)
        }.value
        let merged = Heard(NSManagedObjectContext.didMergeChangesObjectIDsNotification, from: pair.reader)
        try pair.edit { writer in
            let venue = try #require(try writer.fetch(League.request("Venue")).first)
            writer.addTeam("Benin").setValue(venue, forKey: "venue")
            try pair.team("Ghana", in: writer).setValue(nil, forKey: "venue")
            try pair.team("Mali", in: writer).setValue(venue, forKey: "venue")
        }
        eventually("the changes are merged") { merged.count > 0 }
        pair.reader.performAndWait {
            let teams = venue.value(forKey: "teams") as? NSSet
            let names = (teams?.allObjects as? [NSManagedObject])?.compactMap { $0.value(forKey: "name") as? String }
            #expect(Set(names ?? []) == ["Benin", "Mali"])
        }
    }

    @Test func remoteSavesAreMergedFromIDsAndURIs() throws {
        let pair = try Pair()
        let ghana = try pair.reader.performAndWait { () throws in
            let ghana = try pair.team("Ghana", in: pair.reader)
            _ = ghana.value(forKey: "wins")
            return UncheckedSendable(ghana)
        }.value
        try pair.edit { try pair.team("Ghana", in: $0).setValue(5, forKey: "wins") }
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectsKey: [ghana.objectID.uriRepresentation()]], into: [pair.reader])
        pair.reader.performAndWait { #expect(ghana.value(forKey: "wins") as? Int == 5) }
        try pair.edit { try pair.team("Ghana", in: $0).setValue(6, forKey: "wins") }
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectIDsKey: [ghana.objectID] as Set], into: [pair.reader])
        pair.reader.performAndWait { #expect(ghana.value(forKey: "wins") as? Int == 6) }
    }

    @Test func remoteInsertionsAndDeletionsAreMergedFromURIs() throws {
        let pair = try Pair()
        let togo = try pair.reader.use { context in
            let togo = try pair.team("Togo", in: context)
            _ = togo.value(forKey: "name")
            return togo
        }
        try pair.edit { writer in
            writer.delete(try pair.team("Togo", in: writer))
            writer.addTeam("Benin")
        }
        let benin = try pair.writer.use { try pair.team("Benin", in: $0).objectID }
        let changed = Heard(NSManagedObjectContext.didChangeObjectsNotification, from: pair.reader)
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [
                NSInsertedObjectsKey: [benin.uriRepresentation()],
                NSDeletedObjectsKey: [togo.objectID.uriRepresentation()],
            ], into: [pair.reader])
        try pair.reader.use { _ in
            let info = changed.last?.userInfo ?? [:]
            let inserted = info[NSInsertedObjectsKey] as? Set<NSManagedObject>
            #expect(inserted?.map(\.objectID) == [benin])
            #expect((info[NSDeletedObjectsKey] as? Set<NSManagedObject>) == [togo])
            #expect(togo.isDeleted)
        }
    }

    @Test func changesOfObjectsThatAreNotInUseAreOnlyNamedByID() throws {
        let pair = try Pair()
        let ids = try pair.writer.use { writer in
            try ["Ghana", "Togo"].map { try pair.team($0, in: writer).objectID }
        }
        let saved = Heard(NSManagedObjectContext.didSaveObjectIDsNotification, from: pair.writer)
        let changed = Heard(NSManagedObjectContext.didChangeObjectsNotification, from: pair.reader)
        let merged = Heard(NSManagedObjectContext.didMergeChangesObjectIDsNotification, from: pair.reader)
        try pair.edit { writer in
            try pair.team("Ghana", in: writer).setValue(8, forKey: "wins")
            writer.delete(try pair.team("Togo", in: writer))
        }
        let notification = try #require(saved.last)
        try pair.reader.use { $0.mergeChanges(fromContextDidSave: notification) }
        #expect(changed.count == 0)
        #expect((merged.last?.userInfo?[NSUpdatedObjectIDsKey] as? Set<NSManagedObjectID>) == [ids[0]])
        #expect((merged.last?.userInfo?[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID>) == [ids[1]])
    }

    @Test func objectsArePostedBeforeIDsAndADeletedObjectStaysRegistered() throws {
        let pair = try Pair()
        let togo = try pair.reader.use { context in
            let togo = try pair.team("Togo", in: context)
            _ = togo.value(forKey: "name")
            return togo
        }
        let saved = Heard(NSManagedObjectContext.didSaveObjectIDsNotification, from: pair.writer)
        try pair.edit { writer in writer.delete(try pair.team("Togo", in: writer)) }
        let notification = try #require(saved.last)
        let names: [Notification.Name] = [
            .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidMergeChangesObjectIDs,
        ]
        let notices = Notices(pair.reader, names)
        try pair.reader.use { context in
            context.mergeChanges(fromContextDidSave: notification)
            #expect(notices.take().map(\.name) == names)
            #expect(togo.isDeleted && context.registeredObject(for: togo.objectID) === togo)
        }
    }

    @Test func aRepeatedChangeIsPostedOnce() throws {
        let pair = try Pair()
        let saved = Heard(NSManagedObjectContext.didSaveObjectIDsNotification, from: pair.writer)
        try pair.reader.performAndWait { _ = try pair.team("Ghana", in: pair.reader).value(forKey: "wins") }
        try pair.edit { try pair.team("Ghana", in: $0).setValue(5, forKey: "wins") }
        let changed = Heard(NSManagedObjectContext.didChangeObjectsNotification, from: pair.reader)
        let notification = try #require(saved.last)
        let held = try pair.reader.performAndWait { () throws in
            let held = UncheckedSendable(try pair.team("Ghana", in: pair.reader))
            _ = held.value.value(forKey: "name")
            return held
        }
        pair.reader.performAndWait {
            pair.reader.mergeChanges(fromContextDidSave: notification)
            pair.reader.mergeChanges(fromContextDidSave: notification)
        }
        #expect(changed.count <= 1)
        pair.reader.performAndWait { #expect(held.value.value(forKey: "wins") as? Int == 5) }
    }

    @Test func objectsOfARemovedStoreAreInvalidated() throws {
        let pair = try Pair()
        let ghana = try pair.reader.performAndWait { UncheckedSendable(try pair.team("Ghana", in: pair.reader)) }.value
        let changed = Heard(NSManagedObjectContext.didChangeObjectsNotification, from: pair.reader)
        try pair.reader.persistentStoreCoordinator?.remove(pair.store)
        eventually("the context hears of the removal") { changed.count > 0 }
        #expect((changed.last?.userInfo?[NSInvalidatedObjectsKey] as? Set<NSManagedObject>) == [ghana])
        pair.reader.performAndWait { #expect(ghana.managedObjectContext == nil) }
    }
}
