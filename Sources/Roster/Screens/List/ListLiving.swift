import CoreData
import Foundation
import TerminalKit

/// What happens to the records of an entity while their list stands still.
final class WaitingChanges {
    private let entity: NSEntityDescription
    private(set) var changed: Set<NSManagedObjectID> = []
    private(set) var deleted: Set<NSManagedObjectID> = []
    private var observers: [any NSObjectProtocol] = []
    var onChange: () -> Void = {}

    init(of entity: NSEntityDescription, in context: NSManagedObjectContext) {
        self.entity = entity
        observe(NSManagedObjectContext.didChangeObjectsNotification, context) { waiting, info in
            func ids(_ keys: String...) -> [NSManagedObjectID] {
                keys.flatMap { (info[$0] as? Set<NSManagedObject> ?? []).map(\.objectID) }
            }
            waiting.note(
                changed: ids(NSInsertedObjectsKey, NSUpdatedObjectsKey, NSRefreshedObjectsKey),
                deleted: ids(NSDeletedObjectsKey))
        }
        observe(NSManagedObjectContext.didMergeChangesObjectIDsNotification, context) { waiting, info in
            func ids(_ key: String) -> Set<NSManagedObjectID> { info[key] as? Set<NSManagedObjectID> ?? [] }
            waiting.note(
                changed: Array(ids(NSInsertedObjectIDsKey).union(ids(NSUpdatedObjectIDsKey))),
                deleted: Array(ids(NSDeletedObjectIDsKey)))
        }
    }

    // SAFETY: the context posts on its queue, the main thread, where the list is used.
    private func observe(
        _ name: Notification.Name, _ context: NSManagedObjectContext,
        _ body: @escaping (WaitingChanges, [AnyHashable: Any]) -> Void
    ) {
        // The context posts on its queue: the main thread, where the list is used.
        nonisolated(unsafe) weak let waiting = self
        nonisolated(unsafe) let body = body
        observers.append(
            NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { notification in
                guard let waiting else { return }
                body(waiting, notification.userInfo ?? [:])
            })
    }

    private func note(changed: [NSManagedObjectID], deleted: [NSManagedObjectID]) {
        func isOurs(_ id: NSManagedObjectID) -> Bool { id.entity.isKindOf(entity: entity) }
        let before = count
        self.deleted.formUnion(deleted.filter(isOurs))
        self.changed.formUnion(changed.filter(isOurs))
        self.changed.subtract(self.deleted)
        if count != before { onChange() }
    }

    var count: Int { changed.count + deleted.count }

    deinit { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
}

// How the list lives: it stands still, follows the newest record, and lets rows fade that went.

extension ListScreen {
    /// Lets the list stand still, or go on with what changed meanwhile.
    func toggleFreeze() {
        if waitingChanges == nil { freeze() } else { thaw() }
    }

    private func freeze() {
        let waiting = WaitingChanges(of: entity, in: session.context)
        waiting.onChange = { [unowned self, unowned waiting] in
            records.goneWhileFrozen = waiting.deleted
            browser.needsDisplay = true
        }
        waitingChanges = waiting
        records.fading.removeAll()
        records.goneWhileFrozen = []
        records.isFollowing = false
        records.refresh()
        view.reload()
        browser.say("the list stands still; Z lets it go on")
    }

    private func thaw() {
        guard let waiting = waitingChanges else { return }
        stopFreezing()
        if records.objectCount > Self.longList {
            browser.say("\(DeletePlan.counted(waiting.count, "change")) came in meanwhile")
            return readAgain()
        }
        let object = cursorObject
        let line = view.screenLine
        do { try records.fetchAgain() } catch { browser.complain(error) }
        let now = ContinuousClock.now
        for id in waiting.changed.prefix(1000) {
            if let object = session.context.registeredObject(for: id) {
                records.glow.add(.updated, for: object, now: now)
            }
        }
        let path = object.flatMap { $0.isDeleted ? nil : records.path(of: $0) }
        view.reload(cursor: path.map { .row($0) }, screenLine: line)
        rememberCursor()
        browser.say("\(DeletePlan.counted(waiting.count, "change")) came in meanwhile")
    }

    /// Forgets that the list stands still.
    func stopFreezing() {
        waitingChanges = nil
        records.goneWhileFrozen = nil
        records.isFollowing = true
    }

    func toggleFollowing() {
        followsNewest.toggle()
        browser.say(followsNewest ? "the cursor goes to every new record" : "the cursor stays on its record")
    }

    /// What the status line says of how the list lives.
    var livingNote: String? {
        if let waitingChanges {
            let count = waitingChanges.count
            return count == 0
                ? "frozen" : "frozen: \(DeletePlan.counted(count, "change")) \(count == 1 ? "waits" : "wait")"
        }
        return followsNewest ? "following" : nil
    }

    // MARK: What is said of a column

    func toggleAggregates() {
        showsAggregates.toggle()
        records.aggregates = nil
        updateAggregates()
    }

    /// Works out what is said of the column with the focus, unless that is known.
    func updateAggregatesOfFocus() {
        guard showsAggregates, aggregateKey != focusedKey else { return }
        updateAggregates()
    }

    /// Works it out anew: at once for short lists, beside the keys for long ones.
    // SAFETY: all of it is used on the main thread.
    func updateAggregates() {
        aggregateTask?.cancel()
        aggregateTask = nil
        guard showsAggregates else {
            records.aggregates = nil
            return
        }
        aggregateKey = focusedKey
        let reader = AggregateReader(list: records, key: focusedKey)
        if records.objectCount <= AggregateReader.countByRecords || reader.storeRequest() == nil {
            records.aggregates = reader.readRecords()
            return
        }
        if records.aggregates?.key != focusedKey { records.aggregates = nil }
        guard let request = reader.storeRequest() else { return }
        // All of it is used on the main thread.
        nonisolated(unsafe) let work = (request: request, reader: reader, context: session.context)
        nonisolated(unsafe) weak let list = self
        aggregateTask = Task { @MainActor in
            // Many changes in a short time are worth one answer.
            try? await Task.sleep(for: .milliseconds(150))
            guard !Task.isCancelled, let rows = try? await work.context.fetchAsynchronously(work.request) else {
                return
            }
            guard let list, list.records === work.reader.list, !Task.isCancelled else { return }
            if let found = work.reader.aggregates(from: rows) { list.records.aggregates = found }
            list.browser.needsDisplay = true
        }
    }

    /// What the line above the status says of the whole list.
    var aggregateFooter: String? {
        guard showsAggregates else { return nil }
        return records.aggregates?.footer ?? "\(PropertyTitle.title(focusedKey)): …"
    }
}
