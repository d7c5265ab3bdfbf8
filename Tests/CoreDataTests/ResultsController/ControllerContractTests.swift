import CoreData
import Foundation
import Testing

/// A controller as used by programs written for Apple's framework: the conformance cases for sources of changes,
/// snapshots and differences.
@MainActor
@Suite struct ControllerContractTests {
    /// Saved stadiums A, B and C.
    private func three() throws -> Stadiums {
        let stadiums = try Stadiums()
        for name in ["A", "B", "C"] { stadiums.add(name, ["capacity": 10, "city": name == "C" ? "y" : "x"]) }
        try stadiums.context.save()
        return stadiums
    }

    @Test func rollbackOfAnInsertionIsOneImmediateDelete() throws {
        let stadiums = try three()
        let (controller, log) = try stadiums.list(stadiums.request())
        stadiums.add("Aa")
        stadiums.context.processPendingChanges()
        #expect(log.take() == ["insert -→0,1"])
        stadiums.context.rollback()
        #expect(log.take() == ["delete 0,1→-"])
        #expect(names(controller) == "A B C")
        stadiums.context.processPendingChanges()
        #expect(log.take() == [])
        // The reported object is the inserted one.
        final class Objects: NSObject, @MainActor NSFetchedResultsControllerDelegate {
            var last: NSManagedObject?
            @MainActor func controller(
                _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
                at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
            ) { last = anObject as? NSManagedObject }
        }
        let objects = Objects()
        controller.delegate = objects
        let added = stadiums.add("D")
        stadiums.context.processPendingChanges()
        stadiums.context.rollback()
        #expect(objects.last === added)
        #expect(stadiums.context.registeredObjects.contains(added) == false)
    }

    @Test func rollbackOfAnUnreportedInsertionIsNotReported() throws {
        let stadiums = try three()
        let (controller, log) = try stadiums.list(stadiums.request())
        stadiums.add("Aa")
        stadiums.context.rollback()
        stadiums.context.processPendingChanges()
        #expect(log.take() == [])
        #expect(names(controller) == "A B C")
    }

    @Test func case50And51_newPathsAreValidAndShifted() throws {
        let stadiums = try three()
        let (controller, log) = try stadiums.list(stadiums.request())
        stadiums.add("AA")
        controller.object(at: IndexPath(row: 2, section: 0)).setValue(11, forKey: "capacity")
        stadiums.context.processPendingChanges()
        #expect(log.take() == ["insert -→0,1", "update 0,2→0,3"])
    }

    /// Changes in a context that is not merged appear when their IDs are merged, like those of batch requests.
    @Test func changesElsewhereAppearWhenTheirIDsAreMerged() throws {
        let stadiums = try three()
        let (controller, log) = try stadiums.list(stadiums.request())
        let other = stadiums.container.newBackgroundContext()
        func beside(_ body: (NSManagedObjectContext) throws -> NSManagedObject) throws -> NSManagedObjectID {
            try other.performAndWait {
                let object = try body(other)
                try other.save()
                return object.objectID
            }
        }
        func find(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Stadium")
            request.predicate = NSPredicate(format: "name == %@", name)
            return try #require(try context.fetch(request).first)
        }
        func merge(_ key: String, _ ids: [NSManagedObjectID]) {
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [key: ids], into: [stadiums.context])
        }
        let inserted = try ["D", "AB"].map { name in
            try beside { context in
                let object = NSEntityDescription.insertNewObject(forEntityName: "Stadium", into: context)
                object.setValue(name, forKey: "name")
                return object
            }
        }
        stadiums.context.processPendingChanges()
        #expect(log.take() == [])
        merge(NSInsertedObjectIDsKey, inserted)
        #expect(log.take() == ["insert -→0,1", "insert -→0,4"])

        let updated = try beside { context in
            let object = try find("B", context)
            object.setValue("Z", forKey: "name")
            return object
        }
        #expect(log.take() == [])
        merge(NSUpdatedObjectIDsKey, [updated])
        #expect(log.take() == ["move 0,2→0,4"])

