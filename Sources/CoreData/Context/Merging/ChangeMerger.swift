import Foundation
import Synchronization

// Effect of a merge on an object. Its committed row is replaced by the one that was saved elsewhere; unsaved changes of
// this context stay on top. Versions decide: a row that is not newer than the object's changes nothing, so a change
// that arrives twice or late does no harm; only derived values may differ within one version. Contents of to-many
// relationships are dropped and read again when they are used; unsaved additions and removals stay.
// If the row was deleted elsewhere, the object is deleted too, and its unsaved changes are lost.
//
// Merged changes are not changes of the context: they are not saved, cannot be undone, and do not affect `hasChanges`.
// They are posted like a separate event, after the context's pending changes.

/// Merges into one context changes that were saved elsewhere: by another context of the coordinator, by another
/// coordinator, or by another process. Every context is notified of commits. One with
/// `automaticallyMergesChangesFromParent` merges them; the others note that rows may be stale.
// SAFETY: the flag is an atomic, the weak context is set once; all else is immutable, or used only on the context's
// queue.
final class ChangeMerger: CommitObserver, @unchecked Sendable {
    /// Used only on the context's queue: a thread that reports a commit could release the context last, and its objects
    /// would then be changed off their queue.
    private weak var context: NSManagedObjectContext?
    // Parts of the context for the threads that report commits, which must not hold the context.
    private let address: ObjectIdentifier
    private let queue: WorkQueue
    private let othersSaved: AtomicFlag
    private let children: CommitObservers
    private let isAutomatic = Atomic<Bool>(false)
    /// Commits of other processes that are not merged yet.
    private let foreign = Mutex(ForeignCommits())
    /// True after a list failed to follow a change because the store was unavailable.
    private let hasFailedLists = Atomic<Bool>(false)
    /// The time of the last save of another context of this process, in nanoseconds of `DispatchTime`.
    private let lastOwnCommit = Atomic<UInt64>(0)

    init(context: NSManagedObjectContext) {
        self.context = context
        address = ObjectIdentifier(context)
        queue = context.queue
        othersSaved = context.othersSaved
        children = context.children
    }

    /// True if commits of other contexts and processes are merged automatically. Any thread.
    var mergesAutomatically: Bool {
        get { isAutomatic.load(ordering: .relaxed) }
        set { isAutomatic.store(newValue, ordering: .relaxed) }
    }

    // MARK: Commits of the coordinator

    func coordinatorDidCommit(_ changes: CommittedChanges, from source: AnyObject?) {
        // The source is alive. If it has the same address, it is this merger's context, or that context was
        // deallocated.
        if let source, ObjectIdentifier(source) == address { return }
        objectsBeneathDidChange()
        guard mergesAutomatically else { return }
        guard source == nil else {
            lastOwnCommit.store(DispatchTime.now().uptimeNanoseconds, ordering: .relaxed)
            onQueue { _ = $0.merge(changes) }
            return
        }
        if foreign.withLock({ $0.add(changes) }) { mergeForeignLater() }
    }

    var isBehind: Bool { foreign.withLock { $0.hasTurns } }

    /// True if a commit of another process is not merged, perhaps because its store is away. Any thread.
    var hasUnmerged: Bool { foreign.withLock { !$0.isEmpty } }

    /// True if a commit of another process that affects the row is not merged yet, though the store has it. Any thread.
    func isPending(_ key: RowKey) -> Bool { foreign.withLock { $0.mayConcern(key) } }

    private func mergeForeignLater() { onQueue { $0.mergeForeign() } }

    /// Runs `body` on the context's queue, as one of its blocks, if the context still exists then.
    private func onQueue(_ body: @escaping @Sendable (ChangeMerger) -> Void) {
        queue.async { [weak self] in
            guard let self, let context = self.context else { return }
            CurrentContext.entering(context) {
                body(self)
                context.processPendingChanges()
            }
        }
    }

    /// Merges as much as one turn of the queue should take, and leaves the rest to later turns, so other work of the
    /// queue, such as key presses, runs in between.
    private func mergeForeign() {
        let parts = foreign.withLock { $0.takeForTurn() }
        let begin = DispatchTime.now()
        let unread = mergeReadable(parts)
        let rows = parts.reduce(0) { $0 + $1.count }
        let isDue = foreign.withLock {
            $0.hold(unread)
            return $0.turnEnded(rows: rows, since: begin)
        }
        if isDue { mergeForeignLater() }
    }

