import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// Rows sorted in memory have SQLite's order, whatever their columns contain.
@Suite struct RowSorterTests {
    private static let columns = 3
    private let connection: Connection

    init() throws {
        connection = try Connection(path: ":memory:", access: .create)
        try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, c0, c1, c2)")
    }

    /// Values that are close to each other and at the limits of SQLite's comparisons.
    private static let special: [SQLiteValue] = {
        let numbers: [Int64] = [
            0, 1, -1, 2, 255, 256, .min, .min + 1, .max, .max - 1, 1 << 53, 1 << 53 + 1, 1 << 53 - 1, -(1 << 53),
            -(1 << 53) - 1,
            1 << 62, 1 << 62 + 1,
        ]
        let reals: [Double] = [
            0, -0.0, 0.5, -0.5, 1, 1.5, 255.5, 0x1p53, -0x1p53, 0x1p53 + 2, 0x1p62, 0x1p63, -0x1p63, 0x1p64, -0x1p64,
            .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
        ]
        let texts = [
            "", "a", "aa", "ab", "a\0", "a\0b", "a\u{1}", "a\u{2}", "\0", "\0\0", "\u{1}", "\u{1}\u{1}", "Zone 00001",
            "Zone 00001a", "Zone 00002", "naïve", "漢字", "🇧🇷", "0123456\0", "01234567\u{1}9", "0123456789abcdef",
            "0123456789abcdeg",
        ]
        let blobs =
            texts.map { SQLiteValue.blob(Data($0.utf8)) } + [.blob(Data([255, 255])), .blob(Data([255, 254]))]
        return [.null] + numbers.map { .integer($0) } + reals.map { .real($0) } + texts.map { .text($0) } + blobs
    }()

    private func fill(_ count: Int, _ random: inout SeededGenerator, _ value: (inout SeededGenerator) -> SQLiteValue)
        throws
    {
        try connection.execute("DELETE FROM t")
        for _ in 0..<count {
            let values = (0..<Self.columns).map { _ in value(&random) }
            try connection.execute("INSERT INTO t (c0, c1, c2) VALUES (?, ?, ?)", values)
        }
    }

    private func expectTheOrderOfSQLite(_ ascending: [Bool]) throws {
        let terms = ascending.enumerated().map { "c\($0)" + ($1 ? "" : " DESC") }
        let expected = try connection.rows("SELECT id FROM t ORDER BY \((terms + ["id"]).joined(separator: ", "))").map
        { $0[0] }
        let sorter = RowSorter(columns: ascending.enumerated().map { SortColumn(index: $0 + 1, isAscending: $1) })
        var keys: [Int64] = []
        try connection.withStatement("SELECT id, c0, c1, c2 FROM t ORDER BY id % 7, id") { statement in
            while try statement.step() {
                keys.append(statement.integer(at: 0))
                #expect(sorter.append(statement))
            }
        }
        let sorted = sorter.order(keys).map { SQLiteValue.integer(keys[$0]) }
        #expect(sorted == expected, "sorted by \(terms)")
    }

    private static let directions = [[true], [false], [true, false], [false, true, true], [true, true, false]]

    @Test(arguments: [UInt64(1), 2, 3]) func valuesOfAllKindsHaveSQLitesOrder(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        try fill(600, &random) { Self.special.randomElement(using: &$0)! }
        for ascending in Self.directions { try expectTheOrderOfSQLite(ascending) }
    }

    /// Rows with equal beginnings, so that several words must be compared.
    @Test func similarRowsHaveSQLitesOrder() throws {
        var random = SeededGenerator(seed: 4)
        try fill(400, &random) { random in
            .text(
                String(repeating: "same ", count: Int.random(in: 3...4, using: &random))
                    + "\(Int.random(in: 0...3, using: &random))")
        }
        for ascending in Self.directions { try expectTheOrderOfSQLite(ascending) }
    }

    @Test(arguments: [0, 1]) func noRowAndOneRowAreSorted(_ count: Int) throws {
        var random = SeededGenerator(seed: 5)
        try fill(count, &random) { _ in .text("x") }
        try expectTheOrderOfSQLite([true, false])
    }

    @Test(arguments: [true, false]) func adjacentEqualValuesAreCounted(_ isAscending: Bool) throws {
        var random = SeededGenerator(seed: 6)
        let texts = ["", "a", "a\0", "a\u{1}b", "漢字", "Zone 00001", "Zone 00002"]
        try fill(200, &random) { random in
            random.next() % 9 == 0 ? .null : .text(texts.randomElement(using: &random)!)
        }
        let expected = try connection.rows(
            "SELECT c0, COUNT(*) FROM t GROUP BY c0 ORDER BY c0 \(isAscending ? "" : "DESC")")
        let sorter = RowSorter(columns: [
            SortColumn(index: 1, isAscending: isAscending), SortColumn(index: 2, isAscending: true),
        ])
        var keys: [Int64] = []
        try connection.withStatement("SELECT id, c0, c1 FROM t") { statement in
            while try statement.step() {
                keys.append(statement.integer(at: 0))
                _ = sorter.append(statement)
            }
        }
        let order = sorter.order(keys)
        let groups = sorter.groups(in: order)
        #expect(groups.map(\.value) == expected.map { $0[0] })
        #expect(groups.map { SQLiteValue.integer(Int64($0.count)) } == expected.map { $0[1] })
    }

    /// A number is the same whether it is stored exactly or not.
    @Test(arguments: [true, false]) func valuesAreReadAsTheyWereSaved(_ isAscending: Bool) throws {
        for value in Self.special {
            try connection.execute("DELETE FROM t")
            try connection.execute("INSERT INTO t (c0) VALUES (?)", [value])
            let sorter = RowSorter(columns: [SortColumn(index: 0, isAscending: isAscending)])
            try connection.withStatement("SELECT c0 FROM t") { statement in
                while try statement.step() { _ = sorter.append(statement) }
            }
            let group = try #require(sorter.groups(in: sorter.order([1])).first)
            let found = try connection.rows("SELECT ? = ?, typeof(?)", [group.value, value, value])[0]
            #expect(found[0] == (value == .null ? .null : .integer(1)), "\(value) became \(group.value)")
            if case .text = value { #expect(group.value == value) }
        }
    }

    @Test func changesOfAColumnAreSeen() throws {
        var random = SeededGenerator(seed: 8)
        try fill(500, &random) { random in
            random.next() % 3 == 0 ? Self.special.randomElement(using: &random)! : .text("often")
        }
        var run = ColumnRun(column: 0)
        var last: SQLiteValue?
        try connection.withStatement("SELECT c0 FROM t ORDER BY id") { statement in
            while try statement.step() {
                let value = statement.value(at: 0)
                // Zero has two forms, which are equal here but are different to the run.
                #expect(run.goesOn(statement) == (value == last) || value == .real(0))
                last = value
            }
        }
    }
}
