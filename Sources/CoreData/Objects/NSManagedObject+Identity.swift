/// The ID of an object, made when it is asked for: a list of a hundred thousand objects is usually looked at without
/// their IDs, which would take half as much memory again.
///
/// Until then an object has the family of its ID and its number. An ID may be asked for on any thread.
// SAFETY: see `NSManagedObject+Home.swift`: an object's home outlives each look at it.
extension NSManagedObject {
    /// What the object's ID will have in common with others; `nil` where the ID was made already, or is not to be made.
    @inline(__always)
    final var unnamedFamily: IDFamily? { home.with(\.family) }

    /// What the object's ID will be made of; `nil` where it was made already.
    @inline(__always)
    final var unnamedRow: (family: IDFamily, reference: Int64)? {
        guard let family = unnamedFamily else { return nil }
        return (family, Int64(rowNumber.load(ordering: .relaxed)))
    }

    /// The number of what the object's ID will be made of; `nil` where it was made already.
    @inline(__always)
    final var unnamedNumber: Int64? {
        home.with { $0.family != nil } ? Int64(rowNumber.load(ordering: .relaxed)) : nil
    }

    /// The key of the object's row; `nil` while it has a temporary ID. Makes no ID.
    final var rowKey: RowKey? {
        guard let row = unnamedRow else { return objectID.rowKey }
        return row.family.isTemporary ? nil : RowKey(entity: row.family.entityIndex, reference: row.reference)
    }

    /// The object's ID for one use: one that was not asked for before is not kept, as a million objects may be read.
    final var passingID: NSManagedObjectID {
        home.with { home in
            guard let family = home.family, !family.isTemporary else { return objectID }
            return NSManagedObjectID(family, reference: Int64(rowNumber.load(ordering: .relaxed)))
        }
    }

    /// Whether the object was given no permanent ID yet. Makes none.
    final var hasTemporaryID: Bool {
        home.with { $0.family?.isTemporary ?? objectID.isTemporaryID }
    }

    /// What the object's ID holds of its store. Makes none.
    final var storeReference: StoreReference? {
        if let unnamedRow { return unnamedRow.family.store }
        return objectID.storeReference
    }

    /// Whether the object was assigned to a store, or saved in one. Makes no ID.
    final var hasStore: Bool {
        home.with { home in
            if let family = home.family { return family.store != nil }
            return objectID.storeReference != nil
        }
    }

    /// Whether `id` is the ID that the object keeps. Makes none.
    final func isNamed(_ id: NSManagedObjectID) -> Bool {
        if let unnamedRow { return id.isEqual(to: unnamedRow.family, unnamedRow.reference) }
        guard let known = keptID else { return false }
        return known === id || known == id
    }

    /// For an object that never was in a context.
    final func makeTemporaryID() -> NSManagedObjectID {
        let family = IDFamily(entity: layout.entity, store: nil, isTemporary: true)
        let made = NSManagedObjectID(temporary: family)
        replaceIdentifier(by: made)
        return made
    }
}
