import Foundation

// A view of a controller is a controller whose rows are some of another one's, its base. It asks the store for nothing but
// the values of rows: what is in it and where is decided by the objects of the base's rows, at the beginning for all of
// them, and then for those of each batch of the base. Rows have the same identities in both.

/// A controller that follows another one.
struct DependentView {
    weak var tracker: ResultsTracker?
}

extension ResultsTracker {
    /// Whether other controllers show some of the list's rows.
    var hasViews: Bool { views.contains { $0.tracker != nil } }

    /// Lets another controller follow this one.
    func add(_ view: ResultsTracker) {
        views.removeAll { $0.tracker == nil }
        views.append(DependentView(tracker: view))
        catchUp()
    }

    /// Tells the views what was told.
    func tellViews(_ batch: ChangeBatch, of state: ResultsState) {
        for view in views { view.tracker?.baseDidChange(batch, of: state) }
    }

    /// Tells the views that the list was fetched anew.
    func tellViewsOfFetch() { for view in views { view.tracker?.baseWasFetched() } }

    private func baseDidChange(_ batch: ChangeBatch, of base: ResultsState) {
        guard let state, isListening else { return }
        // The base was fetched anew, and this view was not yet.
        guard state.identities === base.identities else { return baseWasFetched() }
        var changed: [RowToken] = []
        var deleted: [RowToken] = []
        for change in batch.rowChanges {
            if change.newPath == nil { deleted.append(change.row) } else { changed.append(change.row) }
        }
        noteFromBase(
            changed: base.identities.objectIDs(of: changed), deleted: base.identities.objectIDs(of: deleted),
            left: base.leftObjects)
        workOff()
    }

    /// Fetches anew from the base; later where the delegate is being called.
    func baseWasFetched() {
        missedFetchOfBase = isWorking
        guard let state, !isWorking else { return }
        do {
            let loader = loader(for: state.request)
            let loaded = try loader.load(try loader.definition(keeping: state.identities))
            let isSame = loaded.definition.identities === state.identities
            let batch = isSame ? Refetch.batch(to: loaded, from: state) : nil
            goOver(to: loaded, state.request, telling: batch)
        } catch {
            missedChanges = true
            caller.tell(error)
        }
    }
}

extension ResultsLoader {
    /// So many objects are looked at together.
    private static let portion = 1_000

    /// The rows of another controller that the request wants, in its order.
    func loadView(of base: ResultsTracker, into loaded: inout LoadedResults) throws {
        let definition = loaded.definition
        if base.state == nil { try base.performFetch() }
        guard let rows = base.state?.published.rows else { return }
        var kept: [RowToken] = []
        var numbers: [UInt32] = []
        var names: [String] = []
        var values = definition.ordering.values(ofRows: 0)
        for start in stride(from: 0, to: rows.count, by: Self.portion) {
            let tokens = rows.elements(in: start..<min(start + Self.portion, rows.count))
            let objects = try context.fetchPipeline.objects(for: definition.identities.objectIDs(of: tokens))
            for (token, object) in zip(tokens, objects) where !object.isDeleted && !object.waitsForRow {
                guard definition.membership?.evaluate(with: object) ?? true else { continue }
                kept.append(token)
                definition.ordering.read(object, into: &values)
                if definition.rule != nil { numbers.append(definition.section(of: object)) }
                if let key = definition.sectionKey { names.append(key.name(of: object)) }
            }
        }
        let order = definition.ordering.sortedPlaces(of: values, id: { definition.identities.objectID(of: kept[$0]) })
        let sorted = SharedElements(order.map { kept[$0] })
        if definition.rule != nil {
            loaded.contents = ListContents(rows: sorted, in: order.map { numbers[$0] }, of: definition.names)
            return
        }
        var run = SectionRun(names: definition.names)
        if definition.sectionKey != nil { for place in order { try run.add(names[place]) } }
        loaded.contents = ListContents(rows: sorted, sections: run.entries, isSectioned: definition.isSectioned)
    }
}

extension NSFetchedResultsController {
    /// A controller of some of this one's objects, in an order and in sections of its own. An addition to Apple's interface.
    ///
    /// It has the same context, delegates and streams of its own, and shares this controller's rows: nothing is fetched but
    /// the values of rows that the context does not have, and it follows this controller, which it keeps alive and which
    /// follows its context for it. `performFetch()` of the view fetches this controller first if that was not done; a new
    /// fetch of this controller is told as one batch by the view where it can be.
    ///
    /// Cost: each object is looked at once at the fetch, then O(k log n) for a batch of k changes. Limit and offset of the
    /// view's request are not looked at; its batches do not say which keys changed.
    ///
    /// - Parameters:
    ///   - predicate: which of the objects; `nil` for all.
    ///   - sortDescriptors: their order; `nil` for that of this controller's request.
    ///   - sectionBy: their sections; `nil` for those of this controller, as far as the order allows: sections by key path are
    ///     left out where the order is another one.
    /// - Precondition: This controller finds objects or IDs.
    public final func view(
        where predicate: NSPredicate? = nil, sortedBy sortDescriptors: [NSSortDescriptor]? = nil,
        sectionBy: SectionBy? = nil
    ) -> NSFetchedResultsController<ResultType> {
        precondition(fetchRequest.resultType != .dictionaryResultType, "Dictionaries cannot be followed in a view.")
        guard let request = fetchRequest.copy() as? NSFetchRequest<ResultType> else {
            preconditionFailure("A copy of a fetch request is none.")
        }
        request.predicate = predicate
        request.sortDescriptors = sortDescriptors ?? fetchRequest.sortDescriptors
        (request.fetchLimit, request.fetchOffset) = (0, 0)
        let made = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: managedObjectContext,
            sectionNameKeyPath: sortDescriptors == nil ? sectionNameKeyPath : nil, cacheName: nil)
        made.sectionBy = sectionBy ?? self.sectionBy
        made.follow(self)
        return made
    }

    private func follow(_ base: NSFetchedResultsController<ResultType>) {
        tracker.base = base.tracker
        tracker.baseController = base
        base.tracker.add(tracker)
    }
}
