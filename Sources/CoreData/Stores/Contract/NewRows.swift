/// Rows that a batch inserts, their values one after the other in one piece of memory.
struct NewRows {
    /// The number of slots of the entity's layout.
    let width: Int
    private(set) var count = 0
    /// `width` for each row.
    var values: [SlotValue] = []
    /// For each row the slots for which the program gave a value; empty where nothing asks for them.
    var given: [Set<Int>] = []

    init(width: Int, capacity: Int) {
        self.width = width
        values.reserveCapacity(width * capacity)
    }

    /// - Returns: where the row's values begin.
    mutating func append(_ row: [SlotValue]) -> Int {
        count += 1
        values.append(contentsOf: row)
        return values.count - width
    }
}
