import CoreData
import Foundation
import TerminalKit
import Translation

/// What happens to the records of an entity while their list stands still.
final class WaitingChanges {
    private let entity: NSEntityDescription
    private(set) var changed: Set<NSManagedObjectID> = []
    private(set) var deleted: Set<NSManagedObjectID> = []
    private var observers: [Observer] = []
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

    private func observe(
        _ name: Notification.Name, _ context: NSManagedObjectContext,
        _ body: @escaping (WaitingChanges, [AnyHashable: Any]) -> Void
    ) {
        observers.append(
            Observer(name, of: context) { [weak self] info in
                guard let self else { return }
                body(self, info)
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
        aggregateJob = nil
        records.isFollowing = false
        records.refresh()
        view.reload()
        browser.say("the list is frozen; Z unfreezes it")
    }

    private func thaw() {
        guard let waiting = waitingChanges else { return }
        stopFreezing()
        if records.objectCount > session.limits.longList {
            sayWhatCame(waiting.count)
            return readAgain()
        }
        let object = cursorObject
        let line = view.screenLine
        do { try records.fetchAgain() } catch { browser.complain(error) }
        updateAggregates()
        let now = ContinuousClock.now
        for id in waiting.changed.prefix(1000) {
            if let object = session.context.registeredObject(for: id) {
                records.glow.add(.updated, for: object, now: now)
            }
        }
        let path = object.flatMap { $0.isDeleted ? nil : records.path(of: $0) }
        view.reload(cursor: path.map { .row($0) }, screenLine: line)
        rememberCursor()
        sayWhatCame(waiting.count)
    }

    private func sayWhatCame(_ count: Int) {
        browser.say(
            count == 0
                ? tr("the list goes on: nothing changed meanwhile")
                : sentence("\(CountedNoun.text(count, "change")) arrived"))
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
                ? tr("frozen")
                : count == 1
                    ? sentence("frozen: \(CountedNoun.text(count, "change")) waits")
                    : sentence("frozen: \(CountedNoun.text(count, "change")) wait")
        }
        return followsNewest ? tr("following") : nil
    }

    // MARK: What is said of a column

    func toggleAggregates() {
        showsAggregates.toggle()
        updateAggregates()
    }

    /// Lets the controller compute what is said of the column with the focus, unless it does: at once in short lists, beside
    /// the keys in long ones. It keeps it right from then on.
    func updateAggregates() {
        let key = showsAggregates ? focusedKey : nil
        let isWaitedFor = aggregateJob != nil || waitingChanges != nil
        guard aggregateKey != key || records.aggregates.map({ !$0.isKnown && !isWaitedFor }) ?? false else { return }
        aggregateJob = nil
        aggregateKey = key
        records.aggregate(key)
        // A list that stands still is not read again for that.
        guard let aggregates = records.aggregates, !aggregates.isKnown, waitingChanges == nil else { return }
        guard records.objectCount > session.limits.longList else {
            do { try records.fetchAgain() } catch { browser.complain(error) }
            return
        }
        aggregateJob = Job { [list = records] in
            // The focus may go over many columns on its way.
            try await Task.sleep(for: .milliseconds(100))
            // Where another fetch takes its place, what is wanted comes with that. The delegate takes up the new sections.
            try await list.controller.refetch(telling: .contents)
        } then: { [unowned self, list = records] _ in
            guard records === list else { return }
            aggregateJob = nil
            browser.needsDisplay = true
        }
    }

    /// What the line above the status says of the whole list.
    var aggregateFooter: String? {
        guard showsAggregates else { return nil }
        if let aggregates = records.aggregates { return aggregates.footer }
        let title = focusedKey.isEmpty ? tr("the record") : PropertyTitle.title(focusedKey)
        return sentence("nothing to compute of \(title)")
    }
}
