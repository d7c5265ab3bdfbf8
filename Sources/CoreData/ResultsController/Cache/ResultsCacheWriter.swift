import Foundation

/// Keeps the list on disk up to date during the lifetime of a controller, so that the next launch can use it.
///
/// The written list is not the displayed one, which may contain unsaved changes. It is the fetched list, updated by the
/// store's history: it matches one state of the store exactly, whatever the context has merged. For a store without
/// history nothing is written after the fetch; the next launch fetches again.
final class ResultsCacheWriter {
    /// Seconds without a change of the store before the list is written. Writing a long list takes time, and a program
    /// that commits continuously would write it again and again.
    private static let delay = 2.0
    /// Seconds after the first change at which the list is written in any case.
    private static let longestDelay = 30.0

    private let cache: ResultsCache
    private let context: NSManagedObjectContext
    private let store: any RowStore
    /// The list at the state `origin` of the store.
    private var list: LoadedResults
    private var origin: ListOrigin
    private var isScheduled = false
    /// The times of the first change of the store since the list was written, and of the last one.
    private var firstChange = DispatchTime.now()
    private var lastChange = DispatchTime.now()
    private var isStale = false

    /// - Returns: `nil` if the list cannot be cached.
    init?(_ name: String?, _ loaded: LoadedResults, context: NSManagedObjectContext) {
        guard let name, let origin = loaded.origin, let store = loaded.definition.identities.store,
            origin.historyNumber != nil
        else {
            return nil
        }
        cache = ResultsCache(named: name, of: loaded.definition, in: store)
        guard cache.isUsable else { return nil }
        self.context = context
        self.store = store
        list = loaded
        list.contents = loaded.savedContents ?? loaded.contents
        self.origin = origin
    }

    /// Schedules a write, since the store may have changed.
    func storeChanged() {
        lastChange = .now()
        if !isStale { firstChange = lastChange }
        isStale = true
        schedule()
    }

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        // Weak, because the writer retains the context, which must not be released off the queue.
        let later = QueueBound(WeakWriter(writer: self), on: context.queue)
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.delay) {
            later.async { weakSelf in
                guard let writer = weakSelf.writer else { return }
                CurrentContext.entering(writer.context) {
                    writer.isScheduled = false
                    if writer.mayWait { writer.schedule() } else { writer.flush() }
                    writer.context.processPendingChanges()
                }
            }
        }
    }

    private var mayWait: Bool {
        let now = DispatchTime.now().uptimeNanoseconds
        return Double(now - lastChange.uptimeNanoseconds) < (Self.delay - 0.1) * 1e9
            && Double(now - firstChange.uptimeNanoseconds) < Self.longestDelay * 1e9
    }

    private struct WeakWriter {
        weak var writer: ResultsCacheWriter?
    }

    /// Writes the list now if it is stale. Does nothing off the context's queue.
    func flush(wait: Bool = false) {
        guard isStale, context.isOnQueue else { return }
        isStale = false
        let repair = CachedListUpdate(store: store)
        guard let changes = repair.changes(since: origin, of: list), !changes.isEmpty,
            let contents = repair.apply(changes, to: list)
        else { return }
        list.contents = contents
        origin = changes.origin
        cache.write(contents, of: list.definition, origin: origin, wait: wait)
    }
}
