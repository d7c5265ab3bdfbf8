import CoreData
import Foundation

/// Receives the changes of a list of records: the callbacks of the results controller in their order.
protocol RecordListDelegate: AnyObject {
    func listWillChange()
    func listDidChangeSection(_ name: String, index: Int, type: NSFetchedResultsChangeType)
    func listDidChange(
        _ object: NSManagedObject, at old: IndexPath?, type: NSFetchedResultsChangeType, to new: IndexPath?)
    func listDidChange()
}

/// The delegate of the results controller, which forwards its callbacks.
final class RecordListObserver: NSObject, NSFetchedResultsControllerDelegate {
    weak var delegate: (any RecordListDelegate)?

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        delegate?.listWillChange()
    }

    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {
        delegate?.listDidChangeSection(sectionInfo.name, index: sectionIndex, type: type)
    }

    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        guard let object = anObject as? NSManagedObject else { return }
        delegate?.listDidChange(object, at: indexPath, type: type, to: newIndexPath)
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        delegate?.listDidChange()
    }
}
