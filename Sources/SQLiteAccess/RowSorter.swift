import CSQLite3

/// A column whose values rows are sorted by.
package struct SortColumn: Sendable {
    package let index: Int
    package let isAscending: Bool

    package init(index: Int, isAscending: Bool) {
        self.index = index
        self.isAscending = isAscending
    }
}

/// Puts rows in order by the values of some columns, as SQLite's `ORDER BY` with its BINARY collation does.
///
/// Design. SQLite's sorter takes twice as long. The values of a row are written one behind the other as bytes whose order is
/// that of the values, see ``SortBytes``; so two rows are compared by comparing memory, and usually by one word of it:
/// the eight bytes behind those that all rows begin with. Rows are sorted by that word digit by digit, and only those
/// that have the same one are compared.
package final class RowSorter {
    /// More than this SQLite sorts better, which puts what does not fit into memory into files.
    private static let mostBytes = 64 << 20
    /// Fewer rows are sorted by comparing them.
    private static let fewRows = 512

    private struct Entry: BitwiseCopyable {
        /// The eight bytes behind the common ones.
        let word: UInt64
        let row: UInt32
    }

    private let columns: [SortColumn]
    // Each row passes through these.
    // SAFETY: one caller at a time, and no code of the caller's runs in between: no accesses overlap.
    @exclusivity(unchecked)
    private var bytes = SortBytes()
    /// Where each row's bytes begin, and the last one's end.
    @exclusivity(unchecked)
    private var starts: [UInt32] = [0]
    /// How many bytes all rows have in common at their beginning.
    @exclusivity(unchecked)
    private var common = Int.max

    package init(columns: [SortColumn]) { self.columns = columns }

    private var rowCount: Int { starts.count - 1 }

    /// Notes the values of the statement's current row.
    ///
    /// - Returns: `false` if the rows are too many to be sorted here.
    package func append(_ statement: Statement) -> Bool {
        let start = bytes.count
        for column in columns { bytes.append(statement.handle, column) }
        common = bytes.commonCount(0..<min(common, bytes.count - start), start)
        starts.append(UInt32(bytes.count))
        return bytes.count <= Self.mostBytes
    }

    /// The places of the rows in order.
    ///
    /// - Parameter references: a number for each row: what is the same otherwise is sorted by these, ascending.
    // SAFETY: both arrays outlive the closures, and rows are below `rowCount`, the count of `references`.
    package func order(_ references: [Int64]) -> [Int] {
        precondition(references.count == rowCount, "a number for each row")
        let word = common == .max ? 0 : common
        var entries = (0..<rowCount).map { row in
            Entry(word: bytes.word(at: Int(starts[row]) + word, end: Int(starts[row + 1])), row: UInt32(row))
        }
        starts.withUnsafeBufferPointer { starts in
            references.withUnsafeBufferPointer { references in
                /// The bytes behind the word.
                func rest(_ row: Int) -> Range<Int> {
                    let start = Int(starts[row]) + word + 8
                    return start..<max(start, Int(starts[row + 1]))
                }
                func isBefore(_ left: Entry, _ right: Entry) -> Bool {
                    if left.word != right.word { return left.word < right.word }
                    let one = Int(left.row), other = Int(right.row)
                    let order = bytes.compare(rest(one), rest(other))
                    return order == 0 ? references[one] < references[other] : order < 0
                }
                if entries.count <= Self.fewRows { return entries.sort(by: isBefore) }
                entries = Self.sortedByWord(entries)
                Self.forEachRun(of: entries) { entries[$0].sort(by: isBefore) }
            }
        }
        return entries.map { Int($0.row) }
    }

    /// Radix sort: least digit first, a byte each; bytes that are the same in all words are passed over.
    private static func sortedByWord(_ entries: [Entry]) -> [Entry] {
        var sorted = entries
        var other = entries
        let differing = entries.reduce(0) { $0 | ($1.word ^ entries[0].word) }
        for shift in stride(from: UInt64(0), to: 64, by: 8) where differing >> shift & 0xFF != 0 {
            var places = [Int](repeating: 0, count: 257)
            for entry in sorted { places[Int(entry.word >> shift & 0xFF) + 1] += 1 }
            for digit in 1..<257 { places[digit] += places[digit - 1] }
            for entry in sorted {
                let digit = Int(entry.word >> shift & 0xFF)
                other[places[digit]] = entry
                places[digit] += 1
            }
            swap(&sorted, &other)
        }
        return sorted
    }

    /// Calls `body` with the places of entries that have the same word.
    private static func forEachRun(of entries: [Entry], _ body: (Range<Int>) -> Void) {
        var start = 0
        for place in 1...entries.count where place == entries.count || entries[place].word != entries[start].word {
            if place - start > 1 { body(start..<place) }
            start = place
        }
    }

    /// The runs of equal values in `order` by the first column: each value, and how many rows from there on have it.
    package func groups(in order: [Int]) -> [(value: SQLiteValue, count: Int)] {
        guard let column = columns.first else { return [] }
        var groups: [(value: SQLiteValue, count: Int)] = []
        var current = 0..<0
        for row in order {
            let value = bytes.range(at: Int(starts[row]), column)
            if !groups.isEmpty && bytes.compare(value, current) == 0 {
                groups[groups.count - 1].count += 1
            } else {
                groups.append((bytes.value(at: value.lowerBound, column), 1))
                current = value
            }
        }
        return groups
    }
}
