/// The places of many rows in an array, for walks over whole lists.
///
/// Design. Where the rows' codes stand close together, as primary keys do, their places stand in one array at the code's
/// distance from the lowest: a look-up is a subtraction and a load. Rows of several entities have a span each. Codes far apart
/// are hashed.
struct RowNumbers {
    private struct Span {
        let low: UInt64
        var high: UInt64
        var offset = 0
    }

    private static let none = UInt32.max
    /// Rows of one entity, or without a key, have these bits in common.
    private static let entityShift: UInt64 = 48
    private static let mostSpans = 4
    /// So many times as many places as rows are made at most.
    private static let mostRoom = 4

    private var spans: [Span] = []
    private var places: [UInt32] = []
    private var hashed: [RowToken: UInt32]?

    /// - Parameters:
    ///   - rows: the rows, each once.
    ///   - walked: how many rows will be looked up.
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

    /// Puts the spans one behind the other.
    ///
    /// - Returns: what they take together; `nil` if that is too much.
    private mutating func roomOfSpans(below limit: Int) -> Int? {
        var room = 0
        for number in spans.indices {
            spans[number].offset = room
            room += Int(spans[number].high - spans[number].low) + 1
            guard room <= limit else { return nil }
        }
        return room
    }

    /// - Returns: whether there are few.
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

    /// The place of `row`; `nil` if it is none of them.
    @inline(__always)
    subscript(row: RowToken) -> Int? {
        if let hashed { return hashed[row].map(Int.init) }
        guard let place = place(of: row) else { return nil }
        let number = places[place]
        return number == Self.none ? nil : Int(number)
    }
}

extension ListContents {
    /// A look-up in the tree takes as long as so many steps of a walk over all rows.
    private static let stepsOfLookUp = 64
    private static let alwaysFew = 4

    /// For each of `wanted` that is in the list: its position in the whole list, and its index in `wanted`; ascending by
    /// position. O(log n) for each, or one walk over the list where they are many.
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
