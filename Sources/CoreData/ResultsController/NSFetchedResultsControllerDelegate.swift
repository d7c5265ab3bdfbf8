import Foundation

/// Receives the changes of a results controller, on the queue of its context.
///
/// Every method is optional. The implemented ones determine which are called: only the snapshot method, or else (in a
/// list without sections) only the difference method, or else will-change, sections, objects and did-change. A delegate
/// that implements none of these, or only the one for index titles, does not enable tracking.
///
/// Without Objective-C a missing method cannot be detected from outside: each has a default implementation that reports
/// it as missing. The controller learns this at the first call.
public protocol NSFetchedResultsControllerDelegate: NSObjectProtocol {
    /// The contents are about to change; the controller still shows the old ones.
    func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>)

    /// A section was inserted or deleted. Section callbacks precede those of objects: deletes by descending old index,
    /// then inserts by ascending new index.
    ///
    /// - Parameters:
    ///   - controller: the controller of the section.
    ///   - sectionInfo: the section; a deleted one has no objects.
    ///   - sectionIndex: the old index of a deleted section, the new one of an inserted section.
    ///   - type: insert or delete.
    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType)

    /// An object was inserted, deleted, moved or changed. Every object gets at most one call; objects that are only
    /// shifted by others get none. Deletes are first, by descending old path; then inserts and moves by ascending new
    /// path; then updates.
    ///
    /// - Parameters:
    ///   - controller: the controller of the object.
    ///   - anObject: the object, or its ID if the request asks for IDs.
    ///   - indexPath: the old path; `nil` for an insert.
    ///   - type: the kind of change.
    ///   - newIndexPath: the new path; `nil` for a delete. That of an update differs from the old one if others moved.
    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

    /// All changes were reported; the controller shows the new contents.
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>)

    /// The contents changed, or were fetched; `snapshot` has them by section name and object ID. If it is implemented,
    /// no other method is called.
    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference)

    /// The contents of a list without sections changed. If it is implemented, the methods for objects are not called.
    ///
    /// An update is a removal and an insertion that are associated with each other.
    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)

    /// Something changed, but the store could not be read: the contents stay as they were, and are compared with the
    /// store at the next change. An addition to Apple's protocol. Does not enable tracking.
    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didFailToFollowChangesWith error: any Error)

    /// The title of a section in the index; `nil` for none. Does not enable tracking.
    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String?
}

/// Default implementations, which report to the controller that the delegate does not implement the method.
extension NSFetchedResultsControllerDelegate {
    /// Reports that the delegate does not implement the method.
    public func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        controller.tracker.caller.isMissing(.willChange)
    }

    /// Reports that the delegate does not implement the method.
    public func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
    ) {
        controller.tracker.caller.isMissing(.section)
    }

    /// Reports that the delegate does not implement the method.
    public func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        controller.tracker.caller.isMissing(.object)
    }

    /// Reports that the delegate does not implement the method.
    public func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        controller.tracker.caller.isMissing(.didChange)
    }

    /// Reports that the delegate does not implement the method.
    public func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) {
        controller.tracker.caller.isMissing(.snapshot)
    }

    /// Reports that the delegate does not implement the method.
    public func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
        controller.tracker.caller.isMissing(.difference)
    }

    /// Does nothing.
    public func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didFailToFollowChangesWith error: any Error
    ) {}

    /// Reports that the delegate does not implement the method.
    public func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String? {
        controller.tracker.caller.isMissing(.indexTitle)
        return nil
    }
}
