import Foundation

// Detecting commits of other processes.
//
// SQLite's `data_version` of a connection increases when any other connection commits, and a query takes
// microseconds. A timer on a separate queue queries it ten times a second. The history is read only if the number
// changed, from the last transaction seen. Transactions of the store's own connection are skipped: the saving context
// has already announced them.
//
// Stores may be queried only under the coordinator's lock. The watcher does not delay other work: it tries the lock,
// and if another thread has it, tries again shortly after. It waits for the lock only after many failures, so
// that a busy process also sees the others' commits.
//
// A server notifies the watcher of other clients' commits, and the watcher looks at once. The timer continues, for
// servers that do not notify.
//
// After several looks without a change, the system is asked to report writes to the files, and the timer slows down,
// so a program with an idle store needs almost no processor time. After a report the watcher looks at once, and the
// timer returns to its normal pace.
//
// While a context has not merged the last changes, the next ones are not read, because its queue is busy. The looks
// become as rare as the merges are slow, up to a limit, because other contexts may be waiting.

/// Watches a coordinator's stores that were added with the remote-change option, and announces others' commits: as
/// ``CommittedChanges`` to the contexts, and as `.NSPersistentStoreRemoteChange` to observers. Also posts the
/// notification for this process's own commits.
// SAFETY: the coordinator's lock guards `watched` and `timer`, the queue `misses`; the coordinator is set first.
final class RemoteChangeWatcher: @unchecked Sendable {
    /// The timing of the looks at the stores. Tests use other values.
    struct Pace {
        /// Time between two queries of `data_version`.
        var interval = DispatchTimeInterval.milliseconds(100)
        /// The same while the files are watched, in case the system misses a write.
        var quietInterval = DispatchTimeInterval.seconds(1)
        /// Number of consecutive looks without a change before the files are watched.
        var quietLooks = 20
    }

    /// Set before the first store is added.
    var pace = Pace()
    /// Delay before another attempt if another thread has the lock.
    static let retryInterval = DispatchTimeInterval.milliseconds(15)
    /// First delay in milliseconds after a notification. Each further delay is twice as long.
    private static let firstRetry = 1
    private static let longestRetry = 16
    /// Delay after a notification while contexts are behind.
    private static let pauseBehind = DispatchTimeInterval.milliseconds(8)
    /// Number of consecutive failures before the watcher waits for the lock. Every fourth failure waits for the
    /// timer.
    static let patience = 20
    /// Maximum number of consecutive looks skipped because a context is behind.
    static let mostLeftOut = 4

    /// The last known state of a store. Used only under the coordinator's lock.
    private struct Watched {
        weak var store: (any RowStore)?
        /// `nil` until the store could be queried.
        var dataVersion: Int64?
        var lastNumber: Int64?
        /// True if the missing or moved file was already reported.
        var isLost = false
    }

    private let queue = DispatchQueue(label: "CoreData.RemoteChangeWatcher", qos: .userInitiated)
    private weak var coordinator: NSPersistentStoreCoordinator?
    private var watched: [ObjectIdentifier: Watched] = [:]
    /// Used only under the coordinator's lock.
    private var timer: (any DispatchSourceTimer)?
    /// Used only on `queue`.
    private var misses = 0
    /// Used only on `queue`.
    private var leftOut = 0
    /// True if a look requested by a store is pending. Used only on `queue`.
    private var isWoken = false
    /// Number of consecutive looks without a change. Used only on `queue`.
    private var quiet = 0
    /// The file watches while the timer is slow; otherwise empty. Used only on `queue`.
    private var fileWatches: [AnyObject] = []
    /// True if a file watch has reported a write. Used only on `queue`.
    private var isFileTouched = false

    init() {}

    deinit { timer?.cancel() }

    /// Sets the coordinator whose stores are watched. Called once, before anything else.
    func attach(to coordinator: NSPersistentStoreCoordinator) { self.coordinator = coordinator }

    /// Starts watching new stores and stops watching removed ones. Called under the coordinator's lock, so that
    /// nothing is missed between the opening of a store and the first look at it.
    func storesDidChange(_ stores: [any RowStore]) {
        var found: [ObjectIdentifier: Watched] = [:]
        for store in stores where StoreOptions(store.options).postsRemoteChanges {
            let key = ObjectIdentifier(store)
            found[key] = watched[key] ?? Self.firstLook(at: store)
            if watched[key] == nil { store.operations.wake(on: queue) { [weak self] in self?.wake() } }
        }
        watched = found
        if found.isEmpty { pause() } else { resume() }
        // Files of new stores are not watched yet.
        queue.async { [weak self] in
            if self?.fileWatches.isEmpty == false { self?.fileWasTouched() }
        }
    }

