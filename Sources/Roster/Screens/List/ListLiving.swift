import CoreData
import Foundation
import TerminalKit
import Translation

/// Changes to records of an entity that are received while the list is frozen.
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

// Freezing the list, following the newest record, and aggregates of a column.

extension ListScreen {
    /// Freezes the list, or unfreezes it and shows the changes.
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
                ? tr("unfrozen; nothing changed while the list was frozen")
                : sentence("\(CountedNoun.text(count, "change")) arrived"))
    }

    /// Ends the frozen state without reading the list.
    func stopFreezing() {
        waitingChanges = nil
        records.goneWhileFrozen = nil
        records.isFollowing = true
    }

    func toggleFollowing() {
        followsNewest.toggle()
        browser.say(followsNewest ? "the cursor moves to each new record" : "the cursor stays on its record")
    }

    /// Status line text about a frozen or following list.
    var livingNote: String? {
        if let waitingChanges {
            let count = waitingChanges.count
            return count == 0
                ? tr("frozen")
                : count == 1
                    ? sentence("frozen: \(CountedNoun.text(count, "change")) not shown")
                    : sentence("frozen: \(CountedNoun.text(count, "change")) not shown")
        }
        return followsNewest ? tr("following") : nil
    }

    // MARK: Aggregates

    func toggleAggregates() {
        showsAggregates.toggle()
        updateAggregates()
    }

    /// Makes the controller compute the aggregates of the focused column if it does not do so yet: at once in short
    /// lists, in the background in long ones. The controller keeps them up to date afterwards.
    func updateAggregates() {
        let key = showsAggregates ? focusedKey : nil
        let isWaitedFor = aggregateJob != nil || waitingChanges != nil
        guard aggregateKey != key || records.aggregates.map({ !$0.isKnown && !isWaitedFor }) ?? false else { return }
        aggregateJob = nil
        aggregateKey = key
        records.aggregate(key)
        // A frozen list is not read again.
        guard let aggregates = records.aggregates, !aggregates.isKnown, waitingChanges == nil else { return }
        guard records.objectCount > session.limits.longList else {
            do { try records.fetchAgain() } catch { browser.complain(error) }
            return
        }
        aggregateJob = Job { [list = records] in
            // Wait, because the focus may pass over many columns.
            try await Task.sleep(for: .milliseconds(100))
            // A fetch that replaces this one computes the aggregates too. The delegate receives the new sections.
            try await list.controller.refetch(telling: .contents)
        } then: { [unowned self, list = records] _ in
            guard records === list else { return }
            aggregateJob = nil
            browser.needsDisplay = true
        }
    }

    /// Text of the line above the status line, about the whole list.
    var aggregateFooter: String? {
        guard showsAggregates else { return nil }
        if let aggregates = records.aggregates { return aggregates.footer }
        let title = focusedKey.isEmpty ? tr("the record") : PropertyTitle.title(focusedKey)
        return sentence("\(title) has no sum or average")
    }
}
