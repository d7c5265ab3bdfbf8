/// Reads the destinations of relationships for many objects at once: for each step of a key path one query for the
/// rows, and at most one more for the contents of a to-many relationship.
///
/// Prefetched objects are kept alive by the objects that refer to them.
struct Prefetcher {
    let context: NSManagedObjectContext

    /// - Parameter keyPaths: paths of relationships, as in `relationshipKeyPathsForPrefetching`.
    /// - Throws: 134060 if a path has keys other than relationships; the store's errors.
    func prefetch(_ keyPaths: [String], for objects: [NSManagedObject], of entity: NSEntityDescription) throws {
        for keyPath in keyPaths {
            var level = objects
            let keys = keyPath.split(separator: ".")
            for (index, key) in keys.enumerated() where !level.isEmpty {
                let isLast = index == keys.count - 1
                level = try step(String(key), of: keyPath, from: level, isLast: isLast)
                if isLast { break }
                var seen: Set<ObjectIdentifier> = []
                level = level.filter { seen.insert(ObjectIdentifier($0)).inserted }
            }
        }
    }

    /// Reads one relationship of a key path for all objects.
    ///
    /// - Returns: the destinations, possibly with duplicates. Without members of to-many relationships after the last
    ///   step, because they are not needed.
    private func step(
        _ key: String, of keyPath: String, from objects: [NSManagedObject], isLast: Bool
    ) throws -> [NSManagedObject] {
        var byLayout: [ObjectIdentifier: [NSManagedObject]] = [:]
        for object in objects { byLayout[ObjectIdentifier(object.layout), default: []].append(object) }
        var destinations: [NSManagedObject] = []
        for group in byLayout.values {
            switch group[0].layout.place(of: key) {
            case .toOne(let slot): destinations += try toOne(slot, from: group)
            case .toMany(let number): destinations += try toMany(number, from: group, isLast)
            default:
                throw CoreDataError.make(
                    134060,
                    "Cannot prefetch \(keyPath): \(group[0].entity.name ?? "") has no relationship named \(key).")
            }
        }
        return destinations
    }

    private func toOne(_ slot: Int, from objects: [NSManagedObject]) throws -> [NSManagedObject] {
        var referring: [(NSManagedObject, NSManagedObjectID)] = []
        for object in objects {
            guard case .reference(let id) = object.currentValue(slot) else { continue }
            referring.append((object, id))
        }
        let targets = try context.fetchPipeline.objects(for: referring.map(\.1))
        for ((object, _), target) in zip(referring, targets) { object.remember(target, slot: slot) }
        return targets
    }

    private func toMany(_ number: Int, from objects: [NSManagedObject], _ isLast: Bool) throws -> [NSManagedObject] {
        let unread = objects.filter { $0.flags.contains(.stored) && !$0.toManyState(number).isLoaded }
        if !unread.isEmpty { context.faults.load(unread, number: number, rowLimit: .max) }
        // Most members were read with their rows.
        var waiting: [NSManagedObject] = []
        objects.forEachHeld { object in
            object.toManyState(number).contents.forEachHeld { if $0.waitsForRow { waiting.append($0) } }
        }
        try context.fetchPipeline.readRows(of: waiting)
        return isLast ? [] : objects.flatMap { $0.toManyState(number).contents }
    }
}