    /// Posts the notification for this process's own commit. Returns at once.
    func ownCommit(to stores: [NSPersistentStore]) {
        let announced = stores.filter { StoreOptions($0.options).postsRemoteChanges }
        guard !announced.isEmpty else { return }
        queue.async { [self] in
            guard let coordinator else { return }
            for store in announced {
                let number = coordinator.withLock { () -> Int64? in
                    let own = coordinator.rowStores(among: [store]).first
                    return (try? own?.operations.lastHistoryNumber()) ?? nil
                }
                post(store, lastNumber: number, from: coordinator)
            }
        }
    }

    /// The initial state. A store that cannot be queried now counts as changed once it can be.
    private static func firstLook(at store: any RowStore) -> Watched {
        Watched(
            store: store, dataVersion: try? store.operations.dataVersion(),
            lastNumber: (try? store.operations.lastHistoryNumber()) ?? nil)
    }

    // MARK: The timer

    private func resume() {
        guard timer == nil else { return }
        let source = DispatchSource.makeTimerSource(queue: queue)
        source.setEventHandler { [weak self] in self?.poll() }
        source.schedule(deadline: .now() + pace.interval, repeating: pace.interval, leeway: .milliseconds(10))
        timer = source
        source.resume()
    }

    /// True while the timer is slow because the system reports changes of the files. For tests.
    var watchesFiles: Bool { queue.sync { !fileWatches.isEmpty } }

    private func pause() {
        timer?.cancel()
        timer = nil
    }

    // MARK: One look

    /// Called when a store reports that another connection committed. Call on `queue`.
    private func wake() {
        guard !isWoken else { return }
        isWoken = true
        lookWhenWoken(retry: Self.firstRetry)
    }

    /// Looks once the contexts have merged the last changes and no other thread uses the stores.
    private func lookWhenWoken(retry: Int) {
        guard isWoken, let coordinator else { return }
        var pause: DispatchTimeInterval?
        if coordinator.hasObserversBehind {
            pause = Self.pauseBehind
        } else if !coordinator.tryLock() {
            pause = .milliseconds(retry)
        }
        guard let pause else { return look(coordinator) }
        queue.asyncAfter(deadline: .now() + pause) { [weak self] in
            self?.lookWhenWoken(retry: min(retry * 2, Self.longestRetry))
        }
    }

    private func poll() {
        guard let coordinator else { return }
        if leftOut < Self.mostLeftOut, coordinator.hasObserversBehind {
            leftOut += 1
            return
        }
        leftOut = 0
        if misses < Self.patience {
            guard coordinator.tryLock() else {
                misses += 1
                if misses % 4 != 0 {
                    queue.asyncAfter(deadline: .now() + Self.retryInterval) { [weak self] in self?.poll() }
                }
                return
            }
        } else {
            coordinator.lock()
        }
        look(coordinator)
    }

    /// Looks at all stores under the coordinator's lock, and releases the lock.
    private func look(_ coordinator: NSPersistentStoreCoordinator) {
        isWoken = false
        misses = 0
        var findings: [Finding] = []
        var losses: [(any RowStore, any Error)] = []
        for (key, entry) in watched {
            guard let store = entry.store, store.persistentStoreCoordinator === coordinator else { continue }
            if let loss = loss(of: store, key) { losses.append((store, loss)) }
            guard let finding = look(at: store, key) else { continue }
            findings.append(finding)
        }
        setPace(isQuiet: findings.isEmpty && losses.isEmpty && !isFileTouched, coordinator)
        let isAnyAway = watched.values.contains { $0.store?.operations.isAway == true }
        coordinator.unlock()
        for (store, loss) in losses { tell(loss, of: store, from: coordinator) }
        for finding in findings {
            for changes in finding.changes { coordinator.didCommit(changes, from: nil) }
            post(finding.store, lastNumber: finding.lastNumber, from: coordinator)
        }
        if !isAnyAway { coordinator.storesAnswer() }
    }

