import Foundation
import Testing

@testable import CoreData

/// A delegate may let go of its controller while the controller calls it.
@Suite struct DroppedControllerTests {
    private final class Owner: NSObject, NSFetchedResultsControllerDelegate {
        var controller: NSFetchedResultsController<NSManagedObject>?
        private(set) var calls: [String] = []
        private(set) weak var dropped: NSFetchedResultsController<NSManagedObject>?

        func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
            calls.append("will")
            dropped = self.controller
            self.controller = nil
        }

        func controller(
            _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
            at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) {
            calls.append("object \(controller.sections?.count ?? -1)")
        }

        func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
            calls.append("did \(controller.sections?.count ?? -1)")
        }
    }

    @Test func theBatchIsToldToItsEndAndTheControllerGoesAwayAfterIt() throws {
        try Staff.run { staff in
            _ = try staff.savedThree()
            let owner = Owner()
            owner.controller = staff.controller()
            owner.controller?.delegate = owner
            try owner.controller?.performFetch()
            staff.employee("Zoe", "E")
            staff.employee("Xu", "E")
            staff.context.processPendingChanges()
            #expect(owner.calls == ["will", "object 2", "object 2", "did 2"])
            #expect(owner.dropped == nil)
            staff.employee("Yan", "E")
            staff.context.processPendingChanges()
            #expect(owner.calls.count == 4)
        }
    }

    /// The delegate of a view fetches the view's base anew and lets go of the view in one call.
    private final class ViewOwner: NSObject, NSFetchedResultsControllerDelegate {
        var view: NSFetchedResultsController<NSManagedObject>?
        var onWill: () throws -> Void = {}
        private(set) var calls: [String] = []
        private(set) weak var dropped: NSFetchedResultsController<NSManagedObject>?

        func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
            calls.append("will")
            guard view != nil else { return }
            dropped = view
            do { try onWill() } catch { Issue.record(error) }
            view = nil
        }

        func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
            calls.append("did \(controller.fetchedObjects?.count ?? -1)")
        }
    }

    @Test func aViewThatIsDroppedWhileItsBaseIsFetchedGoesAwayAfterTheBatch() throws {
        try Staff.run { staff in
            _ = try staff.savedThree()
            let base = staff.controller()
            try base.performFetch()
            let owner = ViewOwner()
            owner.view = base.view()
            owner.view?.delegate = owner
            try owner.view?.performFetch()
            owner.onWill = {
                base.fetchRequest.predicate = NSPredicate(format: "name != 'Zoe'")
                try base.performFetch()
            }
            staff.employee("Zoe", "E")
            staff.context.processPendingChanges()
            #expect(owner.calls.first == "will" && owner.calls.last == "did 3")
            #expect(owner.dropped == nil)
            let told = owner.calls.count
            staff.employee("Yan", "E")
            staff.context.processPendingChanges()
            try base.performFetch()
            #expect(owner.calls.count == told)
        }
    }
}
