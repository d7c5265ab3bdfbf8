import CoreData
import Foundation
import TerminalKit
import Translation

/// Something that a list does beside the keys, and that can be stopped.
struct ListWork {
    let job: Job<Void>
    /// The list that is being read, where that is what goes on.
    let list: RecordList?
    /// How long the same took last time.
    let usual: Duration?
    /// Hears how many rows the store has gone through.
    var progress = Progress(totalUnitCount: -1)
    /// How many rows there are, where that is known.
    var total: Int?

    /// In a few words, for the status line: `filtering`.
    var what: String { job.name }

    var began: ContinuousClock.Instant { job.began }

    /// `filtering`, or `filtering ~40 %` where it is known how many rows the store has gone through, or how long it took last
    /// time. To go through the rows is all the work of a filter, and the lesser part of that of a sort.
    func saying(now: ContinuousClock.Instant = .now) -> String {
        let shares = what == "filtering" ? [scannedShare(now), usualShare(now)] : [usualShare(now), scannedShare(now)]
        guard let share = shares.compactMap({ $0 }).first else { return tr(what) }
        return "\(tr(what)) ~\(min(99, Int(share * 100))) %"
    }

    private func usualShare(_ now: ContinuousClock.Instant) -> Double? {
        // What is over in a moment needs no share.
        guard let usual, usual >= .milliseconds(500) else { return nil }
        return (now - began) / usual
    }

    private func scannedShare(_ now: ContinuousClock.Instant) -> Double? {
        guard let total, total > 0, progress.completedUnitCount > 0, now - began >= .milliseconds(250) else {
            return nil
        }
        return Double(progress.completedUnitCount) / Double(total)
    }
}

// Lists that take their time are read beside the keys: the old one stays in use until the new one is there.

extension ListScreen {
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
        guard !session.isLong(other) else {
            return loadBesideKeys(list, of: other, what: what, before: before, then: next)
        }
        do {
            try list.fetchAgain()
        } catch  where StoreLock.isReason(for: error) {
            return loadBesideKeys(list, of: other, what: what, before: before, then: next)
        }
        before()
        take(list, of: other)
        next()
    }

    /// The same, where something of the present list is kept: it is asked for when the new one takes its place.
    func load<Kept>(
        _ list: RecordList, of other: NSEntityDescription, what: String, keeping kept: @escaping () -> Kept,
        then next: @escaping (Kept) -> Void
    ) throws {
        var value: Kept?
        try load(list, of: other, what: what, before: { value = kept() }) { if let value { next(value) } }
    }

    private func loadBesideKeys(
        _ list: RecordList, of other: NSEntityDescription, what: String, before: @escaping () -> Void,
        then next: @escaping () -> Void
    ) {
        let progress = Progress(totalUnitCount: -1)
        begin(what, reading: list, progress) { screen in
            let end = ContinuousClock.now + StoreLock.patience
            while true {
                do {
                    try await list.controller.refetch(telling: .contents, reporting: progress)
                    break
                } catch  where StoreLock.isReason(for: error) && ContinuousClock.now < end && !Task.isCancelled {
                    try await Task.sleep(for: screen.session.limits.lockPause)
                }
            }
            list.refresh()
            before()
            screen.take(list, of: other)
            next()
            screen.repeatSearch?()
        }
    }

    /// What the user chose for the list, also where it is still being read: the next choice builds on it.
    var chosenSettings: ListSettings {
        guard let list = work?.list, list.display.entity === entity else { return records.settings }
        return list.settings
    }

    /// Begins work that goes on between the keys. What it throws is told, unless it was stopped.
    func begin(
        _ what: String, reading list: RecordList? = nil, _ progress: Progress = Progress(totalUnitCount: -1),
        _ work: @escaping (ListScreen) async throws -> Void
    ) {
        stopWork()
        let kind = "\(list?.display.name ?? entity.name ?? "") \(what)"
        // The screen does not own the browser, and may outlive it while the work goes on.
        let job = Job(what) { [weak self] in
            if let self { try await work(self) }
        } then: { [weak self, browser] result in
            guard let self, let ended = self.work else { return }
            self.work = nil
            switch result {
            case .success: workTimes[kind] = .now - ended.began
            case .failure(let error): browser.complain(error)
            }
            browser.needsDisplay = true
        }
        self.work = ListWork(
            job: job, list: list, usual: workTimes[kind], progress: progress,
            total: list.flatMap { rowCount(of: $0.display.entity) })
        browser.needsDisplay = true
    }

    /// How many records of an entity there are, where that is known.
    private func rowCount(of other: NSEntityDescription) -> Int? {
        guard other === entity else { return session.counts[other] }
        return records.settings.filter.isEmpty ? records.objectCount : knownTotal
    }

    /// Stops what goes on. Answers what that was.
    @discardableResult
    func stopWork() -> ListWork? {
        defer { work = nil }
        work?.job.cancel()
        return work
    }
}
