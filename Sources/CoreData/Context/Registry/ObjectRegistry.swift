/// The objects that a context has: one for each row.
///
/// Unchanged objects without other references are released from time to time: if a table grows, at the end of an event
/// that registered many, and before the first look-up after another context or process saved, so a caller finds no
/// stale values in an object that it does not hold. The change tracker also holds changed objects. With
/// `retainsRegisteredObjects` all are kept.
final class ObjectRegistry {
    // SAFETY: the context owns the registry and outlives every use of the reference.
    private let unretained: Unretained<NSManagedObjectContext>
    private var context: NSManagedObjectContext { @inline(__always) get { unretained.object } }
    private let homes: ObjectHomes
    private let children: CommitObservers
    /// A table for each store, by the store's UUID. Usually one.
    private var tables: [Table] = []
    private struct Table {
        let store: String
        /// The store reference of the ID that was looked up last; compared first.
        var reference: StoreReference?
        let rows = UniquingTable()
    }
    /// The logs of tables whose stores want to know which rows contexts hold.
    private var logs: [RegistrationLog] = []
    /// False for contexts in which the framework itself makes a request: stores are not notified of their objects.
    var tellsStores = true
    /// New objects, by the numbers of their temporary IDs.
    private var temporaries = UniquingTable()

    /// If more objects than this were registered, the end of an event releases unused ones.
    private static let insertionLimit = 4096

    /// Raised when another context or process saved: unused objects may be stale.
    private let othersSaved: AtomicFlag

    /// True if other contexts know the temporary IDs of this one: its parent or its children.
    var sharesTemporaryIDs: Bool { children.hasSome || unretained.with(\.isNested) }
    private var knownSuccessions: UInt64 = 0

    init(context: NSManagedObjectContext, homes: ObjectHomes) {
        unretained = Unretained(context)
        self.homes = homes
        children = context.children
        othersSaved = context.othersSaved
    }

    deinit {
        guard !logs.isEmpty else { return }
        for table in tables { table.rows.noteAllLeaving() }
        for log in logs { log.tellLater() }
    }

    // MARK: Looking up

    /// The object of that ID, if the context has it. Reads nothing and creates no object.
    func registered(_ id: NSManagedObjectID) -> NSManagedObject? {
        if othersSaved.takeDown() { releaseUnused() }
        switch id.reference {
        case .temporary(let number):
            if let successor = id.successor { return registered(successor) }
            return temporaries[Self.key(number)]
        case .permanent:
            guard let key = id.rowKey else { return nil }
            if let table = tableIndex(of: id), let known = tables[table].rows[key] { return known }
            guard sharesTemporaryIDs, adoptPermanentIDs(), let table = tableIndex(of: id) else { return nil }
            return tables[table].rows[key]
        }
    }

    /// The objects of rows of one of the context's own stores, found without IDs; `nil` for those not registered.
    func registered(_ keys: [RowKey], in store: any RowStore) -> [NSManagedObject?] {
        guard let rows = rows(of: store) else { return Array(repeating: nil, count: keys.count) }
        return keys.map { rows[$0] }
    }

    /// The object of a row of one of the context's own stores, found without an ID; `nil` if it is not registered.
    func registered(_ key: RowKey, in store: any RowStore) -> NSManagedObject? { rows(of: store)?[key] }

    /// The objects of rows, if the context has all of them. They may be released at the next look-up of other objects.
    // SAFETY: the tables hold the objects until the registry releases unused ones, on this queue.
    func references(_ keys: [RowKey], in store: any RowStore) -> [Unretained<NSManagedObject>]? {
        guard let rows = rows(of: store) else { return nil }
        var references: [Unretained<NSManagedObject>] = []
        references.reserveCapacity(keys.count)
        for key in keys {
            guard let reference = rows.reference(key) else { return nil }
            references.append(reference)
        }
        return references
    }

