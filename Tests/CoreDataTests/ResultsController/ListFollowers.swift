import Foundation

@testable import CoreData

/// Two copies of a list, whose delegates use the snapshot and the difference form. The results must equal the list.
final class ListFollowers {
    private var controllers: [NSFetchedResultsController<NSManagedObject>] = []
    private let snapshots = SnapshotFollower()
    private let differences = DifferenceFollower()

    func begin(
        _ make: () -> NSFetchedResultsController<NSManagedObject>,
        as setUp: (NSFetchedResultsController<NSManagedObject>) -> Void
    ) throws {
        controllers = [make(), make()]
        for controller in controllers { setUp(controller) }
        // Differences are reported for lists without sections only, so this list has none.
        controllers[1].sectionBy = nil
        controllers[0].delegate = snapshots
        controllers[1].delegate = differences
        for controller in controllers { try controller.performFetch() }
        differences.begin(with: Self.ids(controllers[1]))
    }

    private static func ids(_ controller: NSFetchedResultsController<NSManagedObject>) -> [NSManagedObjectID] {
        controller.fetchedObjects?.map(\.objectID) ?? []
    }

    func problem(_ controller: NSFetchedResultsController<NSManagedObject>) -> String? {
        guard controllers.count == 2, let last = snapshots.last else { return "no snapshot was told" }
        let ids = Self.ids(controller)
        guard last.itemIdentifiers as? [NSManagedObjectID] == ids else { return "the snapshot is another list" }
        guard last.sectionIdentifiers as? [String] == controller.sections?.map(\.name) else {
            return "the snapshot has other sections"
        }
        let names = controller.sections?.map(\.name) ?? []
        // Sections may be split and have the same name; a snapshot identifies sections by name.
        for section in controller.sections ?? [] where names.count(where: { $0 == section.name }) == 1 {
            guard
                last.itemIdentifiersInSection(withIdentifier: section.name) as? [NSManagedObjectID]
                    == (section.objects as? [NSManagedObject])?.map(\.objectID)
            else { return "the snapshot's section \(section.name) is another" }
        }
        if let wrong = snapshots.wrong { return wrong }
        return differences.problem(Self.ids(controllers[1]))
    }
}

private final class SnapshotFollower: NSObject, NSFetchedResultsControllerDelegate {
    private(set) var last: NSDiffableDataSourceSnapshotReference?
    private(set) var wrong: String?

    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) {
        let ids = Set(snapshot.itemIdentifiers.compactMap { $0 as? NSManagedObjectID })
        let reloaded = snapshot.reloadedItemIdentifiers.compactMap { $0 as? NSManagedObjectID }
        if !ids.isSuperset(of: reloaded) { wrong = "an object that is gone is reloaded" }
        last = snapshot
    }
}

private final class DifferenceFollower: NSObject, NSFetchedResultsControllerDelegate {
    private var ids: [NSManagedObjectID] = []
    private var wrong: String?

    func begin(with ids: [NSManagedObjectID]) { self.ids = ids }

    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
        guard let next = ids.applying(diff) else {
            wrong = wrong ?? "a difference does not fit what was shown"
            return
        }
        ids = next
    }

    /// A new object has a temporary ID until the save, but is the same object.
    func problem(_ now: [NSManagedObjectID]) -> String? {
        if let wrong { return wrong }
        return ids.count == now.count && zip(ids, now).allSatisfy { $0 == $1 || $0.isTemporaryID }
            ? nil : "the differences lead to another list"
    }
}
