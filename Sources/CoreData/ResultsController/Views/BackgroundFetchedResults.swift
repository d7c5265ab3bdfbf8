import Foundation
import Observation

/// A results controller on a queue of its own, whose contents and batches come to the main actor as values. An addition to
/// Apple's interface.
///
/// Fetching, following others' changes and computing batches happen beside the main queue, in a context that merges what
/// others save. What the main actor has is ``snapshot``, which never changes under a view, and each batch that leads from
/// one to the next: in order, each once, before the snapshot is the next one. Objects are made from IDs in whatever context
/// the program likes; saved changes only are seen.
///
/// ``snapshot`` takes part in Swift's Observation.
@MainActor
public final class BackgroundFetchedResults: Observable {
    private let context: NSManagedObjectContext
    private let request: UncheckedSendable<NSFetchRequest<NSManagedObject>>
    private let worker: Worker
    private let registrar = ObservationRegistrar()
    private var shown: FetchedResultsSnapshot?
    /// Called on the main actor with each batch, when ``snapshot`` is the one after it; with `nil` where the contents are
    /// others and it is not known how.
    public var onChange: ((FetchedResultsBatch?) -> Void)?

    /// What belongs to the context's queue.
    // SAFETY: only touched on the context's queue.
    private final class Worker: @unchecked Sendable {
        var controller: NSFetchedResultsController<NSManagedObject>?
        var listener = 0
    }

    /// A list that is still empty.
    ///
    /// - Parameters:
    ///   - request: what to find, as it is now: it is copied.
    ///   - coordinator: where.
    ///   - sectionBy: how objects are put into sections; `nil` for one section.
    ///   - aggregates: what is computed of each section.
    /// - Precondition: The request has sort descriptors.
    public init<Object: NSManagedObject>(
        _ request: NSFetchRequest<Object>, in coordinator: NSPersistentStoreCoordinator, sectionBy: SectionBy? = nil,
        aggregates: [SectionAggregate] = []
    ) {
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.automaticallyMergesChangesFromParent = true
        self.request = UncheckedSendable(request.erasedCopy.typed(as: NSManagedObject.self))
        worker = Worker()
        (self.sectionBy, self.aggregates) = (sectionBy, aggregates)
    }

    deinit {
        let (context, worker) = (context, worker)
        context.perform {
            worker.controller?.tracker.listeners.remove(worker.listener)
            worker.controller = nil
        }
    }

    private let sectionBy: SectionBy?
    private let aggregates: [SectionAggregate]

    /// The contents; `nil` before the fetch.
    public var snapshot: FetchedResultsSnapshot? {
        registrar.access(self, keyPath: \.snapshot)
        return shown
    }

    /// Fetches on the context's own queue, and follows from then on. Once the call returns, ``snapshot`` is what was found.
    ///
    /// - Throws: 134060 for a request that cannot be resolved; the store's error where it cannot be read.
    public func start() async throws {
        let weakSelf = UncheckedSendable(WeakList(list: self))
        let (request, sectionBy, aggregates, worker) = (request, sectionBy, aggregates, worker)
        let (context, box) = (UncheckedSendable(context), weakSelf)
        let first = try await self.context.perform { () throws -> FetchedResultsSnapshot? in
            let controller =
                worker.controller
                ?? NSFetchedResultsController(
                    fetchRequest: request.value, managedObjectContext: context.value, sectionNameKeyPath: nil,
                    cacheName: nil)
            controller.sectionBy = sectionBy
            controller.aggregates = aggregates
            try controller.performFetch()
            if worker.controller == nil {
                worker.listener = controller.tracker.listeners.add(
                    BatchListeners.Listener(
                        hear: { box.value.hear($0, $0.after) }, begin: { box.value.hear(nil, $0) }, end: {}))
                worker.controller = controller
            }
            return controller.snapshot
        }
        take(first)
    }

    private func take(_ snapshot: FetchedResultsSnapshot?) {
        registrar.withMutation(of: self, keyPath: \.snapshot) { shown = snapshot }
    }

    /// Hands values to the main actor, in order.
    private struct WeakList {
        weak var list: BackgroundFetchedResults?

        func hear(_ batch: FetchedResultsBatch?, _ snapshot: FetchedResultsSnapshot) {
            let weakSelf = UncheckedSendable(self)
            DispatchQueue.main.async {
                MainActor.assumeIsolated {
                    guard let list = weakSelf.value.list else { return }
                    list.take(snapshot)
                    list.onChange?(batch)
                }
            }
        }
    }
}
