/// The values of one row as its store last had them, and the row's version. In a context that has a parent, the values of the
/// parent's object, its unsaved ones too.
///
/// Immutable, and shared by every object that stands for the row: an object copies the values on its first write.
/// `values` has one entry per slot of the entity's ``EntityLayout``, in slot order; transient slots have their
/// default value.
final class RowSnapshot: Sendable {
    let values: [SlotValue]

    /// The optimistic-lock counter: 1 after the insert, one more with every saved update. In SQLite the column `Z_OPT`.
    let version: Int64

    /// Whether the row holds what a parent context has not saved: then no store has ever had it.
    let isUnsaved: Bool

    init(values: [SlotValue], version: Int64, isUnsaved: Bool = false) {
        self.values = values
        self.version = version
        self.isUnsaved = isUnsaved
    }
}
