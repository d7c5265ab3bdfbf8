/// Rows in the order of a result, which can be given away one by one.
///
/// Rows lie in memory as their store read them, usually in the order of its table. To retain each in the order of the
/// result would wait for its memory, and take as long as a third of the reading; so what makes or uses up a list moves
/// its rows.
package struct RowList: RandomAccessCollection, RangeReplaceableCollection, ExpressibleByArrayLiteral {
    /// None is `nil` but while the list is given away.
    private var rows: [RowSnapshot?] = []

    package init() {}

    package init(arrayLiteral elements: RowSnapshot...) { rows = elements }

    /// Takes all rows of `source`, which are there, in their order.
    init(taking source: inout [RowSnapshot?]) { swap(&rows, &source) }

    /// Takes the rows at `places` out of `source`, and leaves `nil` there.
    ///
    /// - Parameter places: each once; what is `nil` there is passed over.
    /// - Parameter body: called with the index of each place whose row was taken.
    // SAFETY: places are below the count of `source`, each once. What is moved out is replaced by `nil` at once, so
    // that all of `source` stays initialised.
    init(
        taking places: some Collection<Int>, outOf source: inout [RowSnapshot?], _ body: (Int) -> Void = { _ in }
    ) {
        // An array made with no room writes the count of the empty array that all threads share.
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
        guard let row = rows[position] else { preconditionFailure("A row is used after it was given away.") }
        return row
    }

    package mutating func reserveCapacity(_ count: Int) { rows.reserveCapacity(count) }

    package mutating func append(_ row: consuming RowSnapshot) { rows.append(row) }

    package mutating func replaceSubrange(_ range: Range<Int>, with elements: some Collection<RowSnapshot>) {
        rows.replaceSubrange(range, with: elements.lazy.map(Optional.some))
    }

    /// Gives one row away: nothing is left in its place.
    // SAFETY: `position` is below the count; what is moved out is replaced by `nil` at once.
    @inline(__always)
    mutating func take(at position: Int) -> RowSnapshot? {
        // A variable, and not the closure's result, which would be retained.
        var row: RowSnapshot?
        rows.withUnsafeMutableBufferPointer { rows in
            row = rows.moveElement(from: position)
            rows.initializeElement(at: position, to: nil)
        }
        return row
    }
}
