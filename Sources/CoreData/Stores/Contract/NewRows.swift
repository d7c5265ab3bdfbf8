/// Rows that a batch inserts, with their values in one array.
struct NewRows {
    /// The number of slots of the entity's layout.
    let width: Int
    private(set) var count = 0
    /// The values, `width` for each row.
    var values: [SlotValue] = []
    /// For each row, the slots that the program gave a value for; empty if not needed.
    var given: [Set<Int>] = []

    init(width: Int, capacity: Int) {
        self.width = width
        values.reserveCapacity(width * capacity)
    }

    /// Adds a row.
    ///
    /// - Returns: the index of the row's first value.
    mutating func append(_ row: [SlotValue]) -> Int {
        count += 1
        values.append(contentsOf: row)
        return values.count - width
    }
}
