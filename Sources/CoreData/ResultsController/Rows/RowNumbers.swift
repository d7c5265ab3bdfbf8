/// The indices of many rows in an array, for walks over whole lists.
///
/// Design. If the rows' codes are close together, as primary keys are, their indices are in one array at the code's
/// distance from the lowest: a look-up is a subtraction and a load. Rows of several entities have a span each. Codes
/// that are far apart are hashed.
struct RowNumbers {
    private struct Span {
        let low: UInt64
        var high: UInt64
        var offset = 0
    }

    private static let none = UInt32.max
    /// The shift that leaves the bits which rows of one entity, or without a key, have in common.
    private static let entityShift: UInt64 = 48
    private static let mostSpans = 4
    /// The greatest ratio of places to rows.
    private static let mostRoom = 4

    private var spans: [Span] = []
    private var places: [UInt32] = []
    private var hashed: [RowToken: UInt32]?

    /// - Parameters:
    ///   - rows: the rows, each once.
    ///   - walked: the number of rows that will be looked up.
    init(_ rows: [RowToken], walked: Int) {
        guard findSpans(of: rows), let room = roomOfSpans(below: Self.mostRoom * max(rows.count, walked) + 1_024) else {
            hash(rows)
            return
        }
        places = Array(repeating: Self.none, count: room)
        for (number, row) in rows.enumerated() {
            guard let place = place(of: row) else { continue }
            places[place] = UInt32(number)
        }
    }

    /// Assigns adjacent offsets to the spans.
    ///
    /// - Returns: their total size; `nil` if that is too large.
    private mutating func roomOfSpans(below limit: Int) -> Int? {
        var room = 0
        for number in spans.indices {
            spans[number].offset = room
            room += Int(spans[number].high - spans[number].low) + 1
            guard room <= limit else { return nil }
        }
        return room
    }

    /// Finds the range of row codes of each entity.
    ///
    /// - Returns: True if there are few spans.
    private mutating func findSpans(of rows: [RowToken]) -> Bool {
        var found: [(low: UInt64, high: UInt64)] = []
        var last = 0
        for row in rows {
            let entity = row.code >> Self.entityShift
            if found.isEmpty || found[last].low >> Self.entityShift != entity {
                last = found.firstIndex { $0.low >> Self.entityShift == entity } ?? found.count
                if last == found.count {
                    guard last < Self.mostSpans else { return false }
                    found.append((row.code, row.code))
                }
            }
            if row.code < found[last].low { found[last].low = row.code }
            if row.code > found[last].high { found[last].high = row.code }
        }
        spans = found.map { Span(low: $0.low, high: $0.high) }
        return true
    }

    private mutating func hash(_ rows: [RowToken]) {
        var made: [RowToken: UInt32] = [:]
        made.reserveCapacity(rows.count)
        for (number, row) in rows.enumerated() { made[row] = UInt32(number) }
        hashed = made
    }

    @inline(__always)
    private func place(of row: RowToken) -> Int? {
        for span in spans where row.code >= span.low && row.code <= span.high {
            return span.offset + Int(row.code - span.low)
        }
        return nil
    }

    /// The index of `row`; `nil` if it is not in the array.
    @inline(__always)
    subscript(row: RowToken) -> Int? {
        if let hashed { return hashed[row].map(Int.init) }
        guard let place = place(of: row) else { return nil }
        let number = places[place]
        return number == Self.none ? nil : Int(number)
    }
}

extension ListContents {
    /// The number of steps of a walk over all rows that take as long as one look-up in the tree.
    private static let stepsOfLookUp = 64
    private static let alwaysFew = 4

    /// For each of `wanted` that is in the list: its position in the whole list, and its index in `wanted`; ascending
    /// by position. O(log n) for each, or one walk over the list if there are many.
    ///
    /// - Parameter wanted: the rows, each once.
    func positions(of wanted: [RowToken]) -> [(position: Int, number: Int)] {
        var found: [(position: Int, number: Int)] = []
        found.reserveCapacity(wanted.count)
        guard wanted.count > max(Self.alwaysFew, rowCount / Self.stepsOfLookUp) else {
            for (number, row) in wanted.enumerated() {
                if let position = rows.position(of: row.code) { found.append((position, number)) }
            }
            found.sort { $0.position < $1.position }
            return found
        }
        let numbers = RowNumbers(wanted, walked: rowCount)
        var position = 0
        rows.forEachLeaf { _, leaf in
            for row in leaf {
                if let number = numbers[row] { found.append((position, number)) }
                position += 1
            }
        }
        return found
    }
}
