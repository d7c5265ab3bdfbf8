import CoreData
import Foundation

/// Record counts by entity, computed on demand and again after changes of the store.
final class EntityCounts {
    private var known: [String: Int]
    private var stale: Set<String> = []

    init(_ known: [String: Int]) { self.known = known }

    /// The last known count; `nil` if the entity was not counted yet.
    subscript(entity: NSEntityDescription) -> Int? { known[entity.name ?? ""] }

    /// Records the number of an entity's records that other code has counted.
    func note(_ count: Int, of entity: NSEntityDescription) {
        known[entity.name ?? ""] = count
        stale.remove(entity.name ?? "")
    }

    /// Marks all counts as outdated.
    func storeChanged() { stale = Set(known.keys) }

    /// True if the count is missing or outdated.
    func needsCounting(_ entity: NSEntityDescription) -> Bool {
        let name = entity.name ?? ""
        return known[name] == nil || stale.contains(name)
    }

    /// Counts entities until `end`. Returns true if all counts are up to date.
    func count(
        _ entities: [NSEntityDescription], in context: NSManagedObjectContext, until end: ContinuousClock.Instant
    ) -> Bool {
        for entity in entities where needsCounting(entity) {
            if ContinuousClock.now >= end { return false }
            let name = entity.name ?? ""
            // If counting fails, keep the last count and do not retry.
            known[name] = (try? context.count(for: Self.request(for: entity))) ?? known[name] ?? 0
            stale.remove(name)
        }
        return true
    }

    // MARK: Requests

    /// - Parameter most: the count at which counting may stop; 0 to count all.
    nonisolated static func request(for entity: NSEntityDescription, upTo most: Int = 0) -> NSFetchRequest<
        NSManagedObject
    > {
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = entity
        request.fetchLimit = most
        return request
    }
}

extension StoreSession {
    /// True if the entity has too many records to read between two keys.
    func isLong(_ entity: NSEntityDescription) -> Bool {
        if let known = counts[entity] ?? sizes[entity.name ?? ""] { return known > limits.longList }
        // Counting all records may take longer than reading the first screen.
        let request = EntityCounts.request(for: entity, upTo: limits.longList + 1)
        request.includesPendingChanges = false
        guard let count = try? context.count(for: request), count <= limits.longList else { return true }
        counts.note(count, of: entity)
        return false
    }
}
