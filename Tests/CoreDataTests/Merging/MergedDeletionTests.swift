import CoreData
import Foundation
import Testing

/// Issue 18, point 12: deletions received by a merge are in `deletedObjects` while they are pending.
@Suite struct MergedDeletionTests {
    private func model() -> NSManagedObjectModel {
        let name = NSAttributeDescription()
        name.name = "name"
        name.attributeType = .stringAttributeType
        name.isOptional = true
        let entity = NSEntityDescription()
        entity.name = "Team"
        entity.properties = [name]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    private struct Pair {
        let context: NSManagedObjectContext
        let sibling: NSManagedObjectContext
        let ids: [NSManagedObjectID]
    }

    /// Objects of received notifications, on the queue of their context.
    private final class Heard: @unchecked Sendable {
        var deleted: Set<NSManagedObject> = []
        var save: Notification?
        var inserted = 0
        var gone = 0
    }

    /// Two teams, and two contexts that have read them.
    private func pair() throws -> Pair {
        let container = NSPersistentContainer(name: "Teams", managedObjectModel: model())
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        let sibling = container.newBackgroundContext()
        let ids = try sibling.performAndWait {
            let made = (0..<2).map { number in
                let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: sibling)
                team.setValue("Team \(number)", forKey: "name")
                return team
            }
            try sibling.save()
            return made.map(\.objectID)
        }
        return Pair(context: container.newBackgroundContext(), sibling: sibling, ids: ids)
    }

    @Test func mergedDeletionsArePendingUntilTheEventIsProcessed() throws {
        let pair = try pair()
        let (context, sibling) = (pair.context, pair.sibling)
        try context.performAndWait {
            let teams = try pair.ids.map { try context.existingObject(with: $0) }
            context.delete(teams[1])
            context.processPendingChanges()
            let heard = Heard()
            let observer = NotificationCenter.default.addObserver(
                forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
            ) { _ in
                context.performAndWait { heard.deleted = context.deletedObjects }
            }
            defer { NotificationCenter.default.removeObserver(observer) }
            let keeper = NotificationCenter.default.addObserver(
                forName: NSManagedObjectContext.didSaveObjectsNotification, object: sibling, queue: nil
            ) { heard.save = $0 }
            defer { NotificationCenter.default.removeObserver(keeper) }
            try sibling.performAndWait {
                sibling.delete(sibling.object(with: pair.ids[0]))
                try sibling.save()
            }
            context.mergeChanges(fromContextDidSave: try #require(heard.save))
            #expect(heard.deleted == Set(teams), "who hears of the merge finds them there")
            #expect(context.deletedObjects == Set(teams) && teams[0].isDeleted)
            context.processPendingChanges()
            #expect(context.deletedObjects == [teams[1]], "and then only what this context deletes")
            #expect(teams[0].isDeleted)
            try context.save()
            #expect(context.deletedObjects.isEmpty && !context.hasChanges)
        }
    }

    @Test func mergedDeletionsAreNotSaved() throws {
        let pair = try pair()
        let (context, sibling) = (pair.context, pair.sibling)
        try context.performAndWait {
            let team = try context.existingObject(with: pair.ids[0])
            try sibling.performAndWait {
                sibling.delete(sibling.object(with: pair.ids[0]))
                try sibling.save()
            }
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSDeletedObjectIDsKey: [pair.ids[0]]], into: [context])
            #expect(context.deletedObjects == [team] && !context.hasChanges)
            try context.save()
            #expect(context.deletedObjects.isEmpty)
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSDeletedObjectIDsKey: [pair.ids[1]]], into: [context])
            context.reset()
            #expect(context.deletedObjects.isEmpty)
        }
    }

    /// The deletion of a merged insertion is not posted if nothing holds the object.
    @Test(arguments: [true, false]) func theDeletionOfAnUnheldMergedInsertionIsNotPosted(isHeld: Bool) throws {
        let pair = try pair()
        let context = pair.context
        try context.performAndWait {
            let counter = Heard()
            let observer = NotificationCenter.default.addObserver(
                forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
            ) { notification in
                let info = notification.userInfo ?? [:]
                counter.inserted += (info[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count ?? 0
                counter.gone += (info[NSDeletedObjectsKey] as? Set<NSManagedObject>)?.count ?? 0
            }
            defer { NotificationCenter.default.removeObserver(observer) }
            func merge(_ key: String) {
                NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [key: [pair.ids[0]]], into: [context])
            }
            merge(NSInsertedObjectIDsKey)
            #expect(counter.inserted == 1)
            let holder = isHeld ? context.registeredObject(for: pair.ids[0]) : nil
            #expect((holder != nil) == isHeld)
            try pair.sibling.performAndWait {
                pair.sibling.delete(pair.sibling.object(with: pair.ids[0]))
                try pair.sibling.save()
            }
            merge(NSDeletedObjectIDsKey)
            #expect(counter.gone == (isHeld ? 1 : 0))
            #expect(context.deletedObjects.count == (isHeld ? 1 : 0))
            withExtendedLifetime(holder) {}
        }
    }

    /// An object that is inserted and deleted by merges before the next save is not posted.
    @Test func anInsertionDeletedByALaterMergeIsNotPosted() throws {
        let pair = try pair()
        let context = pair.context
        context.performAndWait {
            let counter = Heard()
            let observer = NotificationCenter.default.addObserver(
                forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
            ) { counter.gone += ($0.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject>)?.count ?? 0 }
            defer { NotificationCenter.default.removeObserver(observer) }
            for key in [NSInsertedObjectIDsKey, NSDeletedObjectIDsKey] {
                NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [key: [pair.ids[0]]], into: [context])
            }
            #expect(counter.gone == 0 && context.deletedObjects.isEmpty)
        }
    }
}
