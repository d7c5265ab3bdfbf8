/// New rows grouped by entity and sorted by key.
///
/// Objects of several entities are usually mixed, but those of one entity are in order. So rows are divided into
/// groups, and a group is sorted only if necessary.
struct InsertOrder {
    private(set) var groups: [(entity: NSEntityDescription, rows: [IdentifiedRow])] = []

    init(_ rows: [IdentifiedRow]) {
        guard let family = rows.first?.id.family else { return }
        if rows.allSatisfy({ $0.id.family.entityIndex == family.entityIndex }) {
            groups = [(family.entity, rows)]
        } else {
            divide(rows)
        }
        for index in groups.indices where !Self.isSorted(groups[index].rows) {
            groups[index].rows.sort { Self.number($0.id) < Self.number($1.id) }
        }
    }

    private mutating func divide(_ rows: [IdentifiedRow]) {
        var places: [UInt32: Int] = [:]
        var last: (entity: UInt32, place: Int)?
        rows.forEachHeld { id, row in
            let family = id.family
            let entity = family.entityIndex
            let place = last?.entity == entity ? last?.place ?? 0 : places[entity] ?? groups.count
            if place == groups.count {
                groups.append((family.entity, []))
                places[entity] = place
            }
            groups[place].rows.append(IdentifiedRow(id: id, row: row))
            last = (entity, place)
        }
        groups.sort { $0.entity.layout.index < $1.entity.layout.index }
    }

    private static func number(_ id: NSManagedObjectID) -> Int64 { id.rowKey?.reference ?? 0 }

    private static func isSorted(_ rows: [IdentifiedRow]) -> Bool {
        var last = Int64.min
        var isSorted = true
        rows.forEachHeld { id, _ in
            let number = number(id)
            if number < last { isSorted = false }
            last = number
        }
        return isSorted
    }
}