    /// Merges parts together, or store by store if one of several is away.
    ///
    /// - Returns: the parts whose store is away.
    private func mergeReadable(_ parts: [CommittedChanges]) -> [CommittedChanges] {
        if parts.isEmpty || merge(CommittedChanges(together: parts), ifReadable: true) { return [] }
        // The changes of a part are of one store.
        let ofStores = Dictionary(grouping: parts) { $0.stores.first.map(ObjectIdentifier.init) }
        guard ofStores.count > 1 else { return parts }
        return ofStores.values.filter { !merge(CommittedChanges(together: $0), ifReadable: true) }.flatMap(\.self)
    }

    /// Records that a list could not follow a change. If the store was unavailable, the list is compared with it later.
    func listFailed(_ error: any Error) {
        if CoreDataError.isOfStoreAway(error) { hasFailedLists.store(true, ordering: .relaxed) }
    }

    func storesAnswer() {
        if foreign.withLock({ $0.resume() }) { mergeForeignLater() }
        if hasFailedLists.exchange(false, ordering: .relaxed) {
            onQueue { NotificationCenter.default.post(name: .contextHasUnknownChanges, object: $0.context) }
        }
        for child in children.live { child.storesAnswer() }
    }

    func coordinatorDidRemove(_ store: NSPersistentStore) {
        onQueue { $0.invalidateObjects(of: store) }
        for child in children.live { child.coordinatorDidRemove(store) }
    }

    /// Gives the objects of a moved store their new IDs, also in child contexts. Runs at once if called on the
    /// context's queue, because the caller continues to use the objects.
    func coordinatorDidMove(_ move: StoreMove) {
        for child in children.live { child.coordinatorDidMove(move) }
        guard queue.isCurrent else { return onQueue { $0.takeOver(move) } }
        takeOver(move)
    }

    private func takeOver(_ move: StoreMove) {
        guard let context else { return }
        var objects = MovedObjects(context: context, move: move)
        objects.run()
    }

    /// Notes that unused objects may be stale, here and in the children.
    func objectsBeneathDidChange() {
        othersSaved.raise()
        for child in children.live { child.objectsBeneathDidChange() }
    }

    // MARK: Merging, on the context's queue

    /// The maximum time in seconds in which a commit of another context arrives.
    private static let ownCommitsArrive = 5.0

    /// The time since which all commits of other processes are merged, including `changes`; see
    /// ``MergeAnnouncement/completeSince``.
    private func completion(of changes: CommittedChanges) -> DispatchTime? {
        guard let since = changes.completeSince, context?.parent == nil else { return nil }
        let last = lastOwnCommit.load(ordering: .relaxed)
        let age = Double(DispatchTime.now().uptimeNanoseconds - last) / 1e9
        return last == 0 || age > Self.ownCommitsArrive ? since : nil
    }

    /// Merges `changes` and posts them: objects-did-change, then did-merge-object-IDs.
    ///
    /// Cost: one query for all rows that `changes` does not contain. A row that cannot be read is dropped, and read
    /// again when its object is used.
    ///
    /// - Parameter ifReadable: true to merge nothing if a store is unavailable: the caller keeps `changes` until it is
    ///   back.
    /// - Returns: true if `changes` were merged.
    @discardableResult
    func merge(_ changes: CommittedChanges, ifReadable: Bool = false) -> Bool {
        guard let context else { return true }
        context.processPendingChanges()
        context.generation.advance()
        var work = MergeWork(context: context)
        guard work.merge(changes, ifReadable: ifReadable) else { return false }
        work.announce(changes, MergeAnnouncement(completeSince: completion(of: changes)))
        context.tellChildren(changes, from: context)
        return true
    }

    /// Removes the objects of a removed store, and posts them as invalidated.
    private func invalidateObjects(of store: NSPersistentStore) {
        guard let context else { return }
        context.faults.ahead.forgetAll()
        context.processPendingChanges()
        let objects = context.registry.all.filter { object in
            !object.objectID.isTemporaryID && object.objectID.storeIdentifier == store.identifier
        }
        guard !objects.isEmpty else { return }
        context.savePipeline.lost.add(objects, of: store)
        for object in objects { context.changes.forget(object) }
        NotificationCenter.default.post(
            name: NSManagedObjectContext.didChangeObjectsNotification, object: context,
            userInfo: [NSInvalidatedObjectsKey: Set(objects)])
        context.letGo(objects)
    }
}
