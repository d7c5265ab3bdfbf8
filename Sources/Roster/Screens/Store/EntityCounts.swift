import CoreData
import Foundation

/// How many records each entity has. Counted when it is asked for, and again after the store changed.
final class EntityCounts {
    private var known: [String: Int]
    private var stale: Set<String> = []

    init(_ known: [String: Int]) { self.known = known }

    /// The count as it was known last; `nil` where nothing was counted yet.
    subscript(entity: NSEntityDescription) -> Int? { known[entity.name ?? ""] }

    /// Takes up a number that was found otherwise.
    func note(_ count: Int, of entity: NSEntityDescription) {
        known[entity.name ?? ""] = count
        stale.remove(entity.name ?? "")
    }

    /// What was counted may not be true any more.
    func storeChanged() { stale = Set(known.keys) }

    /// Whether an entity has to be counted.
    func needsCounting(_ entity: NSEntityDescription) -> Bool {
        let name = entity.name ?? ""
        return known[name] == nil || stale.contains(name)
    }

    /// Counts entities until the time is over. Answers whether all of them are counted.
    func count(
        _ entities: [NSEntityDescription], in context: NSManagedObjectContext, until end: ContinuousClock.Instant
    ) -> Bool {
        for entity in entities where needsCounting(entity) {
            if ContinuousClock.now >= end { return false }
            let name = entity.name ?? ""
            // What cannot be counted now keeps its number, and is not asked for again and again.
            known[name] = (try? context.count(for: Self.request(for: entity))) ?? known[name] ?? 0
            stale.remove(name)
        }
        return true
    }

    // MARK: Requests

    /// - Parameter most: where counting may end; 0 for nowhere.
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
    /// Whether reading the records of an entity may take longer than a user waits for a key.
    func isLong(_ entity: NSEntityDescription) -> Bool {
        if let known = counts[entity] ?? sizes[entity.name ?? ""] { return known > limits.longList }
        // To count all of them may take longer than to read the first screen.
        let request = EntityCounts.request(for: entity, upTo: limits.longList + 1)
        request.includesPendingChanges = false
        guard let count = try? context.count(for: request), count <= limits.longList else { return true }
        counts.note(count, of: entity)
        return false
    }
}
