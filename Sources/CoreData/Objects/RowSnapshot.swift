/// The values of one row as its store last had them, and the row's version.
///
/// Immutable, and shared by every object that stands for the row: an object copies the values on its first write.
/// `values` has one entry per slot of the entity's ``EntityLayout``, in slot order; transient slots are `null`.
final class RowSnapshot: Sendable {
    let values: [SlotValue]

    /// The optimistic-lock counter: 1 after the insert, one more with every saved update. In SQLite the column `Z_OPT`.
    let version: Int64

    init(values: [SlotValue], version: Int64) {
        self.values = values
        self.version = version
    }
}
