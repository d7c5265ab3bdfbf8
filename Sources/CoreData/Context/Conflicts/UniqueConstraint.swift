import Foundation
import PredicateSyntax

/// A constraint of the topmost entity that has it: repetitions in subentities are the same constraint.
struct UniqueConstraint: Hashable {
    let entity: NSEntityDescription
    let names: [String]

    /// The number of combinations of values in one query.
    private static let batchSize = 200

    /// The constraints of an entity, those of its ancestors first.
    static func all(of entity: NSEntityDescription) -> [UniqueConstraint] {
        var chain: [NSEntityDescription] = []
        var next: NSEntityDescription? = entity
        while let current = next {
            chain.insert(current, at: 0)
            next = current.superentity
        }
        var known: Set<[String]> = []
        return chain.flatMap { entity in
            entity.uniquenessConstraintNames.filter { known.insert($0).inserted }.map {
                UniqueConstraint(entity: entity, names: $0)
            }
        }
    }

    /// The values of a row as constants of a predicate.
    func constants(_ row: RowValues, _ layout: EntityLayout) -> [Any] {
        names.compactMap { name in
            switch layout.place(of: name) {
            case .attribute(let slot), .toOne(let slot):
                let type = layout.attribute(at: slot)?.attributeType ?? .objectIDAttributeType
                return AttributeCoercion.value(row[slot], type: type)
            default: return nil
            }
        }
    }

    /// Returns the rows with one of the combinations of values: exactly those, or more if the store cannot evaluate the
    /// predicate.
    func rows(
        having combinations: [[Any]], in store: any RowStore
    ) throws -> [(NSManagedObjectID, RowSnapshot)] {
        var result: [(NSManagedObjectID, RowSnapshot)] = []
        for start in stride(from: 0, to: combinations.count, by: Self.batchSize) {
            let batch = combinations[start..<min(start + Self.batchSize, combinations.count)]
            var query = StoreQuery(entity: entity)
            query.predicate = predicate(Array(batch))
            let found = try store.operations.fetch(query)
            result += zip(found.keys, found.rows).map { (store.operations.objectID(for: $0), $1) }
            if found.unsupported.contains(.predicate) { break }
        }
        return result
    }

    private func predicate(_ combinations: [[Any]]) -> PredicateTree {
        if names.count == 1 {
            return .comparison(
                ComparisonTree(
                    left: .keyPath(names), right: .constant(combinations.map { $0[0] }), comparison: .in))
        }
        return .or(
            combinations.map { values in
                .and(
                    zip(names, values).map { name, value in
                        .comparison(
                            ComparisonTree(left: .keyPath([name]), right: .constant(value), comparison: .equalTo))
                    })
            })
    }
}

/// Values of a constraint's properties that compare like values in the store.
struct UniqueValues: Hashable {
    let values: [SlotValue]

    /// Reads the values of the constraint's attributes from a row; `nil` if one of the values is not set.
    init?(_ names: [String], in row: some RandomAccessCollection<SlotValue>, _ layout: EntityLayout) {
        var found: [SlotValue] = []
        for name in names {
            switch layout.place(of: name) {
            case .attribute(let slot), .toOne(let slot):
                switch row[row.index(row.startIndex, offsetBy: slot)] {
                case .null: return nil
                case .text(let text): found.append(.data(Data(text.utf8)))
                case let value: found.append(value)
                }
            default: return nil
            }
        }
        values = found
    }
}