    /// The objects of a store by the keys of their rows; `nil` if there are none, or keys alone do not identify all.
    private func rows(of store: any RowStore) -> UniquingTable? {
        if othersSaved.takeDown() { releaseUnused() }
        guard !sharesTemporaryIDs, let reference = store.reference else { return nil }
        let index = tables.firstIndex { $0.reference === reference } ?? tableIndex(of: reference.identifier)
        return index.map { tables[$0].rows }
    }

    /// The object of a member of a batch of faults, if the context has it.
    func registered(_ member: FaultBatch.Member) -> NSManagedObject? {
        guard case .row(let key, let store) = member else {
            if case .named(let id) = member { return registered(id) }
            return nil
        }
        guard let index = tables.firstIndex(where: { $0.reference === store }) ?? tableIndex(of: store.identifier)
        else { return nil }
        return tables[index].rows[key]
    }

    /// Registers objects under permanent IDs that replaced their temporary ones, if another context of the tree
    /// obtained these.
    ///
    /// - Returns: false if there were certainly none.
    private func adoptPermanentIDs() -> Bool {
        let successions = NSManagedObjectID.successions
        guard successions != knownSuccessions else { return false }
        knownSuccessions = successions
        for object in temporaries.objects where object.unnamedRow == nil {
            guard let old = object.identifier, case .temporary(let number) = old.reference, let id = old.successor
            else {
                continue
            }
            temporaries.take(Self.key(number))
            object.replaceIdentifier(by: id)
            register(object, id)
        }
        return true
    }

    /// The object of that ID: the registered one, or a new fault. Reads nothing.
    func object(for id: NSManagedObjectID) -> NSManagedObject { object(for: id, row: nil) }

    /// Returns the object with an ID. If it is a fault, it gets `row`, unless its own row is newer; an object with
    /// values keeps its own.
    ///
    /// - Parameter isLocal: true if the ID is known to be of the context's own stack, such as one that its stores
    /// returned.
    func object(for id: NSManagedObjectID, row: RowSnapshot?, isLocal: Bool = false) -> NSManagedObject {
        guard let known = registered(id) else { return makeFault(id, row, isLocal: isLocal) }
        if let row { offer(row, to: known) }
        return known
    }

    /// An object for a row that another context or process deleted. It counts as deleted; asking for its values does
    /// not make it an unsaved deletion of this context.
    func objectOfDeletedRow(_ id: NSManagedObjectID) -> NSManagedObject {
        if let known = registered(id) { return known }
        let object = makeFault(id, nil, isLocal: false)
        object.flags.remove(.stored)
        object.flags.insert(.dropped)
        return object
    }

    /// Gives a registered object the row that was just read, unless the object keeps its own.
    func offer(_ row: RowSnapshot, to known: NSManagedObject) {
        if known.flags.contains(.dropped) { readmit(known) }
        if let old = known.snapshot, !known.isFault || old.version > row.version { return }
        known.snapshot = row
    }

    /// Turns an object whose row was deleted elsewhere and exists again into an ordinary fault.
    private func readmit(_ object: NSManagedObject) {
        let announced = object.announcingEverything()
        defer { announced?.end() }
        context.changes.forget(object)
        object.flags.remove(.inaccessible)
        object.flags.insert([.stored, .fault])
        object.values = []
        object.snapshot = nil
        object.forgetRelations()
    }

    /// Creates the objects of rows that `store`, of the context's own stack, has just returned; `nil` if the context
    /// knows temporary IDs of others, because each object must then be looked up by its ID.
    func maker(for store: any RowStore) -> FaultMaker? {
        guard !sharesTemporaryIDs, let reference = store.reference else { return nil }
        if othersSaved.takeDown() { releaseUnused() }
        let index = tableIndex(of: reference.identifier) ?? addTable(reference.identifier)
        tables[index].reference = reference
        return FaultMaker(
            context: unretained, registry: self, table: tables[index].rows, operations: store.operations)
    }

