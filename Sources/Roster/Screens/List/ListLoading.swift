import CoreData
import Foundation
import TerminalKit
import Translation

/// Something that a list does beside the keys, and that can be stopped.
struct ListWork {
    /// In a few words, for the status line: `filtering`.
    let what: String
    let began = ContinuousClock.now
    let task: Task<Void, Never>
    /// The list that is being read, where that is what goes on.
    let list: RecordList?
    /// How long the same took last time. A list is read by one statement, of which SQLite tells no share: most of its time
    /// passes before the first row is there. So the share is an estimate, and before there was a last time there is none.
    let usual: Duration?

    /// `filtering`, or `filtering ~40 %` where it is known how long that takes.
    func saying(now: ContinuousClock.Instant = .now) -> String {
        // What is over in a moment needs no share.
        guard let usual, usual >= .milliseconds(500) else { return tr(what) }
        return "\(tr(what)) ~\(min(99, Int((now - began) / usual * 100))) %"
    }
}

// Lists that take their time are read beside the keys: the old one stays in use until the new one is there.

extension ListScreen {
    /// Lists of entities with more records than this are read beside the keys; shorter ones are there at once.
    static let longList = 5000

    /// Reads a list and shows it.
    ///
    /// - Parameters:
    ///   - what: what is said meanwhile.
    ///   - before: called when the list is read, and the old one still shown.
    ///   - next: called when the list is shown.
    /// - Throws: what the fetch throws, for short lists; of others errors are told to the user.
    func load(
        _ list: RecordList, of other: NSEntityDescription, what: String, before: @escaping () -> Void = {},
        then next: @escaping () -> Void
    ) throws {
        stopWork()
        // What is said of the column comes with the list.
        if showsAggregates { list.aggregate(focusedKey) }
        guard !isLong(other) else { return loadBesideKeys(list, of: other, what: what, before: before, then: next) }
        do {
            try list.fetchAgain()
        } catch  where StoreLock.isReason(for: error) {
            return loadBesideKeys(list, of: other, what: what, before: before, then: next)
        }
        before()
        take(list, of: other)
        next()
    }

    /// Whether reading the records of an entity may take longer than a user waits for a key.
    private func isLong(_ other: NSEntityDescription) -> Bool {
        if session.counts[other] == nil {
            _ = session.counts.count([other], in: session.context, until: .now + .milliseconds(1))
        }
        return session.counts[other] ?? .max > Self.longList
    }

    /// The same, where something of the present list is kept: it is asked for when the new one takes its place.
    func load<Kept>(
        _ list: RecordList, of other: NSEntityDescription, what: String, keeping kept: @escaping () -> Kept,
        then next: @escaping (Kept) -> Void
    ) throws {
        var value: Kept?
        try load(list, of: other, what: what, before: { value = kept() }) { if let value { next(value) } }
    }

    // SAFETY: all of it is used on the main thread.
    private func loadBesideKeys(
        _ list: RecordList, of other: NSEntityDescription, what: String, before: @escaping () -> Void,
        then next: @escaping () -> Void
    ) {
        // All of it is used on the main thread.
        nonisolated(unsafe) let found = (list: list, entity: other, before: before, next: next)
        begin(what, reading: list) { screen in
            let end = ContinuousClock.now + StoreLock.patience
            while true {
                do {
                    try await found.list.controller.refetch(telling: .contents)
                    break
                } catch  where StoreLock.isReason(for: error) && ContinuousClock.now < end && !Task.isCancelled {
                    try await Task.sleep(for: StoreLock.pause)
                }
            }
            found.list.refresh()
            found.before()
            screen.take(found.list, of: found.entity)
            found.next()
            screen.repeatSearch?()
        }
    }

    /// What the user chose for the list, also where it is still being read: the next choice builds on it.
    var chosenSettings: ListSettings {
        guard let list = work?.list, list.display.entity === entity else { return records.settings }
        return list.settings
    }

    /// Begins work that goes on between the keys. What it throws is told, unless it was stopped.
    // SAFETY: all of it is used on the main thread; the screen is weak.
    func begin(
        _ what: String, reading list: RecordList? = nil, _ work: @escaping @MainActor (ListScreen) async throws -> Void
    ) {
        stopWork()
        nonisolated(unsafe) weak let screen = self
        // The screen does not own the browser, and may outlive it while the work goes on.
        nonisolated(unsafe) let browser = self.browser
        let kind = "\(list?.display.name ?? entity.name ?? "") \(what)"
        let task = Task { @MainActor in
            guard let screen else { return }
            var failure: (any Error)?
            let began = ContinuousClock.now
            do { try await work(screen) } catch { failure = error }
            guard !Task.isCancelled else { return }
            if failure == nil { screen.workTimes[kind] = .now - began }
            screen.work = nil
            if let failure { browser.complain(failure) }
            browser.needsDisplay = true
        }
        self.work = ListWork(what: what, task: task, list: list, usual: workTimes[kind])
        browser.needsDisplay = true
    }

    /// Stops what goes on. Answers what that was.
    @discardableResult
    func stopWork() -> ListWork? {
        defer { work = nil }
        work?.task.cancel()
        return work
    }
}
