import CoreData
import Foundation
import Testing

/// Operations that overtake others: a rollback of rows that a list shows, and a fetch during a change of the request.
@MainActor
@Suite struct ControllerOvertakingTests {
    /// Reads the whole list when it is notified of a change.
    private final class Witness: NSObject, @MainActor NSFetchedResultsControllerDelegate {
        var inSections: [ObjectIdentifier] = []
        var byPath: [ObjectIdentifier] = []
        var all: [ObjectIdentifier] = []
        var deleted: [ObjectIdentifier] = []
        var brackets = 0
        private var isOpen = false
        var isNested = false

        @MainActor func controllerWillChangeContent(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>
        ) {
            if isOpen { isNested = true }
            isOpen = true
            brackets += 1
            inSections = Self.objects(controller).map { ObjectIdentifier($0) }
            all = (controller.fetchedObjects ?? []).map { ObjectIdentifier($0 as AnyObject) }
            byPath = (0..<(controller.sections?.first?.numberOfObjects ?? 0)).map {
                ObjectIdentifier(controller.object(at: IndexPath(row: $0, section: 0)) as AnyObject)
            }
        }

        @MainActor func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
            at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) { if type == .delete { deleted.append(ObjectIdentifier(anObject as AnyObject)) } }

        @MainActor func controllerDidChangeContent(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>
        ) { isOpen = false }

        @MainActor static func objects(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>
        ) -> [AnyObject] {
            (controller.sections ?? []).flatMap { ($0.objects ?? []).map { $0 as AnyObject } }
        }
    }

    @Test func rolledBackRowsShowTheirObjectsUntilReported() throws {
        let stadiums = try Stadiums()
        let saved = stadiums.add("B")
        try stadiums.context.save()
        let (controller, log) = try stadiums.list(stadiums.request(["name"]))
        let new = [stadiums.add("A"), stadiums.add("C")]
        stadiums.context.processPendingChanges()
        #expect(controller.fetchedObjects == [new[0], saved, new[1]])
        #expect(log.take() == ["insert -→0,0", "insert -→0,2"])
        let witness = Witness()
        controller.delegate = witness
        stadiums.context.rollback()
        let before = [new[0], saved, new[1]].map { ObjectIdentifier($0) }
        #expect(witness.inSections == before)
        #expect(witness.byPath == before)
        #expect(witness.all == before)
        #expect(Set(witness.deleted) == Set(new.map { ObjectIdentifier($0) }))
        #expect(controller.fetchedObjects == [saved])
        #expect(new.allSatisfy { $0.managedObjectContext == nil && $0.value(forKey: "name") is String })
        #expect(stadiums.context.registeredObjects == [saved], "no object was made for rows that never were")
    }

    @Test func mergedDeletionsShowTheSameObjectsUntilReported() throws {
        let stadiums = try Stadiums()
        for name in ["A", "B", "C"] { stadiums.add(name) }
        try stadiums.context.save()
        let (controller, _) = try stadiums.list(stadiums.request(["name"]))
        let witness = Witness()
        controller.delegate = witness
        let before = (controller.fetchedObjects ?? []).map { ObjectIdentifier($0) }
        let shown = try #require(controller.fetchedObjects)
        let id = shown[1].objectID
        let other = stadiums.container.newBackgroundContext()
        try other.performAndWait {
            other.delete(other.object(with: id))
            try other.save()
        }
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSDeletedObjectIDsKey: [id]], into: [stadiums.context])
        #expect(witness.inSections == before && witness.all == before)
        #expect(witness.deleted == [before[1]])
    }

    // MARK: A fetch during a change of request

    private func outcome(_ change: Task<Void, any Error>) async -> CocoaError.Code? {
        do {
            try await change.value
            return nil
        } catch { return (error as? CocoaError)?.code }
    }

    /// The change reads in the background, where it almost certainly is when the fetch begins.
    @Test(arguments: 0..<6) func aFetchReplacesAChangeOfRequest(turns: Int) async throws {
        let stadiums = try Stadiums()
        for number in 0..<300 { stadiums.add("\(1_000 + number)", ["capacity": number]) }
        try stadiums.context.save()
        let (controller, _) = try stadiums.list(stadiums.request(["name"]))
        let witness = Witness()
        controller.delegate = witness
        controller.fetchRequest.predicate = NSPredicate(format: "capacity >= 100")
        let change = Task { try await controller.refetch() }
        for _ in 0..<turns { await Task.yield() }
        if controller.fetchedObjects?.count == 300 {
            // The old list is valid and up to date.
            stadiums.add("0", ["capacity": 200])
            stadiums.context.processPendingChanges()
            #expect([301, 201].contains(controller.fetchedObjects?.count))
        }
        controller.fetchRequest.predicate = NSPredicate(format: "capacity < 3")
        try controller.performFetch()
        #expect(controller.fetchedObjects?.count == 3)
        let brackets = witness.brackets
        let outcome = await outcome(change)
        #expect(outcome == nil || outcome == .userCancelled)
        // Whatever the outcome of the change, the last fetch is shown, and the change reports nothing more. A change
        // that has not begun before the fetch begins after it and uses the request as it is then.
        for _ in 0..<20 { await Task.yield() }
        #expect(controller.fetchedObjects?.count == 3)
        #expect(witness.brackets == brackets && !witness.isNested)
        stadiums.add("zz", ["capacity": 1])
        stadiums.context.processPendingChanges()
        #expect(controller.fetchedObjects?.count == 4 && witness.brackets == brackets + 1)
    }

    /// Each change has one outcome, and the last one determines the list.
    @Test func everyChangeThatIsOvertakenEndsOnce() async throws {
        let stadiums = try Stadiums()
        for number in 0..<200 { stadiums.add("\(1_000 + number)", ["capacity": number]) }
        try stadiums.context.save()
        let (controller, _) = try stadiums.list(stadiums.request(["name"]))
        var ended = 0
        var changes: [Task<Void, any Error>] = []
        for number in 1...8 {
            controller.fetchRequest.predicate = NSPredicate(format: "capacity < %d", number)
            changes.append(
                Task { @MainActor in
                    defer { ended += 1 }
                    try await controller.refetch()
                })
            await Task.yield()
            if number == 4 { try controller.performFetch() }
        }
        var done = 0
        for change in changes {
            let outcome = await outcome(change)
            #expect(outcome == nil || outcome == .userCancelled)
            if outcome == nil { done += 1 }
        }
        #expect(ended == 8 && done >= 1)
        #expect(controller.fetchedObjects?.count == 8)
    }

    /// A failed fetch ends the change, too: no list appears later.
    @Test func aFetchThatFailsEndsTheChange() async throws {
        let stadiums = try Stadiums()
        for number in 0..<100 { stadiums.add("\(1_000 + number)", ["capacity": number]) }
        try stadiums.context.save()
        let (controller, _) = try stadiums.list(stadiums.request(["name"]))
        controller.fetchRequest.predicate = NSPredicate(format: "capacity < 10")
        let change = Task { try await controller.refetch() }
        await Task.yield()
        controller.fetchRequest.sortDescriptors = [NSSortDescriptor(key: "nothing", ascending: true)]
        #expect(throws: (any Error).self) { try controller.performFetch() }
        _ = await outcome(change)
        #expect(controller.fetchedObjects == nil)
        controller.fetchRequest.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        try await controller.refetch()
        #expect(controller.fetchedObjects?.count == 10)
    }
}