        let deleted = try beside { context in
            let object = try find("A", context)
            context.delete(object)
            return object
        }
        #expect(log.take() == [])
        merge(NSDeletedObjectIDsKey, [deleted])
        #expect(log.take() == ["delete 0,0→-"])
        #expect(names(controller) == "AB C D Z")
    }

    @Test func case60_objectMissingInTheStoreIsADelete() throws {
        let stadiums = try three()
        let (controller, log) = try stadiums.list(stadiums.request())
        let gone = controller.object(at: IndexPath(row: 1, section: 0))
        let other = stadiums.container.newBackgroundContext()
        let id = gone.objectID
        try other.performAndWait {
            other.delete(other.object(with: id))
            try other.save()
        }
        stadiums.context.refresh(gone, mergeChanges: false)
        _ = gone.value(forKey: "city")
        stadiums.context.processPendingChanges()
        #expect(log.take() == ["delete 0,1→-"])
        #expect(names(controller) == "A C")
    }

    @Test func case64_sameValueAgainIsNoUpdate() throws {
        let stadiums = try three()
        let (controller, log) = try stadiums.list(stadiums.request())
        controller.object(at: IndexPath(row: 1, section: 0)).setValue(10, forKey: "capacity")
        stadiums.context.processPendingChanges()
        #expect(log.take() == [])
    }

    @Test(arguments: [true, false]) func case65_subentities(_ includes: Bool) throws {
        let stadiums = try three()
        let request = stadiums.request()
        request.includesSubentities = includes
        let (controller, log) = try stadiums.list(request)
        stadiums.add("AA", entity: "Arena")
        stadiums.context.processPendingChanges()
        #expect(log.take() == (includes ? ["insert -→0,1"] : []))
        #expect(names(controller) == (includes ? "A AA B C" : "A B C"))
    }

    // MARK: Snapshots and differences

    @Test func case67And69_snapshotMethodAlone() throws {
        let stadiums = try three()
        let (controller, _) = try stadiums.list(stadiums.request())
        let log = SnapshotLog()
        controller.delegate = log
        stadiums.add("D")
        stadiums.context.processPendingChanges()
        #expect(log.snapshots.count == 1)
        #expect(log.snapshots.last?.numberOfItems == 4)
        #expect(log.otherCalls == 0)
    }

    @Test func case68_differenceIsForFlatLists() throws {
        let stadiums = try three()
        let (controller, _) = try stadiums.list(stadiums.request(["city", "name"]), section: "city")
        let log = DifferenceLog()
        controller.delegate = log
        stadiums.add("D", ["city": "y"])
        stadiums.context.processPendingChanges()
        #expect(log.differences.isEmpty)
        #expect(log.rowCalls == 1)
    }

    @Test func case70_updateInADifferenceIsAnAssociatedPair() throws {
        let stadiums = try three()
        let (controller, _) = try stadiums.list(stadiums.request())
        let log = DifferenceLog()
        controller.delegate = log
        let b = controller.object(at: IndexPath(row: 1, section: 0))
        b.setValue(11, forKey: "capacity")
        stadiums.context.processPendingChanges()
        let id = b.objectID
        #expect(
            log.differences == [
                CollectionDifference([
                    .remove(offset: 1, element: id, associatedWith: 1),
                    .insert(offset: 1, element: id, associatedWith: 1),
                ])
            ])
        #expect(log.rowCalls == 0)
        // Applying the difference to the old IDs results in the new ones.
        let old = (controller.fetchedObjects ?? []).map(\.objectID)
        stadiums.add("AA")
        b.setValue("Z", forKey: "name")
        stadiums.context.processPendingChanges()
        #expect(old.applying(try #require(log.differences.last)) == controller.fetchedObjects?.map(\.objectID))
    }

    @Test func case71_changedObjectsAreMarkedInTheSnapshot() throws {
        let stadiums = try three()
        let (controller, _) = try stadiums.list(stadiums.request(["city", "name"]), section: "city")
        let log = SnapshotLog()
        controller.delegate = log
        let objects = try #require(controller.fetchedObjects)
        objects[1].setValue(11, forKey: "capacity")
        stadiums.context.processPendingChanges()
        let first = try #require(log.snapshots.last)
        #expect(first.reloadedItemIdentifiers as? [NSManagedObjectID] == [objects[1].objectID])
        #expect(first.sectionIdentifiers as? [String] == ["x", "y"])
        // The next snapshot marks its own changes only, without insertions and deletions.
        objects[0].setValue("y", forKey: "city")
        stadiums.context.delete(objects[2])
        let new = stadiums.add("N", ["city": "x"])
        stadiums.context.processPendingChanges()
        let second = try #require(log.snapshots.last)
        #expect(second.reloadedItemIdentifiers as? [NSManagedObjectID] == [objects[0].objectID])
        #expect(
            second.itemIdentifiersInSection(withIdentifier: "x") as? [NSManagedObjectID]
                == [objects[1].objectID, new.objectID])
        // The first snapshot is unchanged.
        #expect(first.itemIdentifiers as? [NSManagedObjectID] == objects.map(\.objectID))
    }

    @Test func theSnapshotOfAFlatListHasOneSection() throws {
        let stadiums = try Stadiums()
        let made = stadiums.add("A")
        try stadiums.context.save()
        let (controller, _) = try stadiums.list(stadiums.request())
        let log = SnapshotLog()
        controller.delegate = log
        try controller.performFetch()
        let snapshot = try #require(log.snapshots.last)
        #expect(snapshot.sectionIdentifiers as? [String] == [""])
        #expect(snapshot.itemIdentifiersInSection(withIdentifier: "") as? [NSManagedObjectID] == [made.objectID])
        #expect(snapshot.numberOfItems(inSection: "") == 1 && snapshot.index(ofSectionIdentifier: "") == 0)
    }

    @Test func case72_aFetchGivesASnapshotWithoutMarks() throws {
        let stadiums = try three()
        let controller = NSFetchedResultsController(
            fetchRequest: stadiums.request(), managedObjectContext: stadiums.context, sectionNameKeyPath: nil,
            cacheName: nil)
        let log = SnapshotLog()
        controller.delegate = log
        try controller.performFetch()
        #expect(log.snapshots.count == 1)
        #expect(log.snapshots[0].numberOfItems == 3)
        #expect(log.snapshots[0].reloadedItemIdentifiers.isEmpty)
    }

    @Test func case73_savingAnInsertionIsNoChange() throws {
        let stadiums = try three()
        let (controller, _) = try stadiums.list(stadiums.request())
        let log = SnapshotLog()
        controller.delegate = log
        let new = stadiums.add("D")
        stadiums.context.processPendingChanges()
        try stadiums.context.save()
        #expect(log.snapshots.count == 1)
        // A snapshot from before the save finds the object by its permanent ID.
        #expect(log.snapshots[0].index(ofItemIdentifier: new.objectID) == 3)
        #expect(log.snapshots[0].itemIdentifiers.last as? NSManagedObjectID == new.objectID)
    }
}
