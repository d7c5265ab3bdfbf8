/// One object for each row: what a context knows.
///
/// Objects are held weakly, unless the context retains what it registers; changed ones are held by the change tracker.
final class ObjectRegistry {
    private unowned(unsafe) let context: NSManagedObjectContext
    /// A table for each store, by the store's UUID. Mostly one.
    private var tables: [(store: String, rows: RowTable)] = []
    /// Objects by the numbers of their temporary IDs, which stay valid in this context after the object was saved.
    private var temporaries: [UInt64: WeakObject] = [:]
    private var temporaryLimit = 1024
    private var retained: [ObjectIdentifier: NSManagedObject] = [:]

    private struct WeakObject {
        weak var object: NSManagedObject?
    }

    init(context: NSManagedObjectContext) { self.context = context }

    // MARK: Looking up

    /// The object of that ID if the context has it. No reading, no new object.
    func registered(_ id: NSManagedObjectID) -> NSManagedObject? {
        switch id.reference {
        case .temporary(let number): return temporaries[number]?.object
        case .permanent:
            guard let key = id.rowKey, let table = tableIndex(of: id.storeIdentifier) else { return nil }
            return tables[table].rows[key]
        }
    }

    /// The object of that ID: the registered one, or a new fault. No reading.
    func object(for id: NSManagedObjectID) -> NSManagedObject { object(for: id, row: nil) }

    /// The object of that ID, with its row at hand: a fault that has none takes it, an object with values keeps its own.
    func object(for id: NSManagedObjectID, row: RowSnapshot?) -> NSManagedObject {
        if let known = registered(id) {
            if let row, known.snapshot == nil { known.snapshot = row }
            return known
        }
        return makeFault(id, row)
    }

    private func makeFault(_ foreignID: NSManagedObjectID, _ row: RowSnapshot?) -> NSManagedObject {
        let id = context.localID(foreignID)
        if id !== foreignID, let known = registered(id) { return known }
        let object = context.objectClass(of: id.entity).init(entity: id.entity, insertInto: nil)
        object.identifier = id
        object.snapshot = row
        object.flags = [.fault, .stored, .awoken]
        object.managedObjectContext = context
        register(object, id)
        return object
    }

    // MARK: Registering

    /// Notes an object under an ID. A saved object stays known under its temporary ID too.
    func register(_ object: NSManagedObject, _ id: NSManagedObjectID) {
        switch id.reference {
        case .temporary(let number):
            if temporaries.count >= temporaryLimit { purgeTemporaries() }
            temporaries[number] = WeakObject(object: object)
        case .permanent:
            guard let key = id.rowKey else { return }
            let table = tableIndex(of: id.storeIdentifier) ?? addTable(id.storeIdentifier)
            tables[table].rows.insert(object, for: key)
        }
        if context.retainsRegisteredObjects { retained[ObjectIdentifier(object)] = object }
    }

    func unregister(_ object: NSManagedObject) {
        retained[ObjectIdentifier(object)] = nil
        guard let id = object.identifier else { return }
        switch id.reference {
        case .temporary(let number): temporaries[number] = nil
        case .permanent:
            guard let key = id.rowKey, let table = tableIndex(of: id.storeIdentifier),
                tables[table].rows[key] === object
            else { return }
            tables[table].rows.remove(key)
        }
    }

    private func tableIndex(of store: String) -> Int? { tables.firstIndex { $0.store == store } }

    private func addTable(_ store: String) -> Int {
        tables.append((store, RowTable()))
        return tables.count - 1
    }

    private func purgeTemporaries() {
        temporaries = temporaries.filter { $0.value.object != nil }
        temporaryLimit = max(1024, temporaries.count * 2)
    }

    // MARK: All objects

    /// Every registered object, once.
    var all: [NSManagedObject] {
        var objects = tables.flatMap(\.rows.objects)
        for (number, box) in temporaries {
            guard let object = box.object, case .temporary(number) = object.identifier?.reference else { continue }
            objects.append(object)
        }
        return objects
    }

    /// Holds all objects strongly, or lets them go.
    func retainAll(_ flag: Bool) {
        retained = flag ? Dictionary(all.map { (ObjectIdentifier($0), $0) }, uniquingKeysWith: { $1 }) : [:]
    }

    func removeAll() {
        tables = []
        temporaries = [:]
        retained = [:]
    }
}
