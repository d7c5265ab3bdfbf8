/// The values of rows that are compared during one edit, each read once.
///
/// A row's values are those of the context's object, so unsaved values count and so does what it looks at over
/// relationships. Rows that the context does not hold are read, together where that is possible.
final class RowReader {
    /// A row that gets a place, and its object, whose values say where.
    struct Arrival {
        let row: RowToken
        let object: NSManagedObject
    }

    private let ordering: ObjectOrdering
    private let identities: RowIdentities
    private let context: NSManagedObjectContext
    /// Which of the rows of `values` stands for a row of the list.
    private var numbers: [RowToken: Int] = [:]
    private var values: SortValues
    /// The rows that arrive, in the order of the list.
    let arrivals: [Arrival]

    /// Reads the values of rows that arrive.
    init(definition: ListDefinition, context: NSManagedObjectContext, arriving: [Arrival]) {
        ordering = definition.ordering
        identities = definition.identities
        self.context = context
        // They are compared with rows that stay: mostly a few for each.
        values = ordering.values(ofRows: arriving.count * 3)
        numbers.reserveCapacity(arriving.count * 3)
        for arrival in arriving {
            numbers[arrival.row] = values.count
            ordering.read(arrival.object, into: &values)
        }
        arrivals = ordering.sortedPlaces(of: values, id: { arriving[$0].object.objectID }).map { arriving[$0] }
    }

    /// Reads the rows that are not at hand, with one query.
    func prepare(_ rows: [RowToken]) throws {
        var missing: [RowToken] = []
        for row in rows where numbers[row] == nil {
            numbers[row] = values.count + missing.count
            missing.append(row)
        }
        guard !missing.isEmpty else { return }
        for object in try objects(of: missing) { ordering.read(object, into: &values) }
    }

    /// The objects of rows, with what the store has of them. Those that the context has need no ID for that.
    private func objects(of rows: [RowToken]) throws -> [NSManagedObject] {
        let keys = rows.compactMap(RowIdentities.key)
        guard keys.count == rows.count, let store = identities.store else {
            return try context.fetchPipeline.objects(for: identities.objectIDs(of: rows))
        }
        var objects = context.registry.registered(keys, in: store)
        let others = objects.indices.filter { objects[$0] == nil }
        if !others.isEmpty {
            let ids = identities.objectIDs(of: others.map { rows[$0] })
            for (index, id) in zip(others, ids) { objects[index] = context.registry.object(for: id) }
        }
        let all = objects.compactMap { $0 }
        try context.fetchPipeline.readRows(of: all)
        return all
    }

    /// Whether a row comes before another one in the list.
    func isBefore(_ left: RowToken, _ right: RowToken) throws -> Bool {
        if let left = numbers[left], let right = numbers[right] {
            let result = ordering.compare(values, left, right)
            if result != .orderedSame { return result == .orderedAscending }
        } else {
            try prepare([left, right])
            return try isBefore(left, right)
        }
        return identities.isBefore(left, right)
    }
}
