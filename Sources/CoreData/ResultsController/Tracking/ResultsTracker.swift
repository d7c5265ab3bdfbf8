import Foundation
import Observation

/// The implementation of a results controller: fetches, follows the context, and notifies the delegate.
///
/// Design. The context's notifications name the touched objects. While the delegate is being called, further
/// notifications only add to the touched set, which is processed when the delegate returns: pairs of will and did never
/// nest.
///
/// There are two states of the list: `tracked` is the list in the context, `published` the displayed one. They are the
/// same, except until the delegate is known to implement a callback: then `published` waits. A merge posts two
/// notifications; the list is edited after the second one.
final class ResultsTracker {
    let context: NSManagedObjectContext
    let sectionNameKeyPath: String?
    let cacheName: String?
    let caller = DelegateCaller()
    let listeners = BatchListeners()
    let observation = ObservationRegistrar()
    var followsRelatedObjects = true
    var sectionBy: SectionBy?
    var aggregates: [SectionAggregate] = []
    /// True if the list follows its context even without a listener.
    var followsChanges = false { didSet { if followsChanges { catchUp() } } }
    /// True while changes are made that are already displayed.
    var isSilent = false

    let request: NSFetchRequest<NSFetchRequestResult>
    private var observers: [any NSObjectProtocol] = []
    var state: ResultsState?
    /// The change to a new request, while it is in progress.
    var refetch: Refetch?
    var related: RelatedObjects?
    var recent = RecentPlacements()
    var cacheWriter: ResultsCacheWriter?

    /// The touched objects that were not processed yet.
    private var touched = TouchedObjects()
    /// The merge whose changes are not processed yet; `nil` if there is none.
    private var merge: MergeAnnouncement?
    var isWorking = false
    /// True if changes were missed: the next batch has to compare with a new fetch.
    var missedChanges = false
    /// True if the context was reset: nothing can be reported before the next fetch.
    var isInvalidated = false
    /// The number of fetches.
    var fetches = 0
    /// Created on demand.
    var shownSections = ShownSections()

    init(
        request: NSFetchRequest<NSFetchRequestResult>, context: NSManagedObjectContext, sectionNameKeyPath: String?,
        cacheName: String?
    ) {
        self.request = request
        self.context = context
        self.sectionNameKeyPath = sectionNameKeyPath
        self.cacheName = cacheName
    }

    /// Connects the tracker to its controller, which owns it.
    func attach(to controller: NSFetchedResultsController<NSFetchRequestResult>, named name: String) {
        caller.controller = controller
        requireSortDescriptors(name)
        let center = NotificationCenter.default
        func observe(_ name: Notification.Name, _ body: @escaping (ResultsTracker, [AnyHashable: Any]) -> Void) {
            let weakSelf = UncheckedSendable(WeakTracker(tracker: self))
            let body = UncheckedSendable(body)
            observers.append(
                center.addObserver(forName: name, object: context, queue: nil) { notification in
                    guard let tracker = weakSelf.value.tracker else { return }
                    body.value(tracker, notification.userInfo ?? [:])
                })
        }
        observe(NSManagedObjectContext.didChangeObjectsNotification) { $0.objectsDidChange($1) }
        observe(NSManagedObjectContext.didMergeChangesObjectIDsNotification) { $0.didMerge($1) }
        observe(NSManagedObjectContext.didSaveObjectsNotification) { tracker, _ in tracker.contextDidSave() }
        observe(.contextHasUnknownChanges) { tracker, _ in tracker.hasUnknownChanges() }
    }

    private struct WeakTracker {
        weak var tracker: ResultsTracker?
    }

    /// Called when the controller is released: the tracker drops its list and reports nothing from now on.
    func detach() {
        for observer in observers { NotificationCenter.default.removeObserver(observer) }
        observers = []
        caller.use(nil)
        listeners.end()
        flushCache()
        state = nil
    }

    /// Writes the list on disk now, if the store has changed since it was written.
    func flushCache() { cacheWriter?.flush(wait: true) }

    private func requireSortDescriptors(_ name: String) {
        precondition(
            request.sortDescriptors != nil, "An instance of \(name) requires a fetch request with sort descriptors.")
    }

    // MARK: Fetching

    func performFetch() throws {
        requireFetchable()
        refetch?.end()
        let loaded: LoadedResults
        do {
            loaded = try loader(for: request).load()
        } catch {
            show(nil)
            throw error
        }
        begin(with: loaded, request)
    }

    func requireFetchable() {
        requireSortDescriptors(caller.controller.map { String(describing: type(of: $0)) } ?? "The controller")
        precondition(
            request.resultType != .dictionaryResultType || caller.delegate == nil,
            "A controller with a delegate cannot fetch dictionaries, because it cannot follow their changes.")
    }

    /// A loader for the current list of the request.
    func loader(for request: NSFetchRequest<NSFetchRequestResult>) -> ResultsLoader {
        ResultsLoader(
            context: context, request: request, sectionNameKeyPath: sectionNameKeyPath, sectionBy: sectionBy,
            aggregates: aggregates, cacheName: cacheName, followsRelatedObjects: followsRelatedObjects)
    }

    /// Shows the fetched contents. Of the delegate's methods, only the snapshot method is called.
    func begin(with loaded: LoadedResults, _ request: NSFetchRequest<NSFetchRequestResult>) {
        let made = madeState(loaded, request)
        take(made, loaded)
        show(made)
        tellSnapshot(of: made)
        if !listeners.isEmpty, let snapshot { listeners.begin(snapshot) }
    }

