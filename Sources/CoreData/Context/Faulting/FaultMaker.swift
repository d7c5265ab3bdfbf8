/// Creates the objects of rows that one store has just returned, many at a time: shared facts are looked up once.
///
/// Objects are created without IDs: see ``NSManagedObject/identifier``.
// SAFETY: created on the context's queue for one read, while the caller holds the context. The context keeps the homes,
// and `families` the entities.
struct FaultMaker {
    let context: Unretained<NSManagedObjectContext>
    let registry: ObjectRegistry
    let table: UniquingTable
    let operations: any StoreOperations
    /// The kind used last: objects of one entity are usually adjacent.
    private var kind: Kind?

    /// Facts that objects of one entity share. Using it retains nothing: its family is in `families`.
    private struct Kind {
        let index: UInt32
        let home: Unretained<ObjectHome>
        let entity: Unretained<NSEntityDescription>
        let type: NSManagedObject.Type

        init(_ index: UInt32, _ family: IDFamily, _ context: Unretained<NSManagedObjectContext>) {
            self.index = index
            let entity = family.entity
            self.entity = Unretained(entity)
            (type, home) = context.with {
                ($0.objectClass(of: entity), Unretained($0.homes.home(of: family)))
            }
        }
    }

    /// The kinds found so far, and their families, which hold the entities.
    private var kinds: [Kind] = []
    private var families: [IDFamily] = []

    init(
        context: Unretained<NSManagedObjectContext>, registry: ObjectRegistry, table: UniquingTable,
        operations: any StoreOperations
    ) {
        self.context = context
        self.registry = registry
        self.table = table
        self.operations = operations
    }

    /// The object of `key`: a fault takes the row unless it has a newer one; an object with values keeps its own.
    mutating func object(for key: RowKey, row: consuming RowSnapshot?) -> NSManagedObject {
        guard let known = table[key] else { return makeFault(key, consume row) }
        if let row { registry.offer(row, to: known) }
        return known
    }

    /// The objects of `keys`, in the same order. Moves the rows out of `rows`.
    mutating func objects(for keys: [RowKey], taking rows: inout RowList) -> [NSManagedObject] {
        makeRoom(keys.count)
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(keys.count)
        for (index, key) in keys.enumerated() {
            prefetch(keys, from: index)
            objects.append(object(for: key, row: rows.take(at: index)))
        }
        return objects
    }

    /// The destinations of each owner. Moves the rows, if there are any, into the objects.
    ///
    /// - Parameter areShared: True if several owners may have the same destinations.
    mutating func lists(of found: consuming DestinationRows, areShared: Bool) -> [[NSManagedObject]] {
        var found = found
        if !areShared { makeRoom(found.keys.count) }
        var lists: [[NSManagedObject]] = []
        lists.reserveCapacity(found.ranges.count)
        for index in found.ranges.indices { lists.append(list(of: &found, at: index)) }
        return lists
    }

    /// The destinations of the owner at `index`. Moves their rows into the objects.
    mutating func list(of found: inout DestinationRows, at index: Int) -> [NSManagedObject] {
        let range = found.ranges[index]
        var list: [NSManagedObject] = []
        list.reserveCapacity(range.count)
        for place in range {
            let row = place < found.rows.count ? found.rows.take(at: place) : nil
            list.append(object(for: found.keys[place], row: row))
        }
        return list
    }

    /// The objects of `keys`, in the same order; adjacent objects without rows form batches of `batchSize` that are
    /// read together.
    mutating func faults(for keys: [RowKey], batchSize: Int) -> [NSManagedObject] {
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(keys.count)
        makeRoom(keys.count)
        // The index of the first key in the next batch.
        var start = 0
        var waiting = 0
        for (index, key) in keys.enumerated() {
            prefetch(keys, from: index)
            let object = object(for: key, row: nil)
            objects.append(object)
            guard object.waitsForRow else { continue }
            waiting += 1
            guard waiting == batchSize else { continue }
            join(objects, start..<objects.count, keys, waiting)
            start = objects.count
            waiting = 0
        }
        if keys.count > 1, waiting > 0 { join(objects, start..<objects.count, keys, waiting) }
        return objects
    }

    /// The number of keys whose places are prefetched at a time, two such groups ahead of the objects being created.
    private static let lookAhead = 8

    @inline(__always)
    private func prefetch(_ keys: [RowKey], from index: Int) {
        guard index % Self.lookAhead == 0 else { return }
        let start = index == 0 ? 0 : min(index + 2 * Self.lookAhead, keys.count)
        table.prefetch(keys[start..<min(index + 3 * Self.lookAhead, keys.count)])
    }

    /// Joins the objects in `range` that wait for their rows, `waiting` of them, to one batch.
    private func join(_ objects: [NSManagedObject], _ range: Range<Int>, _ keys: [RowKey], _ waiting: Int) {
        guard let store = families.last?.store ?? objects[range].first?.storeReference else { return }
        let members =
            waiting == range.count
            ? keys[range] : ArraySlice(range.lazy.filter { objects[$0].waitsForRow }.map { keys[$0] })
        let batch = FaultBatch.make(members, of: store)
        objects.forEachHeld(in: range) { if $0.waitsForRow { $0.faultBatch = batch } }
    }

    private mutating func makeFault(_ key: RowKey, _ row: consuming RowSnapshot?) -> NSManagedObject {
        let kind = kind(ofEntityAt: key.entity)
        let object = kind.entity.with { kind.type.init(entity: $0, insertInto: nil) }
        kind.home.with { object.begin(at: $0, key.reference) }
        object.begin(with: consume row)
        object.flags = [.fault, .stored, .awoken]
        if table.mustGrow(for: key) { letUnusedGo() }
        table.insert(object, for: key)
        return object
    }

    /// Makes room for `count` rows, most of which are usually new. For few rows the table grows as needed.
    private func makeRoom(_ count: Int) {
        guard count > 32, table.mustGrow(by: count) else { return }
        letUnusedGo()
        table.reserve(count)
    }

    private func letUnusedGo() {
        if !context.with(\.retainsRegisteredObjects) { _ = table.takeUnused() }
    }

    private mutating func kind(ofEntityAt index: UInt32) -> Kind {
        if let kind, kind.index == index { return kind }
        let found = kinds.first { $0.index == index } ?? makeKind(ofEntityAt: index)
        kind = found
        return found
    }

    private mutating func makeKind(ofEntityAt index: UInt32) -> Kind {
        let family = operations.idFamily(ofEntityAt: index)
        families.append(family)
        let made = Kind(index, family, context)
        kinds.append(made)
        return made
    }
}
