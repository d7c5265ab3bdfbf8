import Foundation
import Synchronization

// What a merge does to an object. Its committed row is replaced by the one that was saved elsewhere; the values that were
// changed here and not saved stay on top. Versions decide: a row that is not newer than the one at hand changes nothing,
// so a change that arrives twice, or late, does no harm. Contents of to-many relationships are dropped and read again
// when they are asked for; what was added and removed here stays.
//
// Merged changes are no changes of the context: they are not saved, cannot be undone, and leave `hasChanges` alone. They
// are announced like an event of their own, after the context's pending changes were.

/// Takes over into one context what was saved elsewhere: in another context of the coordinator, in another coordinator,
/// in another process.
// SAFETY: the flag is an atomic, the weak context is set once; all else is touched on the context's queue only.
final class ChangeMerger: CommitObserver, @unchecked Sendable {
    /// Weak, because commits are heard on any thread and the context may be on its way out.
    private weak var context: NSManagedObjectContext?
    private let isAutomatic = Atomic<Bool>(false)
    /// What other processes committed and the context's queue has not come to yet: one merge takes all of it.
    private let foreign = Mutex<CommittedChanges?>(nil)

    init(context: NSManagedObjectContext) { self.context = context }

    /// Whether commits of others are merged by themselves. Any thread.
    var mergesAutomatically: Bool {
        get { isAutomatic.load(ordering: .relaxed) }
        set { isAutomatic.store(newValue, ordering: .relaxed) }
    }

    // MARK: Commits of the coordinator

    func coordinatorDidCommit(_ changes: CommittedChanges, from source: AnyObject?) {
        guard let context, source !== context else { return }
        context.noteChangesBeneath()
        guard mergesAutomatically else { return }
        guard source == nil else {
            context.perform { [weak self] in self?.merge(changes) }
            return
        }
        let isFirst = foreign.withLock { waiting in
            waiting?.append(changes)
            guard waiting == nil else { return false }
            waiting = changes
            return true
        }
        if isFirst { context.perform { [weak self] in self?.mergeForeign() } }
    }

    /// Whether the context's queue has not come yet to what other processes committed. Any thread.
    var isBehind: Bool { foreign.withLock { $0 != nil } }

    private func mergeForeign() {
        let changes = foreign.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        if let changes { merge(changes) }
    }

    func coordinatorDidRemove(_ store: NSPersistentStore) {
        guard let context else { return }
        context.perform { [weak self] in self?.invalidateObjects(of: store) }
        for child in context.children.live { child.coordinatorDidRemove(store) }
    }

    func objectsBeneathDidChange() { context?.noteChangesBeneath() }

    // MARK: Merging, on the context's queue

    /// Whether objects-did-change is being posted for a merge: did-merge-object-IDs follows at once, and names the rows too
    /// for which the context has no object.
    private(set) var isAnnouncingObjects = false

    func whileAnnouncingObjects(_ post: () -> Void) {
        isAnnouncingObjects = true
        post()
        isAnnouncingObjects = false
    }

    /// Takes `changes` over and announces them: objects-did-change, then did-merge-object-IDs.
    ///
    /// Cost: one query for all rows that `changes` does not bring along. A row that cannot be read is dropped, and read
    /// again when its object is used.
    func merge(_ changes: CommittedChanges) {
        guard let context else { return }
        context.processPendingChanges()
        context.generation.advance()
        var work = MergeWork(context: context)
        work.merge(changes)
        for store in changes.staleStores { work.sweep(store) }
        work.announce(changes)
        context.tellChildren(changes, from: context)
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