    func madeState(
        _ loaded: LoadedResults, _ request: NSFetchRequest<NSFetchRequestResult>
    ) -> ResultsState {
        let made = ResultsState(loaded, context: context, request: request)
        made.titleOfSection = { [weak controller = caller.controller] name in
            controller?.sectionIndexTitle(forSectionName: name)
        }
        return made
    }

    /// Follows the related objects of `made` from now on.
    func take(_ made: ResultsState, _ loaded: LoadedResults) {
        related = followsRelatedObjects ? RelatedObjects(loaded.definition) : nil
        cacheWriter = ResultsCacheWriter(cacheName, loaded, context: context)
        readValuesOfAggregates(of: made, loaded.origin)
    }

    private func show(_ new: ResultsState?) {
        if state !== new { state?.titleOfSection = { _ in nil } }
        fetches += 1
        observation.withMutation(of: self, keyPath: \.state) { state = new }
        touched = TouchedObjects()
        recent.removeAll()
        (missedChanges, isInvalidated) = (false, false)
        shownSections = ShownSections()
    }

    /// Calls the snapshot method, which also receives fetched contents.
    private func tellSnapshot(of state: ResultsState) {
        guard caller.mayHave(.snapshot), !isWorking else { return }
        isWorking = true
        let kept = caller.controller
        defer { withExtendedLifetime(kept) {} }
        let snapshot = NSDiffableDataSourceSnapshotReference(
            state.published, names: state.names, identities: state.identities, reloaded: [])
        caller.call(.snapshot) { $0.controller($1, didChangeContentWith: snapshot) }
        isWorking = false
        workOff()
    }

    func delegateChanged(
        from old: (any NSFetchedResultsControllerDelegate)?, to new: (any NSFetchedResultsControllerDelegate)?
    ) {
        precondition(
            new == nil || state?.fixedResults == nil,
            "A controller with a delegate cannot fetch dictionaries, because it cannot follow their changes.")
        guard old !== new else { return }
        caller.use(new)
    }

    // MARK: Notifications of the context

    private func objectsDidChange(_ info: [AnyHashable: Any]) {
        refetch?.objectsDidChange(info)
        guard state != nil else { return }
        guard info[NSInvalidatedAllObjectsKey] == nil else {
            isInvalidated = true
            touched = TouchedObjects()
            return
        }
        guard isListening else { return }
        touched.note(info, keepsOldValues: !listeners.isEmpty, where: isOfInterest)
        // A merge reports the objects in the context first, and then all rows; both make one batch.
        if MergeAnnouncement(in: info) != nil { return }
        workOff()
    }

    /// True if the list has objects of `entity`, or depends on some.
    private func isOfInterest(_ entity: NSEntityDescription) -> Bool {
        state?.definition.plan.includes(entity) ?? false || related?.looks(at: entity) ?? false
    }

    private func didMerge(_ info: [AnyHashable: Any]) {
        refetch?.didMerge(info)
        guard isListening else { return }
        func ids(_ key: String) -> [NSManagedObjectID] {
            (info[key] as? Set<NSManagedObjectID> ?? []).filter { isOfInterest($0.entity) }
        }
        touched.noteChanged(ids(NSInsertedObjectIDsKey))
        touched.noteChanged(ids(NSUpdatedObjectIDsKey))
        touched.noteDeleted(ids(NSDeletedObjectIDsKey))
        merge = MergeAnnouncement(in: info) ?? MergeAnnouncement(completeSince: nil)
        workOff()
    }

    private func hasUnknownChanges() {
        refetch?.isBroken = true
        guard isListening else { return }
        missedChanges = true
        workOff()
    }

    private func contextDidSave() {
        state?.identities.noteSavedObjects()
        cacheWriter?.storeChanged()
    }

    /// True if changes are followed. If not, they are recorded as missed.
    var isListening: Bool {
        guard let state, !isInvalidated, state.fixedResults == nil else { return false }
        if caller.isDeaf(isSectioned: state.isSectioned), !hasFollowers {
            missedChanges = true
            return false
        }
        return true
    }

    // MARK: Processing changes

    /// Processes missed changes when a delegate or observer begins to follow the list.
    func catchUp() { if missedChanges { workOff() } }

    /// Called if the store cannot be read: the list stays unchanged, and is compared with the store next time.
    func couldNotFollow(_ error: any Error) {
        missedChanges = true
        context.merger.listFailed(error)
        caller.tell(error)
    }

    /// Updates the list with all touched objects, batch by batch, unless that is already in progress.
    func workOff() {
        guard !isWorking else { return }
        // A delegate may drop the last reference to the controller while it is called.
        let kept = caller.controller
        isWorking = true
        defer {
            withExtendedLifetime(kept) {}
            isWorking = false
            // Without a listener the remaining changes are dropped: the next fetch includes them.
            if !isListening { touched = TouchedObjects() }
        }
        while let state, !touched.isEmpty || missedChanges, isListening {
            let work = touched
            let merge = merge
            touched = TouchedObjects()
            self.merge = nil
            // Comparisons were dropped while many commits waited to be merged, so some are unknown.
            if recent.isIncomplete, !context.merger.hasUnmerged { missedChanges = true }
            do {
                var change = try missedChanges ? fetchAgain(state, work) : edit(state, work, of: merge)
                try followAggregates(&change, of: state, isWhole: missedChanges)
                missedChanges = false
                state.deletedRows = work.deletedIDs
                state.leftObjects = work.leftObjects
                defer { (state.deletedRows, state.leftObjects) = ([], [:]) }
                publish(change, of: state, work)
            } catch {
                return couldNotFollow(error)
            }
        }
    }
}
