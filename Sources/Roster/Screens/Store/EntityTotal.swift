import CoreData
import Foundation

/// How many records an entity has in all, for a list that shows some of them: counted beside the keys, and again where the
/// store changed, with a pause between two counts.
///
/// Use on the main thread.
final class EntityTotal {
    let entity: NSEntityDescription
    private let session: StoreSession
    private let onChange: () -> Void
    /// How many are saved.
    private var saved: Int?
    /// The state of the store that was counted.
    private var revision: Int?
    private var counting: Task<Void, Never>?
    private var lastCount: ContinuousClock.Instant?

    /// - Parameter onChange: called when another number is known.
    init(of entity: NSEntityDescription, in session: StoreSession, onChange: @escaping () -> Void) {
        (self.entity, self.session, self.onChange) = (entity, session, onChange)
        saved = session.counts[entity]
        // Nothing has changed since the store was opened, when this was counted.
        if saved != nil, session.revision == 0 { revision = 0 }
    }

    deinit { counting?.cancel() }

    /// True if the number is up to date.
    var isCurrent: Bool { revision == session.revision }

    /// The number with what is not saved; `nil` before anything was counted.
    var value: Int? {
        countAgain()
        guard let saved else { return nil }
        return saved + session.unsavedGrowth(of: entity)
    }

    /// Begins to count where the number is not that of the present state.
    // SAFETY: all of it is used on the main thread, but for the request, which the reader's queue has alone.
    private func countAgain() {
        guard !isCurrent, counting == nil else { return }
        let wait = lastCount.map { max(.zero, $0 + session.limits.countInterval - .now) } ?? .zero
        nonisolated(unsafe) weak let total = self
        nonisolated(unsafe) let request = EntityCounts.request(for: entity)
        let container = session.container
        counting = Task { @MainActor in
            if wait > .zero { try? await Task.sleep(for: wait) }
            guard !Task.isCancelled, let revision = total?.session.revision else { return }
            let reader = container.newBackgroundContext()
            // What cannot be counted now keeps its number.
            let count = await reader.perform { try? reader.count(for: request) }
            guard let total, !Task.isCancelled else { return }
            (total.counting, total.revision, total.lastCount) = (nil, revision, .now)
            guard let count, count != total.saved else { return }
            total.saved = count
            total.onChange()
        }
    }
}

extension ListScreen {
    /// How many records there are without the filter.
    var knownTotal: Int? {
        if total?.entity !== entity {
            total = EntityTotal(of: entity, in: session) { [weak browser] in browser?.needsDisplay = true }
        }
        return total?.value
    }
}
