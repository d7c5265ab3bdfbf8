import Foundation
import Observation

/// The working part of a results controller: fetches, follows the context, and tells the delegate.
///
/// Design. The context's notifications say which objects were touched. While the delegate is being called, further ones
/// only add to the touched set, which is worked off when the delegate is done: brackets of will and did never nest.
///
/// There are two states of the list: `tracked` is the list as the context has it, `published` the one that the controller
/// shows. They are the same, except until it is known that the delegate implements a callback: then `published` waits. A
/// merge sends two notifications; the list is edited at the second one.
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
    /// Whether the list follows its context even without a listener.
    var followsChanges = false { didSet { if followsChanges { catchUp() } } }
    /// Whether what changes now is shown already.
    var isSilent = false

    let request: NSFetchRequest<NSFetchRequestResult>
    private var observers: [any NSObjectProtocol] = []
    var state: ResultsState?
    /// The change of request that goes on beside the queue.
    var refetch: Refetch?
    var related: RelatedObjects?
    var recent = RecentPlacements()
    var cacheWriter: ResultsCacheWriter?

    /// What was touched and not worked off.
    private var touched = TouchedObjects()
    /// The last merge that touched something.
    private var merge: MergeAnnouncement?
    var isWorking = false
    /// Changes went by unseen: the next batch has to compare with a new fetch.
    var missedChanges = false
    /// The context forgot its objects: nothing can be said before the next fetch.
    var isInvalidated = false
    /// How often a list was fetched.
    var fetches = 0
    /// Made when they are asked for.
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

    /// Ties the tracker to its controller, which owns it.
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

    /// The controller goes away: the tracker has no list and tells nothing from now on.
    func detach() {
        for observer in observers { NotificationCenter.default.removeObserver(observer) }
        observers = []
        caller.use(nil)
        listeners.end()
        flushCache()
        state = nil
    }

    /// Writes the list on disk now, if the store changed since it was written.
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
            "A controller with a delegate cannot give dictionaries: changes of them cannot be followed.")
    }

    /// What fetches the list that the request says as it is now.
    func loader(for request: NSFetchRequest<NSFetchRequestResult>) -> ResultsLoader {
        ResultsLoader(
            context: context, request: request, sectionNameKeyPath: sectionNameKeyPath, sectionBy: sectionBy,
            aggregates: aggregates, cacheName: cacheName, followsRelatedObjects: followsRelatedObjects)
    }

    /// Shows what was fetched. The delegate hears of it in the form of snapshots only.
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

    /// Follows from now on what `made` looks at.
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

    /// The snapshot form is also told of what was fetched.
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
            "A controller with a delegate cannot give dictionaries: changes of them cannot be followed.")
        guard old !== new else { return }
        caller.use(new)
    }

    // MARK: What the context says

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
        // A merge tells of the objects that the context holds first, and then of all rows: one batch.
        if MergeAnnouncement(in: info) != nil { return }
        workOff()
    }

    /// Whether the list holds objects of `entity`, or its objects look at some.
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

    /// Whether changes are followed. If not, it is noted that there were some.
    var isListening: Bool {
        guard let state, !isInvalidated, state.fixedResults == nil else { return false }
        if caller.isDeaf(isSectioned: state.isSectioned), !hasFollowers {
            missedChanges = true
            return false
        }
        return true
    }

    // MARK: Working off

    /// Something begins to follow the list: what went by unseen is worked off.
    func catchUp() { if missedChanges { workOff() } }

    /// The store cannot be read now: the list stays as it is, and is compared with the store next time.
    func couldNotFollow(_ error: any Error) {
        missedChanges = true
        context.merger.listFailed(error)
        caller.tell(error)
    }

    /// Brings the list up to date with everything that was touched, batch by batch, unless that is going on already.
    func workOff() {
        guard !isWorking else { return }
        // A delegate may drop the last reference to the controller while it is called.
        let kept = caller.controller
        isWorking = true
        defer {
            withExtendedLifetime(kept) {}
            isWorking = false
            // What is left when the delegate went away is made up for by a fetch.
            if !isListening { touched = TouchedObjects() }
        }
        while let state, !touched.isEmpty || missedChanges, isListening {
            let work = touched
            let merge = merge
            touched = TouchedObjects()
            self.merge = nil
            // So much was compared while much waited to be merged that not all of it is known any more.
            if recent.isIncomplete, !context.merger.isBehind { missedChanges = true }
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
