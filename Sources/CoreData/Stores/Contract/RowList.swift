/// Rows in the order of a result, which can be moved out one at a time.
///
/// Rows are in memory in the order in which their store read them, usually that of its table. Retaining each row in the
/// order of the result would miss the cache and cost up to a third of the reading, so code that builds or consumes a
/// list moves the rows.
package struct RowList: RandomAccessCollection, RangeReplaceableCollection, ExpressibleByArrayLiteral {
    /// The rows; an element is `nil` only while rows are being moved out.
    private var rows: [RowSnapshot?] = []

    package init() {}

    package init(arrayLiteral elements: RowSnapshot...) { rows = elements }

    /// Takes all rows of `source` in their order. None may be `nil`.
    init(taking source: inout [RowSnapshot?]) { swap(&rows, &source) }

    /// Moves the rows at `places` out of `source`, leaving `nil` there.
    ///
    /// - Parameter places: distinct indexes; those of `nil` are skipped.
    /// - Parameter body: called with each index whose row was moved.
    // SAFETY: places are below the count of `source`, each once. What is moved out is replaced by `nil` at once, so
    // that all of `source` stays initialised.
    init(
        taking places: some Collection<Int>, outOf source: inout [RowSnapshot?], _ body: (Int) -> Void = { _ in }
    ) {
        // Creating an array without capacity writes to the count of the empty array that all threads share.
        if places.isEmpty {
            rows = []
            return
        }
        rows = source.withUnsafeMutableBufferPointer { source in
            [RowSnapshot?](unsafeUninitializedCapacity: places.count) { rows, count in
                for (index, place) in places.enumerated() where source[place] != nil {
                    rows.initializeElement(at: count, to: source.moveElement(from: place))
                    source.initializeElement(at: place, to: nil)
                    count += 1
                    body(index)
                }
            }
        }
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { rows.count }

    package subscript(position: Int) -> RowSnapshot {
        guard let row = rows[position] else { preconditionFailure("A row was already moved out of the list.") }
        return row
    }

    package mutating func reserveCapacity(_ count: Int) { rows.reserveCapacity(count) }

    package mutating func append(_ row: consuming RowSnapshot) { rows.append(row) }

    package mutating func replaceSubrange(_ range: Range<Int>, with elements: some Collection<RowSnapshot>) {
        rows.replaceSubrange(range, with: elements.lazy.map(Optional.some))
    }

    /// Moves one row out, leaving `nil` in its place.
    // SAFETY: `position` is below the count; what is moved out is replaced by `nil` at once.
    @inline(__always)
    mutating func take(at position: Int) -> RowSnapshot? {
        // A variable, because a closure's result would be retained.
        var row: RowSnapshot?
        rows.withUnsafeMutableBufferPointer { rows in
            row = rows.moveElement(from: position)
            rows.initializeElement(at: position, to: nil)
        }
        return row
    }
}
