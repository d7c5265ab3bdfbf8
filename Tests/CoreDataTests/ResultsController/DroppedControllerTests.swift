import Foundation
import Testing

@testable import CoreData

/// A delegate can release its controller in a callback.
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

    @Test func theControllerIsReleasedAfterTheBatch() throws {
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
}