    // SAFETY: see `context`.
    private func makeFault(_ foreignID: NSManagedObjectID, _ row: RowSnapshot?, isLocal: Bool) -> NSManagedObject {
        let id = isLocal && !sharesTemporaryIDs ? foreignID : context.localID(foreignID.latest)
        if id !== foreignID, let known = registered(id) { return known }
        let entity = id.family.entity
        let type = unretained.with { $0.objectClass(of: entity) }
        let object = type.init(entity: entity, insertInto: nil)
        if let key = id.rowKey {
            object.begin(at: homes.home(of: id.family), key.reference)
        } else {
            // This instance must be kept: its successor is set on it.
            object.replaceIdentifier(by: id)
            object.enter(homes)
        }
        object.begin(with: row)
        object.flags = [.fault, .stored, .awoken]
        register(object, id)
        return object
    }

    // MARK: Registering

    /// Registers an object that entered the context.
    func register(_ object: NSManagedObject) {
        guard let row = object.unnamedRow, row.family.isTemporary else { return register(object, object.objectID) }
        temporaries.insert(object, for: RowKey(entity: 0, reference: row.reference))
    }

    /// Registers an object under its ID.
    func register(_ object: NSManagedObject, _ id: NSManagedObjectID) {
        switch id.reference {
        case .temporary(let number): temporaries.insert(object, for: Self.key(number))
        case .permanent:
            guard let key = id.rowKey else { return }
            let table = tableIndex(of: id) ?? addTable(id.storeIdentifier)
            if tables[table].rows.mustGrow(for: key), !context.retainsRegisteredObjects {
                _ = tables[table].rows.takeUnused()
            }
            tables[table].rows.insert(object, for: key)
        }
    }

    /// Gives the objects their permanent IDs in `store`; their temporary IDs stay valid for look-ups.
    ///
    /// - Parameters:
    ///   - objects: Objects with temporary IDs, without duplicates.
    ///   - ids: The permanent IDs, in the same order.
    func replaceTemporaryIDs(of objects: [NSManagedObject], by ids: [NSManagedObjectID], in store: any RowStore) {
        let identifier = store.identifier ?? ""
        let table = tables[tableIndex(of: identifier) ?? addTable(identifier)].rows
        table.reserve(ids.count)
        objects.forEachHeld(with: ids) { object, id in
            guard let key = id.rowKey else { return }
            // Usually nobody requested the temporary ID. Then the reference moves from one table to the other, not retained again.
            let known = object.unnamedNumber.flatMap { temporaries.take(RowKey(entity: 0, reference: $0)) }
            forgetTemporaryID(of: object, for: id)
            assert(known.map { $0 === object } ?? true, "Two objects have the same temporary number.")
            if let known { table.insert(known, for: key) } else { table.insert(object, for: key) }
        }
    }

    private func forgetTemporaryID(of object: NSManagedObject, for id: NSManagedObjectID) {
        if let old = object.settle(as: id, in: homes), case .temporary(let number) = old.reference {
            temporaries.take(Self.key(number))
            old.setSuccessor(id)
        }
    }

    /// Gives a saved object the ID of its row in another store.
    func move(_ object: NSManagedObject, to id: NSManagedObjectID) {
        unregister(object)
        _ = object.settle(as: id, in: homes)
        register(object, id)
    }

    func unregister(_ object: NSManagedObject) {
        guard let id = object.identifier else { return }
        if case .temporary(let number) = id.reference { temporaries.take(Self.key(number)) }
        guard let key = id.latest.rowKey, let table = tableIndex(of: id.latest), tables[table].rows[key] === object
        else { return }
        tables[table].rows.take(key)
    }

    @inline(__always)
    private func tableIndex(of id: NSManagedObjectID) -> Int? {
        for index in tables.indices where id.isMade(for: tables[index].reference) { return index }
        return tableIndexByName(of: id)
    }

    @inline(never)
    private func tableIndexByName(of id: NSManagedObjectID) -> Int? {
        guard let index = tableIndex(of: id.storeIdentifier) else { return nil }
        tables[index].reference = id.storeReference
        return index
    }

    private func tableIndex(of store: String) -> Int? { tables.firstIndex { $0.store == store } }

