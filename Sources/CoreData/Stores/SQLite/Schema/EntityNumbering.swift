/// The `Z_ENT` number of each entity of a store.
struct EntityNumbering {
    /// The entities with their numbers, sorted by number.
    let entries: [(entity: NSEntityDescription, number: Int64)]

    /// Assigns the numbers of a new store from 1: roots by name, case-insensitive, each followed depth-first by its
    /// subentities in the same order.
    init(freshFor entities: [NSEntityDescription]) {
        let members = Self.withAncestors(entities)
        let memberIDs = Set(members.map(ObjectIdentifier.init))
        var ordered: [NSEntityDescription] = []
        func visit(_ siblings: [NSEntityDescription]) {
            for entity in Self.sorted(siblings) where memberIDs.contains(ObjectIdentifier(entity)) {
                ordered.append(entity)
                visit(entity.subentities)
            }
        }
        visit(members.filter { $0.superentity == nil })
        entries = ordered.enumerated().map { ($0.element, Int64($0.offset + 1)) }
    }

    /// Finds the numbers of an existing store by entity name in its `Z_PRIMARYKEY`, or by the previous name if the name
    /// is missing.
    ///
    /// - Throws: 134020 if the store does not have an entity.
    init(of entities: [NSEntityDescription], stored: [String: Int64], path: String) throws {
        var found: [(entity: NSEntityDescription, number: Int64)] = []
        for entity in Self.withAncestors(entities) {
            guard let number = stored[entity.name ?? ""] ?? stored[entity.renamingIdentifier ?? ""] else {
                throw CoreDataError.make(
                    134020, "The store \(path) does not match the model: it has no entity \(entity.name ?? "").")
            }
            found.append((entity, number))
        }
        entries = found.sorted { $0.number < $1.number }
    }

    private static func sorted(_ entities: [NSEntityDescription]) -> [NSEntityDescription] {
        entities.sorted { left, right in
            let (left, right) = (left.name ?? "", right.name ?? "")
            let (leftFolded, rightFolded) = (left.lowercased(), right.lowercased())
            return leftFolded == rightFolded ? left < right : leftFolded < rightFolded
        }
    }

    /// Returns `entities` and the ancestors that their tables need, each once.
    private static func withAncestors(_ entities: [NSEntityDescription]) -> [NSEntityDescription] {
        var seen: Set<ObjectIdentifier> = []
        var result: [NSEntityDescription] = []
        for entity in entities {
            var next: NSEntityDescription? = entity
            while let current = next, seen.insert(ObjectIdentifier(current)).inserted {
                result.append(current)
                next = current.superentity
            }
        }
        return result
    }
}
