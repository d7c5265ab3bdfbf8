/// One object for each row: what a context knows.
///
/// Clean objects without other references are released now and then: when a table grows, at the end of an event after
/// many came, and before the first look after another context or process saved, so that a caller finds no old values in
/// an object that it does not hold. Changed ones are held by the change tracker, too. With `retainsRegisteredObjects`
/// all are kept.
final class ObjectRegistry {
    // SAFETY: the context owns the registry, and is not used by it once it goes away.
    private let unretained: Unretained<NSManagedObjectContext>
    private var context: NSManagedObjectContext { @inline(__always) get { unretained.object } }
    private let homes: ObjectHomes
    private let children: CommitObservers
    /// A table for each store, by the store's UUID. Usually one.
    private var tables: [Table] = []
    private struct Table {
        let store: String
        /// What the last ID that was looked for holds of the store: compared first.
        var reference: StoreReference?
        let rows = UniquingTable()
    }
    /// Those of the tables whose stores want to know which rows contexts hold.
    private var logs: [RegistrationLog] = []
    /// Whether stores are told of this context's objects: not of those in which the framework itself makes a request.
    var tellsStores = true
    /// New objects, by the numbers of their temporary IDs.
    private var temporaries = UniquingTable()

    /// From how many new objects on the end of an event looks for unused ones.
    private static let insertionLimit = 4096

    /// Up when another context or process saved: unused objects may be stale.
    private let othersSaved: AtomicFlag

    /// Whether other contexts know the temporary IDs of this one: its parent, its children.
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

    /// The object of that ID if the context has it. No reading, no new object.
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

    /// The objects of rows of a store of the context's own, where it is known without their IDs that the context has them.
    func registered(_ keys: [RowKey], in store: any RowStore) -> [NSManagedObject?] {
        guard let rows = rows(of: store) else { return Array(repeating: nil, count: keys.count) }
        return keys.map { rows[$0] }
    }

    /// The same for one row.
    func registered(_ key: RowKey, in store: any RowStore) -> NSManagedObject? { rows(of: store)?[key] }

    /// The objects of rows if the context has all of them. Nothing holds them longer than until the next look for others.
    // SAFETY: the tables hold the objects until the registry is told to release unused ones, on this same queue.
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

    /// The objects of a store by their rows' keys; `nil` where these do not tell all, or there are none.
    private func rows(of store: any RowStore) -> UniquingTable? {
        if othersSaved.takeDown() { releaseUnused() }
        guard !sharesTemporaryIDs, let reference = store.reference else { return nil }
        let index = tables.firstIndex { $0.reference === reference } ?? tableIndex(of: reference.identifier)
        return index.map { tables[$0].rows }
    }

    /// The object that waits for its row with others if the context has it.
    func registered(_ member: FaultBatch.Member) -> NSManagedObject? {
        guard case .row(let key, let store) = member else {
            if case .named(let id) = member { return registered(id) }
            return nil
        }
        guard let index = tables.firstIndex(where: { $0.reference === store }) ?? tableIndex(of: store.identifier)
        else { return nil }
        return tables[index].rows[key]
    }

    /// Registers the objects whose temporary IDs became permanent in another context of the tree under their new IDs.
    ///
    /// - Returns: whether there may have been any.
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

    /// The object of that ID: the registered one, or a new fault. No reading.
    func object(for id: NSManagedObjectID) -> NSManagedObject { object(for: id, row: nil) }

    /// The object of that ID, with its row at hand: a fault takes it, unless it has a newer one; an object with values keeps
    /// its own.
    ///
    /// - Parameter isLocal: whether the ID is known to be of the context's own stack, as what its stores just gave.
    func object(for id: NSManagedObjectID, row: RowSnapshot?, isLocal: Bool = false) -> NSManagedObject {
        guard let known = registered(id) else { return makeFault(id, row, isLocal: isLocal) }
        if let row { offer(row, to: known) }
        return known
    }

    /// An object for a row that another context or process deleted: it counts as deleted, and is no unsaved deletion of this
    /// context when its values are asked for.
    func objectOfDeletedRow(_ id: NSManagedObjectID) -> NSManagedObject {
        if let known = registered(id) { return known }
        let object = makeFault(id, nil, isLocal: false)
        object.flags.remove(.stored)
        object.flags.insert(.dropped)
        return object
    }

    /// Gives a registered object the row that was just read, unless it keeps its own.
    func offer(_ row: RowSnapshot, to known: NSManagedObject) {
        if known.flags.contains(.dropped) { readmit(known) }
        if let old = known.snapshot, !known.isFault || old.version > row.version { return }
        known.snapshot = row
    }

    /// Others deleted the object's row, and it is there again: the object is a fault like any other.
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

