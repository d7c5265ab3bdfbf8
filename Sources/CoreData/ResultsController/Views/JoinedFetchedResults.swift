import Foundation

/// Several results controllers of one context as one list: the sections of the first, then those of the second, and so on. An
/// addition to Apple's interface.
///
/// It keeps the controllers, which follow their context for it, and takes neither their delegates nor their streams. Fetch the
/// controllers first. Belongs to the queue of their context.
public final class JoinedFetchedResults: NSObject {
    /// What one controller's batch did to the joined list.
    public struct Batch: Sendable {
        /// Which of the controllers changed.
        public let controller: Int
        /// How many sections of other controllers stand before those of the controller.
        public let sectionOffset: Int
        /// The controller's batch, by its own index paths; `nil` where it was fetched anew, or changed without being
        /// announced: then all of its sections are others.
        public let batch: FetchedResultsBatch?
        /// The sections that came and went, by the joined list's indexes.
        public let sectionChanges: [FetchedResultsBatch.SectionChange]
        /// The objects that changed, by the joined list's index paths.
        public let changes: [FetchedResultsBatch.Change]
    }

    private let parts: [Part]
    private let listeners = Listeners<AsyncStream<Batch>.Continuation>()
    /// Called with each batch, when the list shows it, on the queue of the context.
    public var onChange: ((Batch) -> Void)?

    private final class Part {
        let controller: AnyObject
        let tracker: ResultsTracker
        var sectionCount: Int
        var listener = 0

        init(_ controller: AnyObject, _ tracker: ResultsTracker) {
            (self.controller, self.tracker) = (controller, tracker)
            sectionCount = tracker.state?.published.sectionCount ?? 0
        }
    }

    /// A list of the contents of `controllers`, in their order.
    ///
    /// - Precondition: All controllers have the same context.
    public init<each Result: NSFetchRequestResult>(_ controllers: repeat NSFetchedResultsController<each Result>) {
        var parts: [Part] = []
        for controller in repeat each controllers { parts.append(Part(controller, controller.tracker)) }
        self.parts = parts
        super.init()
        begin()
    }

    /// A list of the contents of an array of controllers, in their order.
    ///
    /// - Precondition: All controllers have the same context.
    public init<Result: NSFetchRequestResult>(_ controllers: [NSFetchedResultsController<Result>]) {
        parts = controllers.map { Part($0, $0.tracker) }
        super.init()
        begin()
    }

    private func begin() {
        precondition(
            parts.allSatisfy { $0.tracker.context === parts[0].tracker.context },
            "Controllers that are joined have one context.")
        for (place, part) in parts.enumerated() {
            let weakSelf = UncheckedSendable(WeakList(list: self))
            part.listener = part.tracker.listeners.add(
                BatchListeners.Listener(
                    hear: { weakSelf.value.list?.hear($0, $0.after.numberOfSections, from: place) },
                    begin: { weakSelf.value.list?.hear(nil, $0.numberOfSections, from: place) }, end: {}))
            part.tracker.catchUp()
            part.sectionCount = part.tracker.state?.published.sectionCount ?? 0
        }
    }

    private struct WeakList {
        weak var list: JoinedFetchedResults?
    }

    deinit {
        for part in parts { part.tracker.listeners.remove(part.listener) }
        for continuation in listeners.all { continuation.finish() }
    }

    private func hear(_ batch: FetchedResultsBatch?, _ sectionCount: Int, from place: Int) {
        parts[place].sectionCount = sectionCount
        let offset = sectionOffset(ofController: place)
        func shifted(_ path: IndexPath?) -> IndexPath? {
            path.map { IndexPath(row: $0.row, section: $0.section + offset) }
        }
        let told = Batch(
            controller: place, sectionOffset: offset, batch: batch,
            sectionChanges: (batch?.sectionChanges ?? []).map {
                .init(type: $0.type, index: $0.index + offset, name: $0.name)
            },
            changes: (batch?.changes ?? []).map {
                .init(
                    type: $0.type, objectID: $0.objectID, indexPath: shifted($0.indexPath),
                    newIndexPath: shifted($0.newIndexPath), changedKeys: $0.changedKeys, oldValues: $0.oldValues)
            })
        onChange?(told)
        for continuation in listeners.all { continuation.yield(told) }
    }

    /// The batches from now on, for one loop. The stream ends with the list. Called on the context's queue; the batches may
    /// be taken on any.
    public var changes: AsyncStream<Batch> {
        let (stream, continuation) = AsyncStream.makeStream(of: Batch.self)
        let listeners = listeners
        let number = listeners.add(continuation)
        continuation.onTermination = { _ in listeners.remove(number) }
        return stream
    }

    // MARK: Contents

    /// How many controllers there are.
    public var numberOfControllers: Int { parts.count }

    /// How many sections of other controllers stand before those of one.
    public func sectionOffset(ofController place: Int) -> Int {
        parts[..<place].reduce(0) { $0 + $1.sectionCount }
    }

    /// The controller that a section belongs to, and its index there; `nil` where there is no such section.
    public func controller(ofSection section: Int) -> (place: Int, section: Int)? {
        var rest = section
        for (place, part) in parts.enumerated() {
            if rest >= 0, rest < part.sectionCount { return (place, rest) }
            rest -= part.sectionCount
        }
        return nil
    }

    /// All sections in order. O(sections).
    public var sections: [any NSFetchedResultsSectionInfo] { parts.flatMap { $0.tracker.sections ?? [] } }

    /// How many objects there are.
    public var numberOfObjects: Int { parts.reduce(0) { $0 + ($1.tracker.state?.published.rowCount ?? 0) } }

    /// The object or ID at a place; `nil` if there is no such place. O(log n).
    public subscript(indexPath: IndexPath) -> AnyObject? {
        guard let path = indexPath.listPath, let found = controller(ofSection: path.section) else { return nil }
        return parts[found.place].tracker.knownObject(at: IndexPath(row: path.row, section: found.section))
    }

    /// Where an object or ID is, the first time; `nil` if it is not in the list. O(log n) for each controller.
    public func indexPath(forObject object: AnyObject) -> IndexPath? {
        for (place, part) in parts.enumerated() {
            guard let path = part.tracker.indexPath(of: object) else { continue }
            return IndexPath(row: path.row, section: path.section + sectionOffset(ofController: place))
        }
        return nil
    }
}
