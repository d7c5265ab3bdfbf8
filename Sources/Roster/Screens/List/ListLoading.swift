import CoreData
import Foundation
import TerminalKit
import Translation

/// Background work of a list that can be stopped.
struct ListWork {
    let job: Job<Void>
    /// The list being read, if the work is reading one.
    let list: RecordList?
    /// Duration of the same work last time.
    let usual: Duration?
    /// Counts the rows that the store has scanned.
    var progress = Progress(totalUnitCount: -1)
    /// The number of rows, if known.
    var total: Int?

    /// A short description for the status line: `filtering`.
    var what: String { job.name }

    var began: ContinuousClock.Instant { job.began }

    /// `filtering`, or `filtering ~40 %` if the fraction is known. A filter estimates it from the scanned rows, a sort
    /// from its last duration, because scanning is the smaller part of a sort.
    func saying(now: ContinuousClock.Instant = .now) -> String {
        let shares = what == "filtering" ? [scannedShare(now), usualShare(now)] : [usualShare(now), scannedShare(now)]
        guard let share = shares.compactMap({ $0 }).first else { return tr(what) }
        return "\(tr(what)) ~\(min(99, Int(share * 100))) %"
    }

    private func usualShare(_ now: ContinuousClock.Instant) -> Double? {
        // Short work needs no percentage.
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

// Long lists are read in the background. The old list stays in use until the new one is ready.

extension ListScreen {
    /// Reads a list and shows it.
    ///
    /// - Parameters:
    ///   - what: the text shown while reading.
    ///   - before: called when the list is read, while the old one is still shown.
    ///   - next: called when the list is shown.
    /// - Throws: errors of the fetch, for short lists. For long lists, errors are shown to the user.
    func load(
        _ list: RecordList, of other: NSEntityDescription, what: String, before: @escaping () -> Void = {},
        then next: @escaping () -> Void
    ) throws {
        stopWork()
        // The fetch also computes the aggregates of the column.
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

    /// Reads a list and keeps a part of the old list's state, which `kept` returns just before the replacement.
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
            screen.find.repeatInPrompt()
        }
    }

    /// The user's latest settings, also of a list that is still being read. The next choice builds on them.
    var chosenSettings: ListSettings {
        guard let list = work?.list, list.display.entity === entity else { return records.settings }
        return list.settings
    }

    /// Starts work that runs between keys. Its errors are shown, unless it was stopped.
    func begin(
        _ what: String, reading list: RecordList? = nil, _ progress: Progress = Progress(totalUnitCount: -1),
        _ work: @escaping (ListScreen) async throws -> Void
    ) {
        stopWork()
        let kind = "\(list?.display.name ?? entity.name ?? "") \(what)"
        // The screen does not own the browser and may outlive it while the work runs.
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

    /// The number of records of an entity, if known.
    private func rowCount(of other: NSEntityDescription) -> Int? {
        guard other === entity else { return session.counts[other] }
        return records.settings.filter.isEmpty ? records.objectCount : knownTotal
    }

    /// Stops the running work and returns it.
    @discardableResult
    func stopWork() -> ListWork? {
        defer { work = nil }
        work?.job.cancel()
        return work
    }
}