    private func addTable(_ store: String) -> Int {
        tables.append(Table(store: store))
        tables[tables.count - 1].rows.log = log(of: store)
        return tables.count - 1
    }

    private func log(of store: String) -> RegistrationLog? {
        if let known = logs.first(where: { $0.storeIdentifier == store }) { return known }
        guard tellsStores, let coordinator = context.source?.coordinator,
            let found = coordinator.rowStores.first(where: { $0.identifier == store }) as? NSIncrementalStore
        else { return nil }
        let log = RegistrationLog(found)
        logs.append(log)
        return log
    }

    /// Notifies incremental stores of rows that were registered or unregistered since the last call.
    func tellStores() { if !logs.isEmpty { for log in logs { log.tell() } } }

    private static func key(_ temporary: UInt64) -> RowKey {
        RowKey(entity: 0, reference: Int64(bitPattern: temporary))
    }

    // MARK: All objects

    /// Leaves only objects in use, each in one table.
    private func prepareForAll() {
        releaseUnused()
        if sharesTemporaryIDs { _ = adoptPermanentIDs() }
    }

    /// Every registered object in use, once.
    var all: [NSManagedObject] {
        prepareForAll()
        var all: [NSManagedObject] = []
        all.reserveCapacity(tables.reduce(temporaries.room) { $0 + $1.rows.room })
        forEach { all.append($0) }
        return all
    }

    /// The registered objects that a refresh can change. Faults without values are skipped after one check each,
    /// because there may be a million of them.
    var refreshable: [NSManagedObject] {
        prepareForAll()
        var found: [NSManagedObject] = []
        func add(_ object: NSManagedObject) {
            let isBare = object.waitsForRow && !object.hasRelations
            if !isBare || object.isDeleted { found.append(object) }
        }
        for table in tables { table.rows.forEach(add) }
        temporaries.forEach(add)
        return found
    }

    /// Calls `body`, which must not register or unregister objects, with each object.
    func forEach(_ body: (NSManagedObject) -> Void) {
        for table in tables { table.rows.forEach(body) }
        temporaries.forEach(body)
    }

    /// Calls `body` with each object that is or was registered and has not left the context.
    func forEachWithDisplaced(_ body: (NSManagedObject) -> Void) {
        forEach(body)
        for table in tables { table.rows.forEachDisplaced(body) }
        temporaries.forEachDisplaced(body)
    }

    /// Releases unused objects if many were registered since the last release.
    func releaseUnusedAfterMany() {
        // Excludes new objects, which are held until they are saved.
        let count = tables.reduce(0) { $0 + $1.rows.insertionCount }
        if count > Self.insertionLimit { releaseUnused() }
    }

    private func releaseUnused() {
        guard !context.retainsRegisteredObjects else { return }
        // Objects that only unused objects held are found in the next round.
        while true {
            var unused = temporaries.takeUnused()
            for index in tables.indices { unused += tables[index].rows.takeUnused() }
            if unused.isEmpty { return }
        }
    }

    /// Releases the object of a row if no one else holds it.
    ///
    /// - Returns: true if only the registry held it.
    func releaseIfUnused(_ id: NSManagedObjectID) -> Bool {
        guard !context.retainsRegisteredObjects, let key = id.rowKey, let table = tableIndex(of: id) else {
            return false
        }
        return tables[table].rows.takeIfUnused(key) != nil
    }

    /// True if no object was ever registered, or all were removed.
    var isEmpty: Bool { tables.isEmpty && temporaries.objects.isEmpty }

    /// Removes and returns all objects, once each, in the order of their rows, which is usually also their order in
    /// memory.
    func takeAll() -> [NSManagedObject] {
        if sharesTemporaryIDs { _ = adoptPermanentIDs() }
        var taken: [NSManagedObject] = []
        taken.reserveCapacity(tables.reduce(temporaries.room) { $0 + $1.rows.room })
        for table in tables {
            table.rows.noteAllLeaving()
            table.rows.moveAll(to: &taken)
        }
        temporaries.moveAll(to: &taken)
        tables = []
        temporaries = UniquingTable()
        return taken
    }
}
