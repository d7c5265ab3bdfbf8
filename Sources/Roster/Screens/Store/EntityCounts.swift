import CoreData
import Foundation

/// How many records each entity has. Counted when it is asked for, and again after the store changed.
final class EntityCounts {
    private var known: [String: Int]
    private var stale: Set<String> = []

    init(_ known: [String: Int]) { self.known = known }

    /// The count as it was known last; `nil` where nothing was counted yet.
    subscript(entity: NSEntityDescription) -> Int? { known[entity.name ?? ""] }

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

    static func request(for entity: NSEntityDescription) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = entity
        return request
    }
}
