import Foundation

// How other processes are seen.
//
// SQLite's `data_version` of a connection grows when any other connection commits, and asking costs microseconds; so a
// timer asks ten times a second, on a queue of its own. Only when the number moved is the history read, from the last
// transaction seen. Transactions of the store's own connection are in the history too and are left out: their saves
// were announced by the context that made them.
//
// The stores may be asked under the coordinator's lock only. The watcher never waits for it in front of other work: it
// tries, and if another thread works with the stores it comes again a little later. Only after many misses does it
// queue up, so that a busy process sees the others too.
//
// A server tells by itself that another client has committed, and wakes the watcher: then it looks at once. The timer goes on
// beside that, for servers that do not tell.
//
// After looks that found nothing the system is asked to tell that a file was written, and the timer goes slowly: a program that
// shows a store at rest needs next to no processor. When the system has told, the watcher looks at once, and the timer goes as
// before.
//
// While a context has not come to the last changes yet, the next ones are left where they are: its queue has enough to do.
// So the looks become as seldom as the merges take, up to a limit, because other contexts may be waiting.

/// Watches the stores of one coordinator that were added with the remote-change option, and announces what others
/// committed to them: as ``CommittedChanges`` to the contexts, and as `.NSPersistentStoreRemoteChange` to the world. The
/// latter it posts for this process's own commits too.
// SAFETY: the coordinator's lock guards `watched` and `timer`, the queue `misses`; the coordinator is set before all
// else.
final class RemoteChangeWatcher: @unchecked Sendable {
    /// When the stores are asked. Tests have others.
    struct Pace {
        /// Time between two questions for `data_version`.
        var interval = DispatchTimeInterval.milliseconds(100)
        /// The same while the files are watched, should the system not tell of one.
        var quietInterval = DispatchTimeInterval.seconds(1)
        /// Number of looks in a row without a finding after which the files are watched.
        var quietLooks = 20
    }

    /// Set before the first store is added.
    var pace = Pace()
    /// How long to wait when another thread works with the stores.
    static let retryInterval = DispatchTimeInterval.milliseconds(15)
    /// The same in milliseconds for a watcher that was woken: each wait is twice as long as the last one.
    private static let firstRetry = 1
    private static let longestRetry = 16
    /// How long after a look a watcher that was woken looks again where contexts are behind.
    private static let pauseBehind = DispatchTimeInterval.milliseconds(8)
    /// After so many misses in a row the watcher queues up for the lock. Of every four misses the last waits for the timer.
    static let patience = 20
    /// So many looks in a row are left out at most because a context is behind.
    static let mostLeftOut = 4

    /// What is known of one store. Touched under the coordinator's lock only.
    private struct Watched {
        weak var store: (any RowStore)?
        /// `nil` while the store could not be asked yet.
        var dataVersion: Int64?
        var lastNumber: Int64?
        /// Whether it was told that the file is not where it was.
        var isLost = false
    }

    private let queue = DispatchQueue(label: "CoreData.RemoteChangeWatcher", qos: .userInitiated)
    private weak var coordinator: NSPersistentStoreCoordinator?
    private var watched: [ObjectIdentifier: Watched] = [:]
    /// Touched under the coordinator's lock only.
    private var timer: (any DispatchSourceTimer)?
    /// Touched on `queue` only.
    private var misses = 0
    /// Touched on `queue` only.
    private var leftOut = 0
    /// Whether a look is on its way that a store has asked for. Touched on `queue` only.
    private var isWoken = false
    /// How many looks in a row found nothing. Touched on `queue` only.
    private var quiet = 0
    /// What tells of the files while the timer goes slowly; empty while it does not. Touched on `queue` only.
    private var fileWatches: [AnyObject] = []
    /// Whether one of them has told something. Touched on `queue` only.
    private var isFileTouched = false

    init() {}

    deinit { timer?.cancel() }

    /// Says whose stores are watched. Called once, before anything else.
    func attach(to coordinator: NSPersistentStoreCoordinator) { self.coordinator = coordinator }

    /// Begins with the stores that are new and forgets those that are gone. Called under the coordinator's lock, so that
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
        // Files that come later are not watched yet.
        queue.async { [weak self] in
            if self?.fileWatches.isEmpty == false { self?.fileWasTouched() }
        }
    }

    /// Posts the notification for a commit of this process's own. Returns at once.
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

    /// A store that cannot be asked now counts as changed when it can be.
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

    /// A store was told that others have committed. On `queue`.
    private func wake() {
        guard !isWoken else { return }
        isWoken = true
        lookWhenWoken(retry: Self.firstRetry)
    }

    /// Looks as soon as the contexts have come to the last changes and no other thread works with the stores.
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

    /// Looks at all stores, with the coordinator's lock, which it gives back.
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

    /// Lets the timer go slowly when nothing happens, as long as the system tells of the files, and as before otherwise. Called
    /// on `queue` under the lock.
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
        // The next look is at once: something may have been written before the watch began.
        timer?.schedule(deadline: .now(), repeating: pace.quietInterval, leeway: .milliseconds(100))
    }

    /// On `queue`.
    private func fileWasTouched() {
        isFileTouched = true
        wake()
    }

    /// What became of a store's file, where that was not told yet. Asked under the lock.
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
        /// In the order of their transactions.
        let changes: [CommittedChanges]
        let lastNumber: Int64?
    }

    /// Asks one store, under the lock.
    ///
    /// - Returns: `nil` when no other process committed. A store that cannot be read now is asked again next time: its
    ///   numbers stay as they were.
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
            // Transactions that were not seen yet are gone: what they changed is not known.
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
        // Of several stores none knows what another one's history has yet to tell.
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