    /// What makes the objects of rows that `store`, one of the context's own stack, has just given; `nil` where the context
    /// knows temporary IDs of others, and each object has to be looked for by its ID.
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
            // Its successor has to be told of this very ID.
            object.replaceIdentifier(by: id)
            object.enter(homes)
        }
        object.begin(with: row)
        object.flags = [.fault, .stored, .awoken]
        register(object, id)
        return object
    }

    // MARK: Registering

    /// Notes an object that came into the context.
    func register(_ object: NSManagedObject) {
        guard let row = object.unnamedRow, row.family.isTemporary else { return register(object, object.objectID) }
        temporaries.insert(object, for: RowKey(entity: 0, reference: row.reference))
    }

    /// Notes an object under its ID.
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

    /// The objects have permanent IDs of `store` from now on; their temporary ones stay understood.
    ///
    /// - Parameters:
    ///   - objects: Each once, with temporary IDs.
    ///   - ids: As many.
    func replaceTemporaryIDs(of objects: [NSManagedObject], by ids: [NSManagedObjectID], in store: any RowStore) {
        let identifier = store.identifier ?? ""
        let table = tables[tableIndex(of: identifier) ?? addTable(identifier)].rows
        table.reserve(ids.count)
        objects.forEachHeld(with: ids) { object, id in
            guard let key = id.rowKey else { return }
            // Usually the temporary ID was not asked for, and the reference goes from one table to the other.
            let known = object.unnamedNumber.flatMap { temporaries.take(RowKey(entity: 0, reference: $0)) }
            forgetTemporaryID(of: object, for: id)
            assert(known.map { $0 === object } ?? true, "Temporary numbers are given away once.")
            if let known { table.insert(known, for: key) } else { table.insert(object, for: key) }
        }
    }

    private func forgetTemporaryID(of object: NSManagedObject, for id: NSManagedObjectID) {
        if let old = object.settle(as: id, in: homes), case .temporary(let number) = old.reference {
            temporaries.take(Self.key(number))
            old.setSuccessor(id)
        }
    }

    /// Gives a saved object the ID that its row has in another store.
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

    /// Tells incremental stores which rows came and left since they were last told.
    func tellStores() { if !logs.isEmpty { for log in logs { log.tell() } } }

    private static func key(_ temporary: UInt64) -> RowKey {
        RowKey(entity: 0, reference: Int64(bitPattern: temporary))
    }

    // MARK: All objects

    /// Leaves the objects that are in use, each in one table.
    private func prepareForAll() {
        releaseUnused()
        if sharesTemporaryIDs { _ = adoptPermanentIDs() }
    }

    /// Every registered object that is in use, once.
    var all: [NSManagedObject] {
        prepareForAll()
        var all: [NSManagedObject] = []
        all.reserveCapacity(tables.reduce(temporaries.room) { $0 + $1.rows.room })
        forEach { all.append($0) }
        return all
    }

    /// Every registered object of which a refresh can change anything: faults that have nothing are passed over with a look
    /// at each, as there may be a million of them.
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

    /// Calls `body`, which must not register or forget any, with each object.
    func forEach(_ body: (NSManagedObject) -> Void) {
        for table in tables { table.rows.forEach(body) }
        temporaries.forEach(body)
    }

    /// Calls `body` with each object that is, or was, registered and has not left the context.
    func forEachWithDisplaced(_ body: (NSManagedObject) -> Void) {
        forEach(body)
        for table in tables { table.rows.forEachDisplaced(body) }
        temporaries.forEachDisplaced(body)
    }

    /// Releases unused objects, if many came since that was last done.
    func releaseUnusedAfterMany() {
        // New objects are held until they are saved.
        let count = tables.reduce(0) { $0 + $1.rows.insertionCount }
        if count > Self.insertionLimit { releaseUnused() }
    }

    private func releaseUnused() {
        guard !context.retainsRegisteredObjects else { return }
        // What unused objects alone held is found in the next round.
        while true {
            var unused = temporaries.takeUnused()
            for index in tables.indices { unused += tables[index].rows.takeUnused() }
            if unused.isEmpty { return }
        }
    }

    /// Releases the object of a row if nothing else holds it.
    ///
    /// - Returns: `true` if the registry alone held it.
    func releaseIfUnused(_ id: NSManagedObjectID) -> Bool {
        guard !context.retainsRegisteredObjects, let key = id.rowKey, let table = tableIndex(of: id) else {
            return false
        }
        return tables[table].rows.takeIfUnused(key) != nil
    }

    /// Whether no object was ever registered, or all were forgotten.
    var isEmpty: Bool { tables.isEmpty && temporaries.objects.isEmpty }

    /// Forgets all objects, and gives them, once each: neighbours in the order of their rows, in which they usually lie
    /// in memory, too.
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
