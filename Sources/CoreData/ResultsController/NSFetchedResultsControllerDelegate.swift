import Foundation

/// Hears what changes in a results controller, on the queue of its context.
///
/// Every method is optional. Which of them are implemented decides what is called: the snapshot method alone, or else (in
/// a list without sections) the difference method alone, or else will, sections, objects, did. A delegate that implements
/// none of these, or only the one for index titles, turns no tracking on.
///
/// Without Objective-C a method's absence cannot be seen from outside: each has a default implementation here that says
/// that it is missing. The controller learns this at the first call.
public protocol NSFetchedResultsControllerDelegate: NSObjectProtocol {
    /// The contents are about to change; the controller still shows the old ones.
    func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>)

    /// A section came or went. Section callbacks come before those of objects: deletes by descending old index, then
    /// inserts by ascending new index.
    ///
    /// - Parameters:
    ///   - controller: the controller whose section it is.
    ///   - sectionInfo: the section; one that went has no objects any more.
    ///   - sectionIndex: the old index of one that went, the new one of one that came.
    ///   - type: insert or delete.
    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType)

    /// An object came, went, moved or changed. Every object gets at most one call; those that only made room get none.
    /// Deletes come first, by descending old path; then inserts and moves by ascending new path; then updates.
    ///
    /// - Parameters:
    ///   - controller: the controller whose object it is.
    ///   - anObject: the object, or its ID if the request asks for IDs.
    ///   - indexPath: where it was; `nil` for an insert.
    ///   - type: what became of it.
    ///   - newIndexPath: where it is; `nil` for a delete. That of an update differs from the old one when others moved.
    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

    /// All changes were told; the controller shows the new contents.
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>)

    /// The contents changed, or were fetched: here they are, by section name and object ID. With it, nothing else is called.
    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference)

    /// The contents of a list without sections changed. With it, the methods for objects are not called.
    ///
    /// An update is a removal and an insertion that are associated with each other.
    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)

    /// Something changed, and the store could not be read: the contents stay as they were, and are compared with the store at the
    /// next change. An addition to Apple's protocol. Turns no tracking on.
    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didFailToFollowChangesWith error: any Error)

    /// The title of a section in the index; `nil` for none. Turns no tracking on.
    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String?
}

/// What the methods of a delegate do that does not implement them: they tell the controller so.
extension NSFetchedResultsControllerDelegate {
    /// Says that the delegate does not implement the method.
    public func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        controller.tracker.caller.isMissing(.willChange)
    }

    /// Says that the delegate does not implement the method.
    public func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
    ) {
        controller.tracker.caller.isMissing(.section)
    }

    /// Says that the delegate does not implement the method.
    public func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        controller.tracker.caller.isMissing(.object)
    }

    /// Says that the delegate does not implement the method.
    public func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        controller.tracker.caller.isMissing(.didChange)
    }

    /// Says that the delegate does not implement the method.
    public func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) {
        controller.tracker.caller.isMissing(.snapshot)
    }

    /// Says that the delegate does not implement the method.
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

    /// Says that the delegate does not implement the method.
    public func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String? {
        controller.tracker.caller.isMissing(.indexTitle)
        return nil
    }
}
