/// The ID of an object, created on request. A list of a hundred thousand objects is usually read without their IDs,
/// which would take half as much memory again.
///
/// Until then an object stores its number, and its home the family of the ID. Any thread may request the ID.
// SAFETY: see `NSManagedObject+Home.swift`: an object's home outlives each read of it.
extension NSManagedObject {
    /// The family of the object's future ID; `nil` if the ID already exists or the object has no identity.
    @inline(__always)
    final var unnamedFamily: IDFamily? { home.with(\.family) }

    /// Family and number of the object's future ID; `nil` if the ID already exists or the object has no identity.
    @inline(__always)
    final var unnamedRow: (family: IDFamily, reference: Int64)? {
        guard let family = unnamedFamily else { return nil }
        return (family, Int64(rowNumber.load(ordering: .relaxed)))
    }

    /// The number of the object's future ID; `nil` if the ID already exists or the object has no identity.
    @inline(__always)
    final var unnamedNumber: Int64? {
        home.with { $0.family != nil } ? Int64(rowNumber.load(ordering: .relaxed)) : nil
    }

    /// The key of the object's row; `nil` if the ID is temporary. Creates no ID.
    final var rowKey: RowKey? {
        guard let row = unnamedRow else { return objectID.rowKey }
        return row.family.isTemporary ? nil : RowKey(entity: row.family.entityIndex, reference: row.reference)
    }

    /// The object's ID for a single use. A new one is not stored, as a million objects may be read.
    final var passingID: NSManagedObjectID {
        home.with { home in
            guard let family = home.family, !family.isTemporary else { return objectID }
            return NSManagedObjectID(family, reference: Int64(rowNumber.load(ordering: .relaxed)))
        }
    }

    /// True if the object has no permanent ID yet. Creates no ID.
    final var hasTemporaryID: Bool {
        home.with { $0.family?.isTemporary ?? objectID.isTemporaryID }
    }

    /// The store reference of the object's ID. Creates no ID.
    final var storeReference: StoreReference? {
        if let unnamedRow { return unnamedRow.family.store }
        return objectID.storeReference
    }

    /// True if the object was assigned to a store or saved in one. Creates no ID.
    final var hasStore: Bool {
        home.with { home in
            if let family = home.family { return family.store != nil }
            return objectID.storeReference != nil
        }
    }

    /// True if `id` is the object's ID. Creates no ID.
    final func isNamed(_ id: NSManagedObjectID) -> Bool {
        if let unnamedRow { return id.isEqual(to: unnamedRow.family, unnamedRow.reference) }
        guard let known = keptID else { return false }
        return known === id || known == id
    }

    /// Creates an ID for an object that was never in a context.
    final func makeTemporaryID() -> NSManagedObjectID {
        let family = IDFamily(entity: layout.entity, store: nil, isTemporary: true)
        let made = NSManagedObjectID(temporary: family)
        replaceIdentifier(by: made)
        return made
    }
}
