import CoreData
import Foundation

/// How many records an entity has in all, for a list that shows some of them: counted beside the keys, and again where the
/// store changed, with a pause between two counts.
final class EntityTotal {
    let entity: NSEntityDescription
    private let session: StoreSession
    private let onChange: () -> Void
    /// How many are saved.
    private var saved: Int?
    /// The state of the store that was counted.
    private var revision: Int?
    private var counting: Job<(revision: Int, count: Int?)>?
    private var lastCount: ContinuousClock.Instant?

    /// - Parameter onChange: called when another number is known.
    init(of entity: NSEntityDescription, in session: StoreSession, onChange: @escaping () -> Void) {
        (self.entity, self.session, self.onChange) = (entity, session, onChange)
        saved = session.counts[entity]
        // Nothing has changed since the store was opened, when this was counted.
        if saved != nil, session.revision == 0 { revision = 0 }
    }

    /// True if the number is up to date.
    var isCurrent: Bool { revision == session.revision }

    /// The number with what is not saved; `nil` before anything was counted.
    var value: Int? {
        countAgain()
        guard let saved else { return nil }
        return saved + session.unsavedGrowth(of: entity)
    }

    /// Begins to count where the number is not that of the present state.
    private func countAgain() {
        guard !isCurrent, counting == nil else { return }
        let wait = lastCount.map { max(.zero, $0 + session.limits.countInterval - .now) } ?? .zero
        counting = Job { [entity, session] in
            if wait > .zero { try await Task.sleep(for: wait) }
            let revision = session.revision
            let reader = session.container.newBackgroundContext()
            // What cannot be counted now keeps its number.
            return (revision, await reader.perform { try? reader.count(for: EntityCounts.request(for: entity)) })
        } then: { [weak self] result in
            guard let self, case .success(let counted) = result else { return }
            (counting, revision, lastCount) = (nil, counted.revision, .now)
            guard let count = counted.count, count != saved else { return }
            saved = count
            onChange()
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
