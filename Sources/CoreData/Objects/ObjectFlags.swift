/// The state of a managed object as bits of one word, including its membership in the lists of the context's change
/// tracker (see ``ObjectList``).
struct ObjectFlags: OptionSet {
    let rawValue: UInt32

    /// The values are not in memory, or were not accessed yet.
    static let fault = ObjectFlags(rawValue: 1 << 0)
    /// The row exists in the store.
    static let stored = ObjectFlags(rawValue: 1 << 1)
    /// Changes are not tracked: the object awakes from a fetch, and values that are set belong to its initial values.
    static let awakening = ObjectFlags(rawValue: 1 << 2)
    /// `awakeFromInsert` was called, which happens once per object.
    static let awoken = ObjectFlags(rawValue: 1 << 3)
    /// `awakeFromInsert` is running: values set without hooks belong to the initial values.
    static let awakeningFromInsert = ObjectFlags(rawValue: 1 << 11)
    /// The object's row no longer exists. The object is not validated, and its deletion is neither propagated nor
    /// undone.
    static let inaccessible = ObjectFlags(rawValue: 1 << 4)
    /// Deleted before it was ever saved. Such an object is in no list of unsaved changes.
    static let dropped = ObjectFlags(rawValue: 1 << 5)
    /// Marked by `detectConflicts(for:)`.
    static let locked = ObjectFlags(rawValue: 1 << 6)

    /// Inserted in the event that is being posted.
    static let newInEvent = ObjectFlags(rawValue: 1 << 7)

    /// A read of the object was tracked: its observers are notified of changes.
    static let observed = ObjectFlags(rawValue: 1 << 24)

    // Set while the object is among the context's unsaved insertions, updates or deletions.
    static let inserted = ObjectFlags(rawValue: 1 << 8)
    static let updated = ObjectFlags(rawValue: 1 << 9)
    static let deleted = ObjectFlags(rawValue: 1 << 10)

    // Members of the current event's changes.
    static let pendingInserted = ObjectFlags(rawValue: 1 << 12)
    static let pendingUpdated = ObjectFlags(rawValue: 1 << 13)
    static let pendingDeleted = ObjectFlags(rawValue: 1 << 14)
    static let pendingRefreshed = ObjectFlags(rawValue: 1 << 15)

    /// For each of the seven list flags, the bit that is set while the list's array contains the object.
    static let listedShift: UInt32 = 8
    var listed: ObjectFlags { ObjectFlags(rawValue: rawValue << Self.listedShift) }

    /// All list flags, and the bits of their arrays.
    static let lists: ObjectFlags = {
        let all = unsaved.union(pending)
        return all.union(all.listed)
    }()

    static let unsaved: ObjectFlags = [.inserted, .updated, .deleted]
    static let pending: ObjectFlags = [.pendingInserted, .pendingUpdated, .pendingDeleted, .pendingRefreshed]
}
