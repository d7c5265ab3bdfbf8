/// The values by which rows are ordered, of many rows: one after the other in one list, so that a row costs no array.
///
/// Made and read by an ``ObjectOrdering``; a row is known by its number, in the order in which the rows were added.
struct SortValues {
    /// How many values each row has: one for each sort key.
    let width: Int
    private(set) var all: [SlotValue] = []
    /// How many rows there are.
    private(set) var count = 0

    init(width: Int, capacity: Int) {
        self.width = width
        all.reserveCapacity(width * capacity)
    }

    @inline(__always)
    mutating func append(_ value: SlotValue) { all.append(value) }

    /// The values of a row are complete.
    mutating func endRow() { count += 1 }
}
