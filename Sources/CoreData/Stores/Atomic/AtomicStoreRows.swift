import Foundation

/// The rows of an atomic store in an in-memory database, which searches them and detects conflicts of saves. The
/// store's file is written just before the save's transaction is committed.
// SAFETY: used under the coordinator's lock, as its owner is.
final class AtomicStoreRows: InMemoryStore, @unchecked Sendable {
    weak var owner: NSAtomicStore?
    private var isFilling = false
    private var staged: StoreChangeSet?

    override var face: NSPersistentStore { owner ?? self }

    override var refusesSaves: Bool { !isFilling && owner?.isReadOnly ?? true }

    override var hasUnsavedMetadata: Bool { owner?.hasUnsavedMetadata ?? false }

    override func didStage(_ changes: StoreChangeSet) { staged = isFilling ? nil : changes }

    override func willCommit() throws {
        guard let staged else { return }
        try owner?.write(staged)
        self.staged = nil
        owner?.didCommit()
    }

    override func didAbandon() { staged = nil }

    override func reserveIDs(for runs: [EntityRun]) throws -> [NSManagedObjectID] {
        try owner?.reserveIDs(for: runs) ?? super.reserveIDs(for: runs)
    }

    override func reserveIDs(of objects: [NSManagedObject]) throws -> [NSManagedObjectID]? {
        try owner?.reserveIDs(of: objects)
    }

    /// Inserts all rows of a store into the empty tables.
    ///
    /// - Throws: 133021 if the rows violate a constraint of the model.
    func fill(_ rows: [AtomicRow]) throws {
        isFilling = true
        defer { isFilling = false }
        try save(AtomicRowChanges(rows).changes)
    }
}

/// A change set that inserts rows.
struct AtomicRowChanges {
    private(set) var changes = StoreChangeSet()
    private var values: [NSManagedObjectID: [SlotValue]] = [:]

    init(_ rows: [AtomicRow]) {
        for row in rows { values[row.id] = row.values }
        for row in rows {
            for (number, members) in row.lists {
                add(members, row.id, row.id.entity.layout.toManyRelationships[number])
            }
        }
        changes.inserted = rows.map { IdentifiedRow(id: $0.id, row: .make(values[$0.id] ?? $0.values, version: 1)) }
    }

    private mutating func add(
        _ members: [NSManagedObjectID], _ owner: NSManagedObjectID, _ relationship: NSRelationshipDescription
    ) {
        guard let inverse = relationship.inverseRelationship, !inverse.isToMany else {
            let writesPairs = relationship.writesPairs
            guard writesPairs || relationship.isOrdered else { return }
            changes.toMany.append(
                StoreToManyChange(
                    relationship: relationship, owner: owner, added: writesPairs ? members : [], removed: [],
                    order: relationship.isOrdered ? members : nil))
            return
        }
        for (index, member) in members.enumerated() {
            guard case .toOne(let slot) = member.entity.layout.place(of: inverse.name) else { continue }
            // A row without a reference to its owner gets the owner whose list contains it.
            if values[member]?[slot].isNull == true { values[member]?[slot] = .reference(owner) }
            guard relationship.isOrdered, values[member]?[slot] == .reference(owner) else { continue }
            changes.insertedPositions[member, default: [:]][slot] = index
        }
    }
}

/// The objects of a save: those in the context's change set, or objects of a private context if rows are written
/// without one, such as by a copy of a store.
struct AtomicStoreObjects {
    private var known: [NSManagedObjectID: NSManagedObject] = [:]
    private let context: NSManagedObjectContext?

    init(_ changes: StoreChangeSet, of store: NSPersistentStore) {
        for object in changes.objects { known[object.objectID] = object }
        let isComplete =
            changes.inserted.allSatisfy { [known] in known[$0.id] != nil }
            && changes.updated.allSatisfy { [known] in known[$0.id] != nil }
        guard !isComplete else {
            context = nil
            return
        }
        let made = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        made.persistentStoreCoordinator = store.persistentStoreCoordinator
        context = made
    }

    func object(_ id: NSManagedObjectID) throws -> NSManagedObject {
        if let object = known[id] { return object }
        guard let context else {
            throw CoreDataError.make(134030, "Cannot save \(id): the store does not have this object.")
        }
        return context.object(with: id)
    }

    /// Runs `body` on the queue of the private context. The objects of a change set are already on their queue.
    func onQueue(_ body: () throws -> Void) rethrows {
        guard let context else { return try body() }
        try context.performAndWait(body)
    }
}
