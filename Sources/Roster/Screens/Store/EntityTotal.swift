import CoreData
import Foundation

/// The number of all records of an entity, for a filtered list. Counted in the background, and again after changes of
/// the store, with a pause between two counts.
final class EntityTotal {
    let entity: NSEntityDescription
    private let session: StoreSession
    private let onChange: () -> Void
    /// Number of saved records.
    private var saved: Int?
    /// The revision of the session that was counted.
    private var revision: Int?
    private var counting: Job<(revision: Int, count: Int?)>?
    private var lastCount: ContinuousClock.Instant?

    /// - Parameter onChange: called when the number changes.
    init(of entity: NSEntityDescription, in session: StoreSession, onChange: @escaping () -> Void) {
        (self.entity, self.session, self.onChange) = (entity, session, onChange)
        saved = session.counts[entity]
        // The count from opening the store is valid until the first change.
        if saved != nil, session.revision == 0 { revision = 0 }
    }

    /// True if the number is up to date.
    var isCurrent: Bool { revision == session.revision }

    /// The number including unsaved changes; `nil` before the first count.
    var value: Int? {
        countAgain()
        guard let saved else { return nil }
        return saved + session.unsavedGrowth(of: entity)
    }

    /// Starts counting if the number is outdated.
    private func countAgain() {
        guard !isCurrent, counting == nil else { return }
        let wait = lastCount.map { max(.zero, $0 + session.limits.countInterval - .now) } ?? .zero
        counting = Job { [entity, session] in
            if wait > .zero { try await Task.sleep(for: wait) }
            let revision = session.revision
            let reader = session.container.newBackgroundContext()
            // If counting fails, the last number stays.
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
    /// Number of records without the filter.
    var knownTotal: Int? {
        if total?.entity !== entity {
            total = EntityTotal(of: entity, in: session) { [weak browser] in browser?.needsDisplay = true }
        }
        return total?.value
    }
}