    /// Slows the timer while nothing changes and the system watches the files, and restores its normal pace
    /// otherwise. Call on `queue` under the lock.
    private func setPace(isQuiet: Bool, _ coordinator: NSPersistentStoreCoordinator) {
        quiet = isQuiet ? quiet + 1 : 0
        isFileTouched = false
        guard isQuiet else {
            guard !fileWatches.isEmpty else { return }
            fileWatches = []
            timer?.schedule(deadline: .now() + pace.interval, repeating: pace.interval, leeway: .milliseconds(10))
            return
        }
        guard fileWatches.isEmpty, quiet.isMultiple(of: pace.quietLooks) else { return }
        let stores = watched.values.compactMap(\.store)
        let watches = stores.compactMap { store in
            store.operations.watchFiles(on: queue) { [weak self] in self?.fileWasTouched() }
        }
        guard watches.count == stores.count, !watches.isEmpty else { return }
        fileWatches = watches
        // Look at once: something may have been written before the watch began.
        timer?.schedule(deadline: .now(), repeating: pace.quietInterval, leeway: .milliseconds(100))
    }

    /// Handles a report of a file watch. Call on `queue`.
    private func fileWasTouched() {
        isFileTouched = true
        wake()
    }

    /// The error if a store's file is missing or moved and this was not reported yet. Call under the lock.
    private func loss(of store: any RowStore, _ key: ObjectIdentifier) -> (any Error)? {
        do {
            try store.operations.checkFile()
            watched[key]?.isLost = false
            return nil
        } catch {
            guard watched[key]?.isLost == false else { return nil }
            watched[key]?.isLost = true
            return error
        }
    }

    private func tell(_ loss: any Error, of store: any RowStore, from coordinator: NSPersistentStoreCoordinator) {
        var info: [AnyHashable: Any] = [NSUnderlyingErrorKey: loss, NSStoreUUIDKey: store.identifier ?? ""]
        info[NSPersistentStoreURLKey] = store.url
        NotificationCenter.default.post(
            name: NSPersistentStoreCoordinator.storeFileDidVanishNotification, object: coordinator, userInfo: info)
    }

    private struct Finding {
        let store: any RowStore
        /// The changes, in the order of their transactions.
        let changes: [CommittedChanges]
        let lastNumber: Int64?
    }

    /// Looks at one store. Call under the lock.
    ///
    /// - Returns: `nil` if no other process committed. A store that cannot be read keeps its state and is queried
    ///   again next time.
    private func look(at store: any RowStore, _ key: ObjectIdentifier) -> Finding? {
        let begin = DispatchTime.now()
        guard let entry = watched[key], let version = try? store.operations.dataVersion(),
            version != entry.dataVersion
        else { return nil }
        guard let lastSeen = entry.lastNumber else {
            watched[key]?.dataVersion = version
            let number = (try? store.operations.lastHistoryNumber()) ?? nil
            watched[key]?.lastNumber = number
            return Finding(store: store, changes: [CommittedChanges(staleStores: [store])], lastNumber: number)
        }
        guard let news = try? store.operations.historyNews(after: lastSeen), let newest = news.newest else {
            return nil
        }
        let (transactions, removed) = (news.transactions, news.lastRemoved)
        watched[key]?.dataVersion = version
        guard removed <= lastSeen, newest >= lastSeen else {
            // Transactions were removed before they were read, so their changes are unknown.
            let number = max(removed, newest)
            watched[key]?.lastNumber = transactions.last?.number ?? number
            return Finding(
                store: store, changes: [CommittedChanges(staleStores: [store])], lastNumber: watched[key]?.lastNumber)
        }
        guard let last = transactions.last else { return nil }
        watched[key]?.lastNumber = last.number
        let foreign = transactions.filter { !$0.isOwn }
        guard !foreign.isEmpty else { return nil }
        var changes = HistoryChanges.parts(of: foreign, of: store)
        // Complete only with a single store: other stores may have history that was not read yet.
        if watched.count == 1, !changes.isEmpty { changes[changes.count - 1].completeSince = begin }
        return Finding(store: store, changes: changes, lastNumber: last.number)
    }

    private func post(_ store: NSPersistentStore, lastNumber: Int64?, from coordinator: NSPersistentStoreCoordinator) {
        var info: [AnyHashable: Any] = [NSStoreUUIDKey: store.identifier ?? ""]
        info[NSPersistentStoreURLKey] = store.url
        if let lastNumber {
            info[NSPersistentHistoryTokenKey] = NSPersistentHistoryToken(numbers: [store.identifier ?? "": lastNumber])
        }
        NotificationCenter.default.post(name: .NSPersistentStoreRemoteChange, object: coordinator, userInfo: info)
    }
}
