import Synchronization

/// The ID of an object, made when somebody asks for it: a list of a hundred thousand objects is mostly looked at without
/// their IDs, which would take half as much memory again.
///
/// Until then an object has the family of its ID and its number. An ID may be asked for on any thread.
extension NSManagedObject {
    /// The object's ID as it is kept: a temporary one stays until the object has been given its permanent one; `nil` while
    /// an object outside of contexts has none.
    final var identifier: NSManagedObjectID? {
        get { knownID.load() ?? makeID() }
        // The family stays: another thread may be making the old ID of it right now.
        set { if let newValue { replaceIdentifier(by: newValue) } }
    }

    /// Gives the object another ID.
    ///
    /// - Returns: the one that it had, if somebody asked for it.
    @discardableResult
    final func replaceIdentifier(by id: NSManagedObjectID) -> NSManagedObjectID? { knownID.replace(by: id) }

    @inline(never)
    private final func makeID() -> NSManagedObjectID? {
        guard let family else { return nil }
        return knownID.loadOrStore(NSManagedObjectID(family, reference: Int64(rowNumber)))
    }

    /// Gives a new object its identity without making an ID, unless the number is one of the few that need more room.
    @inline(__always)
    final func identify(_ family: IDFamily, _ reference: Int64) {
        // An initialiser of the object's class may have asked for an ID before it was known.
        guard let number = UInt32(exactly: reference), !knownID.isThere else {
            identifier = NSManagedObjectID(family, reference: reference)
            return
        }
        self.family = family
        rowNumber = number
    }

    /// What the object's ID will be made of; `nil` where it was made already.
    @inline(__always)
    final var unnamedRow: (family: IDFamily, reference: Int64)? {
        guard let family, !knownID.isThere else { return nil }
        return (family, Int64(rowNumber))
    }

    /// The number of what the object's ID will be made of; `nil` where it was made already.
    @inline(__always)
    final var unnamedNumber: Int64? { family != nil && !knownID.isThere ? Int64(rowNumber) : nil }

    /// The key of the object's row; `nil` while it has a temporary ID. Makes no ID.
    final var rowKey: RowKey? {
        guard let row = unnamedRow else { return objectID.rowKey }
        return row.family.isTemporary ? nil : RowKey(entity: row.family.entityIndex, reference: row.reference)
    }

    /// The object's ID for one use: one that nobody has asked for is not kept, as a million objects may be read.
    final var passingID: NSManagedObjectID {
        guard let row = unnamedRow, !row.family.isTemporary else { return objectID }
        return NSManagedObjectID(row.family, reference: row.reference)
    }

    /// Whether the object was given no permanent ID yet. Makes none.
    final var hasTemporaryID: Bool {
        guard let family, !knownID.isThere else { return objectID.isTemporaryID }
        return family.isTemporary
    }

    /// What the object's ID holds of its store. Makes none.
    final var storeReference: StoreReference? {
        if let unnamedRow { return unnamedRow.family.store }
        return objectID.storeReference
    }

    /// Whether the object was assigned to a store, or saved in one. Makes no ID.
    final var hasStore: Bool {
        guard let family, !knownID.isThere else { return objectID.storeReference != nil }
        return family.store != nil
    }

    /// Whether the object is a fault whose row was not read.
    @inline(__always)
    final var waitsForRow: Bool { flags.contains(.fault) && snapshot == nil }

    /// Whether `id` is the ID that the object keeps. Makes none.
    final func isNamed(_ id: NSManagedObjectID) -> Bool {
        if let unnamedRow { return id.isEqual(to: unnamedRow.family, unnamedRow.reference) }
        guard let known = knownID.load() else { return false }
        return known === id || known == id
    }

    final func makeTemporaryID() -> NSManagedObjectID {
        let made = NSManagedObjectID(temporary: temporaryFamily)
        identifier = made
        return made
    }

    /// What the temporary ID of the object is made of.
    private final var temporaryFamily: IDFamily {
        contextReference?._withUnsafeGuaranteedRef { $0.lifeCycle.temporaryFamily(of: layout) }
            ?? IDFamily(entity: layout.entity, store: nil, isTemporary: true)
    }

    /// Gives a new object that has no ID its temporary identity.
    ///
    /// - Returns: its number; `nil` where the object has an ID.
    final func identifyTemporarily() -> Int64? {
        guard family == nil, !knownID.isThere else { return nil }
        let number = NSManagedObjectID.freshTemporaryNumber()
        identify(temporaryFamily, number)
        return number
    }
}

/// A reference to an ID in one word, which several threads may find empty at once: they all get the same ID.
///
/// Replacing it is for the object's queue alone.
struct IDReference: ~Copyable, Sendable {
    private let address = Atomic<UInt>(0)

    deinit { Self.release(address.load(ordering: .acquiring)) }

    @inline(__always)
    var isThere: Bool { address.load(ordering: .relaxed) != 0 }

    @inline(__always)
    func load() -> NSManagedObjectID? {
        UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)).map {
            Unmanaged<NSManagedObjectID>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// Keeps `id`, unless there is one already.
    ///
    /// - Returns: the one that is there now.
    func loadOrStore(_ id: NSManagedObjectID) -> NSManagedObjectID {
        let made = UInt(bitPattern: Unmanaged.passRetained(id).toOpaque())
        let (isStored, _) = address.compareExchange(expected: 0, desired: made, ordering: .acquiringAndReleasing)
        if isStored { return id }
        Self.release(made)
        return load() ?? id
    }

    /// Keeps `id` in the place of what is there, and gives that.
    func replace(by id: NSManagedObjectID) -> NSManagedObjectID? {
        let new = UInt(bitPattern: Unmanaged.passRetained(id).toOpaque())
        let old = address.exchange(new, ordering: .acquiringAndReleasing)
        return UnsafeRawPointer(bitPattern: old).map { Unmanaged<NSManagedObjectID>.fromOpaque($0).takeRetainedValue() }
    }

    private static func release(_ address: UInt) {
        UnsafeRawPointer(bitPattern: address).map { Unmanaged<NSManagedObjectID>.fromOpaque($0).release() }
    }
}

/// What an object needs for a while only, one at a time: a fault waits for its row, an object with a row may change.
enum ObjectCompanion {
    case none
    case batch(FaultBatch)
    case baseline(EventBaseline)
}

extension NSManagedObject {
    /// What the object was when the current event first changed it.
    final var baseline: EventBaseline? {
        get {
            if case .baseline(let baseline) = companion { return baseline }
            return nil
        }
        set {
            if let newValue {
                companion = .baseline(newValue)
            } else if case .baseline = companion {
                companion = .none
            }
        }
    }

    /// The objects of the same fetch whose rows are read along when this one's is, if it came without.
    final var faultBatch: FaultBatch? {
        get {
            if case .batch(let batch) = companion { return batch }
            return nil
        }
        set {
            if case .baseline = companion { return }
            companion = newValue.map(ObjectCompanion.batch) ?? .none
        }
    }
}
