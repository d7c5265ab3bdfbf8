//
//  FetchedResultsPublisher.swift
//  Spending
//

import Combine
import CoreData

/// Publishes the objects of a fetched results controller.
final class FetchedResultsPublisher<Object: NSManagedObject>: NSObject, NSFetchedResultsControllerDelegate {

    private let controller: NSFetchedResultsController<Object>
    private let subject: CurrentValueSubject<[Object], Error>

    /// Changes of sections and rows, for a table view's animations.
    let changes = PassthroughSubject<NSFetchedResultsChangeType, Never>()

    init(request: NSFetchRequest<Object>, context: NSManagedObjectContext) {
        controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        subject = CurrentValueSubject([])
        super.init()
        controller.delegate = self
        do {
            try controller.performFetch()
            subject.send(controller.fetchedObjects ?? [])
        } catch {
            subject.send(completion: .failure(error))
        }
    }

    var objects: AnyPublisher<[Object], Error> {
        subject.eraseToAnyPublisher()
    }

    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        changes.send(type)
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        subject.send(self.controller.fetchedObjects ?? [])
    }
}
