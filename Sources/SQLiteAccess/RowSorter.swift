import CSQLite3

/// A column that rows are sorted by.
package struct SortColumn: Sendable {
    package let index: Int
    package let isAscending: Bool

    package init(index: Int, isAscending: Bool) {
        self.index = index
        self.isAscending = isAscending
    }
}

/// Sorts rows by the values of some columns, like SQLite's `ORDER BY` with the BINARY collation.
///
/// Design. SQLite's sorter takes twice as long. The values of a row are concatenated as bytes that sort like the
/// values, see ``SortBytes``; so two rows are compared by comparing memory, and usually one word of it: the eight bytes
/// after the prefix that all rows share. Rows are sorted by that word with a radix sort, and only those with the same
/// word are compared.
package final class RowSorter {
    /// Maximum number of bytes to sort in memory. For more, SQLite's sorter is better, since it uses files.
    private static let mostBytes = 64 << 20
    /// Maximum number of rows that are sorted by comparison; more rows are sorted by radix.
    private static let fewRows = 512

    private struct Entry: BitwiseCopyable {
        /// The eight bytes after the common prefix.
        let word: UInt64
        let row: UInt32
    }

    private let columns: [SortColumn]
    // Unchecked, since every row uses these.
    // SAFETY: one caller at a time, and no code of the caller runs in between, so accesses do not overlap.
    @exclusivity(unchecked)
    private var bytes = SortBytes()
    /// The start of each row's bytes, and the end of the last one's.
    @exclusivity(unchecked)
    private var starts: [UInt32] = [0]
    /// The length of the prefix that all rows share.
    @exclusivity(unchecked)
    private var common = Int.max

    package init(columns: [SortColumn]) { self.columns = columns }

    private var rowCount: Int { starts.count - 1 }

    /// Appends the values of the statement's current row.
    ///
    /// - Returns: `false` if there are too many rows to sort here.
    package func append(_ statement: Statement) -> Bool {
        let start = bytes.count
        for column in columns { bytes.append(statement.handle, column) }
        common = bytes.commonCount(0..<min(common, bytes.count - start), start)
        starts.append(UInt32(bytes.count))
        return bytes.count <= Self.mostBytes
    }

    /// The sorted numbers of the rows.
    ///
    /// - Parameter references: a number for each row, by which rows with equal values are sorted, ascending.
    // SAFETY: both arrays outlive the closures, and rows are below `rowCount`, the count of `references`.
    package func order(_ references: [Int64]) -> [Int] {
        precondition(references.count == rowCount, "a number for each row")
        let word = common == .max ? 0 : common
        var entries = (0..<rowCount).map { row in
            Entry(word: bytes.word(at: Int(starts[row]) + word, end: Int(starts[row + 1])), row: UInt32(row))
        }
        starts.withUnsafeBufferPointer { starts in
            references.withUnsafeBufferPointer { references in
                /// The bytes after the word.
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

    /// Radix sort: least significant byte first; bytes that are the same in all words are skipped.
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

    /// Calls `body` with each range of entries that have the same word.
    private static func forEachRun(of entries: [Entry], _ body: (Range<Int>) -> Void) {
        var start = 0
        for place in 1...entries.count where place == entries.count || entries[place].word != entries[start].word {
            if place - start > 1 { body(start..<place) }
            start = place
        }
    }

    /// The runs of equal values in `order` by the first column: each value, and the number of its rows.
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
