/// The sort values of many rows in one list, so that no row needs its own array.
///
/// Made and read by an ``ObjectOrdering``. A row's number is its position in order of addition.
struct SortValues {
    /// The number of values per row: one for each sort key.
    let width: Int
    private(set) var all: [SlotValue] = []
    /// The number of rows.
    private(set) var count = 0

    init(width: Int, capacity: Int) {
        self.width = width
        all.reserveCapacity(width * capacity)
    }

    @inline(__always)
    mutating func append(_ value: SlotValue) { all.append(value) }

    /// Marks the values of a row as complete.
    mutating func endRow() { count += 1 }
}
