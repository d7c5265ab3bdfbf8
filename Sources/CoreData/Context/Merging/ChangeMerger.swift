import Foundation
import Synchronization

// What a merge does to an object. Its committed row is replaced by the one that was saved elsewhere; the values that were
// changed here and not saved stay on top. Versions decide: a row that is not newer than the one at hand changes nothing,
// so a change that arrives twice, or late, does no harm; derived values alone may differ under one version. Contents of
// to-many relationships are dropped and read again when they are asked for; what was added and removed here stays.
//
// Merged changes are no changes of the context: they are not saved, cannot be undone, and leave `hasChanges` alone. They
// are announced like an event of their own, after the context's pending changes were.

/// Takes over into one context what was saved elsewhere: in another context of the coordinator, in another coordinator,
/// in another process. Every context hears of commits; one with `automaticallyMergesChangesFromParent` merges them, the others
/// note that rows may be stale.
// SAFETY: the flag is an atomic, the weak context is set once; all else is immutable, or touched on the context's queue only.
final class ChangeMerger: CommitObserver, @unchecked Sendable {
    /// For the context's queue alone: a thread that hears of a commit could be the last to hold the context, and its objects
    /// would be changed off their queue when it goes away.
    private weak var context: NSManagedObjectContext?
    // What the threads of commits need of the context, which they must not hold.
    private let address: ObjectIdentifier
    private let queue: WorkQueue
    private let othersSaved: AtomicFlag
    private let children: CommitObservers
    private let isAutomatic = Atomic<Bool>(false)
    /// What other processes committed and the context's queue has not come to yet.
    private let foreign = Mutex(ForeignCommits())
    /// True after a list failed to follow a change because the store was away.
    private let hasFailedLists = Atomic<Bool>(false)
    /// When another context of this process saved last, in nanoseconds of `DispatchTime`.
    private let lastOwnCommit = Atomic<UInt64>(0)

    init(context: NSManagedObjectContext) {
        self.context = context
        address = ObjectIdentifier(context)
        queue = context.queue
        othersSaved = context.othersSaved
        children = context.children
    }

    /// Whether commits of others are merged by themselves. Any thread.
    var mergesAutomatically: Bool {
        get { isAutomatic.load(ordering: .relaxed) }
        set { isAutomatic.store(newValue, ordering: .relaxed) }
    }

    // MARK: Commits of the coordinator

    func coordinatorDidCommit(_ changes: CommittedChanges, from source: AnyObject?) {
        // The source is there: where it has the address, the context of this merger is it, or is gone.
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

    /// Whether a commit of another process that concerns the row waits to be merged: the store has it already. Any thread.
    func isPending(_ key: RowKey) -> Bool { foreign.withLock { $0.mayConcern(key) } }

    private func mergeForeignLater() { onQueue { $0.mergeForeign() } }

    /// Runs `body` on the context's queue, as one of its blocks, if the context is still there then.
    private func onQueue(_ body: @escaping @Sendable (ChangeMerger) -> Void) {
        queue.async { [weak self] in
            guard let self, let context = self.context else { return }
            CurrentContext.entering(context) {
                body(self)
                context.processPendingChanges()
            }
        }
    }

    /// Merges as much as one turn of the queue should take, and leaves the rest to later turns: what else the queue has to
    /// do, such as keys that were pressed, comes in between.
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

    /// A list could not follow a change. Where the store is away, it is compared with the store when that is back.
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

    /// At once on the context's own queue: its caller goes on with the objects.
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

    /// What was read and is not in use may be stale, here and in the children.
    func objectsBeneathDidChange() {
        othersSaved.raise()
        for child in children.live { child.objectsBeneathDidChange() }
    }

    // MARK: Merging, on the context's queue

    /// How long a commit of another context is taken to be on its way.
    private static let ownCommitsArrive = 5.0

    /// Since when all is merged that other processes committed, with `changes`; see ``MergeAnnouncement/completeSince``.
    private func completion(of changes: CommittedChanges) -> DispatchTime? {
        guard let since = changes.completeSince, context?.parent == nil else { return nil }
        let last = lastOwnCommit.load(ordering: .relaxed)
        let age = Double(DispatchTime.now().uptimeNanoseconds - last) / 1e9
        return last == 0 || age > Self.ownCommitsArrive ? since : nil
    }

    /// Takes `changes` over and announces them: objects-did-change, then did-merge-object-IDs.
    ///
    /// Cost: one query for all rows that `changes` does not bring along. A row that cannot be read is dropped, and read
    /// again when its object is used.
    ///
    /// - Parameter ifReadable: whether to merge nothing where a store is away: the caller keeps `changes` until it is back.
    /// - Returns: whether `changes` were merged.
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

    /// The store is gone: its objects are forgotten, and reported as invalidated.
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
