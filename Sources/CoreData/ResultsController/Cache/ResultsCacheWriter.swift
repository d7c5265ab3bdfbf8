import Foundation

/// Keeps the list on disk up to date while a controller lives, so that the next launch finds it true.
///
/// The list that is written is not the one on the screen, which may hold unsaved changes, but the one that was fetched,
/// brought forward by the store's history: it is exact for one state of the store, whatever the context has merged. In a
/// store without history nothing is written after the fetch; the next launch fetches anew.
final class ResultsCacheWriter {
    /// The list is written when the store was still for so many seconds: writing a long list takes its time, and a program
    /// that commits without pause would take it from the keys again and again.
    private static let delay = 2.0
    /// But not later than so many seconds after the first change.
    private static let longestDelay = 30.0

    private let cache: ResultsCache
    private let context: NSManagedObjectContext
    private let store: any RowStore
    /// The list for the state of the store that it names.
    private var list: LoadedResults
    private var origin: ListOrigin
    private var isScheduled = false
    /// When the store changed for the first time since the list was written, and when for the last.
    private var firstChange = DispatchTime.now()
    private var lastChange = DispatchTime.now()
    private var isStale = false

    /// - Returns: `nil` when the list cannot be kept.
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

    /// The store may have changed: the list is written a little later.
    func storeChanged() {
        lastChange = .now()
        if !isStale { firstChange = lastChange }
        isStale = true
        schedule()
    }

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        // Beside the queue the writer is not held: it holds the context.
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

    /// Writes the list now if it is not up to date. Does nothing off the context's queue.
    func flush(wait: Bool = false) {
        guard isStale, context.isOnQueue else { return }
        isStale = false
        let repair = ListRepair(store: store)
        guard let changes = repair.changes(since: origin, of: list), !changes.isEmpty,
            let contents = repair.apply(changes, to: list)
        else { return }
        list.contents = contents
        origin = changes.origin
        cache.write(contents, of: list.definition, origin: origin, wait: wait)
    }
}
