/// The values of rows that are compared during one edit, each read once.
///
/// A row's values are those of the context's object, including unsaved values and those of related objects. Rows that
/// the context does not hold are read, together if possible.
final class RowReader {
    /// A row to be placed, and its object, whose values determine the place.
    struct Arrival {
        let row: RowToken
        let object: NSManagedObject
    }

    private let ordering: ObjectOrdering
    private let identities: RowIdentities
    private let context: NSManagedObjectContext
    /// The values of arrivals, and of other rows that are read as a whole.
    private var values: SortValues
    /// The index in `values` of each arrival.
    private let placesOfArrivals: [Int]
    /// The indices in `values` of the other rows, if their values are read with whole rows.
    private var places: [RowToken: Int] = [:]
    /// The objects that the context did not have: only these references may keep them alive, and they may be compared
    /// again.
    private var held: [NSManagedObject] = []
    /// The slots of the sort keys in the layout that was used last.
    private var slots: (layout: EntityLayout, slots: [Int])?
    /// The arriving rows, in list order.
    let arrivals: [Arrival]

    /// Reads the values of arriving rows.
    init(definition: ListDefinition, context: NSManagedObjectContext, arriving: [Arrival]) {
        ordering = definition.ordering
        identities = definition.identities
        self.context = context
        values = ordering.values(ofRows: arriving.count)
        for arrival in arriving { ordering.read(arrival.object, into: &values) }
        placesOfArrivals = ordering.sortedPlaces(of: values, id: { arriving[$0].object.objectID })
        arrivals = placesOfArrivals.map { arriving[$0] }
    }

    /// The values that an arrival is sorted by.
    func values(ofArrival number: Int) -> [SlotValue] {
        let width = ordering.sortKeys.count
        let start = placesOfArrivals[number] * width
        return Array(values.all[start..<start + width])
    }

    /// For each probe, true if its row precedes its arrival. Reads the rows that are not in memory, with one query.
    // SAFETY: see `objectsAtHand`.
    func areBefore(_ probes: [RowPlacement.Probe]) throws -> [Bool] {
        guard ordering.isBySlots else { return try areBeforeAsRead(probes) }
        let values = values
        // Arrivals are sorted, so those that are compared with one row are adjacent.
        var rows: [RowToken] = []
        rows.reserveCapacity(probes.count)
        for probe in probes where probe.row != rows.last { rows.append(probe.row) }
        var answers: [Bool] = []
        answers.reserveCapacity(probes.count)
        var place = 0
        func compare(_ object: NSManagedObject) {
            let slots = slots(of: object.layout)
            while answers.count < probes.count, probes[answers.count].row == rows[place] {
                let probe = probes[answers.count]
                let result = ordering.compare(object, slots, values, placesOfArrivals[probe.arrival])
                answers.append(isBefore(probe, result))
            }
            place += 1
        }
        if let objects = objectsAtHand(rows) {
            for object in objects { object.with(compare) }
        } else {
            try objects(of: rows).forEachHeld(compare)
        }
        return answers
    }

    /// For each probe, true if its row precedes its arrival. Keeps the values that it reads for the next comparison;
    /// used if reading them is slow.
    private func areBeforeAsRead(_ probes: [RowPlacement.Probe]) throws -> [Bool] {
        var missing: [RowToken] = []
        for probe in probes where places[probe.row] == nil {
            places[probe.row] = values.count + missing.count
            missing.append(probe.row)
        }
        for object in try objects(of: missing) { ordering.read(object, into: &values) }
        return probes.map { probe in
            let place = places[probe.row] ?? 0
            return isBefore(probe, ordering.compare(values, place, placesOfArrivals[probe.arrival]))
        }
    }

    /// The row with the lower identity is first if all values are equal.
    private func isBefore(_ probe: RowPlacement.Probe, _ result: ComparisonResult) -> Bool {
        result == .orderedSame
            ? identities.isBefore(probe.row, arrivals[probe.arrival].row) : result == .orderedAscending
    }

    private func slots(of layout: EntityLayout) -> [Int] {
        if let slots, slots.layout === layout { return slots.slots }
        let made = ordering.slots(in: layout)
        slots = (layout, made)
        return made
    }

    // MARK: Objects

    /// The objects of rows if the context has all of them and none is a fault. They stay alive during the comparison,
    /// as it reads nothing and runs no code of the user.
    // SAFETY: the context's tables hold the objects until unused ones are released, on this queue, and comparing does
    // not do that.
    private func objectsAtHand(_ rows: [RowToken]) -> [Unretained<NSManagedObject>]? {
        guard let store = identities.store else { return nil }
        let keys = rows.compactMap(RowIdentities.key)
        guard keys.count == rows.count, let objects = context.registry.references(keys, in: store),
            objects.allSatisfy({ $0.with { !$0.isFault } })
        else { return nil }
        return objects
    }

    func isAtHand(_ row: RowToken) -> Bool { objectsAtHand([row]) != nil }

    /// The objects of `rows`, with their store's values. Registered objects are found without making an ID.
    private func objects(of rows: [RowToken]) throws -> [NSManagedObject] {
        let keys = rows.compactMap(RowIdentities.key)
        guard keys.count == rows.count, let store = identities.store else {
            return try read(identities.objectIDs(of: rows).map { context.registry.object(for: $0) })
        }
        let known = context.registry.registered(keys, in: store)
        let objects = known.compactMap { $0 }
        if objects.count == rows.count, !objects.containsHeld(where: \.waitsForRow) { return objects }
        var ids = identities.objectIDs(of: rows.indices.filter { known[$0] == nil }.map { rows[$0] }).makeIterator()
        return try read(known.compactMap { object in object ?? ids.next().map { context.registry.object(for: $0) } })
    }

    private func read(_ objects: [NSManagedObject]) throws -> [NSManagedObject] {
        held += objects
        try context.fetchPipeline.readRows(of: objects)
        return objects
    }
}
