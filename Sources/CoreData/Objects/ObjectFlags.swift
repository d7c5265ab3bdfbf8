/// The state of a managed object, one word of it: what would be a set of Booleans, and its place in the lists of the
/// context's change tracker (see ``ObjectList``).
struct ObjectFlags: OptionSet {
    let rawValue: UInt32

    /// The values are not here, or were not asked for yet.
    static let fault = ObjectFlags(rawValue: 1 << 0)
    /// The row exists in the store.
    static let stored = ObjectFlags(rawValue: 1 << 1)
    /// Changes are not tracked: the object awakes from a fetch, and what is set belongs to its starting values.
    static let awakening = ObjectFlags(rawValue: 1 << 2)
    /// `awakeFromInsert` was called, which happens once in a life.
    static let awoken = ObjectFlags(rawValue: 1 << 3)
    /// `awakeFromInsert` is running: values set without hooks belong to the starting values.
    static let awakeningFromInsert = ObjectFlags(rawValue: 1 << 11)
    /// An object that stands for a row that is gone: it is not validated, its deletion is not propagated and not
    /// undone.
    static let inaccessible = ObjectFlags(rawValue: 1 << 4)
    /// Deleted before it was ever saved: it is in no list of unsaved changes.
    static let dropped = ObjectFlags(rawValue: 1 << 5)
    /// Marked by `detectConflicts(for:)`.
    static let locked = ObjectFlags(rawValue: 1 << 6)

    /// Inserted in the event that is being posted.
    static let newInEvent = ObjectFlags(rawValue: 1 << 7)

    /// A read of the object was tracked: its observers are told of changes.
    static let observed = ObjectFlags(rawValue: 1 << 24)

    // Members of the unsaved changes.
    static let inserted = ObjectFlags(rawValue: 1 << 8)
    static let updated = ObjectFlags(rawValue: 1 << 9)
    static let deleted = ObjectFlags(rawValue: 1 << 10)

    // Members of the current event's changes.
    static let pendingInserted = ObjectFlags(rawValue: 1 << 12)
    static let pendingUpdated = ObjectFlags(rawValue: 1 << 13)
    static let pendingDeleted = ObjectFlags(rawValue: 1 << 14)
    static let pendingRefreshed = ObjectFlags(rawValue: 1 << 15)

    /// For each of the seven members the bit that says that the object stands in the list's array.
    static let listedShift: UInt32 = 8
    var listed: ObjectFlags { ObjectFlags(rawValue: rawValue << Self.listedShift) }

    /// All that says in which lists the object is, or stands.
    static let lists: ObjectFlags = {
        let all = unsaved.union(pending)
        return all.union(all.listed)
    }()

    static let unsaved: ObjectFlags = [.inserted, .updated, .deleted]
    static let pending: ObjectFlags = [.pendingInserted, .pendingUpdated, .pendingDeleted, .pendingRefreshed]
}
