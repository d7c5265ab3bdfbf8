/// Makes the objects of rows that one store has just given, many at a time: what all of them need is asked for once.
///
/// Objects are made without IDs: see ``NSManagedObject/identifier``.
struct FaultMaker {
    let context: Unmanaged<NSManagedObjectContext>
    let registry: ObjectRegistry
    let table: RowTable
    let operations: any StoreOperations
    /// What the objects of one entity have in common: they mostly come in a row.
    private var kind: Kind?

    // An object: to take it up retains one thing, and not the entity, which many hold weakly.
    private final class Kind {
        let index: UInt32
        let family: IDFamily
        let entity: NSEntityDescription
        let type: NSManagedObject.Type

        init(_ index: UInt32, _ family: IDFamily, _ context: Unmanaged<NSManagedObjectContext>) {
            self.index = index
            self.family = family
            let entity = family.entity
            self.entity = entity
            type = context._withUnsafeGuaranteedRef { $0.objectClass(of: entity) }
        }
    }

    init(
        context: Unmanaged<NSManagedObjectContext>, registry: ObjectRegistry, table: RowTable,
        operations: any StoreOperations
    ) {
        self.context = context
        self.registry = registry
        self.table = table
        self.operations = operations
    }

    /// The object of `key`: a fault takes the row, unless it has a newer one; an object with values keeps its own.
    mutating func object(for key: RowKey, row: RowSnapshot?) -> NSManagedObject {
        guard let known = table[key] else { return makeFault(key, row) }
        if let row { registry.offer(row, to: known) }
        return known
    }

    /// The objects of `keys`, in the same order; `batchSize` neighbours that wait for their rows read them together.
    mutating func faults(for keys: [RowKey], batchSize: Int) -> [NSManagedObject] {
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(keys.count)
        // The neighbours that are to be joined begin here.
        var start = 0
        var waiting = 0
        for key in keys {
            let object = object(for: key, row: nil)
            objects.append(object)
            guard object.waitsForRow else { continue }
            waiting += 1
            guard waiting == batchSize else { continue }
            join(objects[start...], keys[start..<objects.count], waiting)
            start = objects.count
            waiting = 0
        }
        if keys.count > 1, waiting > 0 { join(objects[start...], keys[start...], waiting) }
        return objects
    }

    private func join(_ objects: ArraySlice<NSManagedObject>, _ keys: ArraySlice<RowKey>, _ waiting: Int) {
        guard let store = kind?.family.store ?? objects.first?.storeReference else { return }
        let members = waiting == keys.count ? keys : ArraySlice(zip(objects, keys).filter { $0.0.waitsForRow }.map(\.1))
        let batch = FaultBatch.make(members, of: store)
        for object in objects where object.waitsForRow { object.faultBatch = batch }
    }

    private mutating func makeFault(_ key: RowKey, _ row: RowSnapshot?) -> NSManagedObject {
        let kind = kind(ofEntityAt: key.entity)
        let object = kind.type.init(entity: kind.entity, insertInto: nil)
        object.identify(kind.family, key.reference)
        object.snapshot = row
        object.flags = [.fault, .stored, .awoken]
        object.contextReference = context
        if table.mustGrow(for: key), !context._withUnsafeGuaranteedRef(\.retainsRegisteredObjects) {
            _ = table.takeUnused()
        }
        table.insert(object, for: key)
        return object
    }

    private mutating func kind(ofEntityAt index: UInt32) -> Kind {
        if let kind, kind.index == index { return kind }
        let made = Kind(index, operations.idFamily(ofEntityAt: index), context)
        kind = made
        return made
    }
}
