import Foundation
import Testing

@testable import CoreData

/// Numbers that represent the values of several sort keys.
@Suite struct SortWordsTests {
    private typealias Column = (values: [SlotValue], isAscending: Bool)

    /// If two numbers differ, their order is that of the rows. If they are equal, the rows are equal in all keys that
    /// the numbers represent.
    private func check(_ columns: [Column], count: Int, told: Int? = nil, _ note: Comment) {
        var words = SortWords(count: count)
        var appended = 0
        for column in columns {
            appended += 1
            if !words.append(column.values, isAscending: column.isAscending) { break }
        }
        if let told { #expect(words.toldCount == told, note) }
        for left in 0..<count {
            for right in 0..<count {
                let order = Self.order(columns.prefix(appended), left, right)
                switch (words.all[left], words.all[right]) {
                case (let one, let other) where one < other: #expect(order == .orderedAscending, note)
                case (let one, let other) where one > other: #expect(order == .orderedDescending, note)
                default: #expect(Self.order(columns.prefix(words.toldCount), left, right) == .orderedSame, note)
                }
            }
        }
    }

    private static func order(_ columns: some Sequence<Column>, _ left: Int, _ right: Int) -> ComparisonResult {
        for column in columns {
            let result = order(column.values[left], column.values[right])
            if result != .orderedSame { return result.directed(column.isAscending) }
        }
        return .orderedSame
    }

    private static func order(_ left: SlotValue, _ right: SlotValue) -> ComparisonResult {
        switch (left, right) {
        case (.null, .null): .orderedSame
        case (.null, _): .orderedAscending
        case (_, .null): .orderedDescending
        case (.integer(let left), .integer(let right)): ValueOrder.order(left, right)
        case (.real(let left), .real(let right)): ValueOrder.order(left, right)
        case (.text(let left), .text(let right)): TextBytes.compare(left, right)
        case (.data(let left), .data(let right)): TextBytes.compare(left, right)
        default: .orderedSame
        }
    }

    @Test func fewValuesTakeFewBits() {
        let zones: [SlotValue] = (0..<60).map { .text("Zone 0\($0 % 7)1") }
        let wins: [SlotValue] = (0..<60).map { .integer(Int64($0 * 17 % 1000)) }
        let days: [SlotValue] = (0..<60).map { .real(Double($0 % 4) * -86_400) }
        check([(zones, true), (wins, false)], count: 60, told: 2, "a section's name and a number")
        check([(wins, true), (days, false), (zones, true)], count: 60, "a day takes the rest")
        check([(zones, true), (zones, false), (zones, true), (wins, true)], count: 60, told: 4, "the same again")
    }

    @Test func extremesAreInOrder() {
        let numbers: [SlotValue] = [.integer(.min), .integer(-1), .integer(0), .integer(1), .integer(.max)]
        check([(numbers, true), (numbers, false)], count: 5, told: 1, "all bits")
        check([(numbers + [.null], false)], count: 6, told: 0, "one value more than there are numbers")
        let reals = [-Double.infinity, -1e300, -1, -0.0, 0, .leastNonzeroMagnitude, 1, 1e300, .infinity]
        check([(reals.map(SlotValue.real), true)], count: 9, told: 1, "reals")
        check([(reals.map(SlotValue.real) + [.null], false)], count: 10, "reals and nothing")
        check([([.real(1), .real(.nan)], true)], count: 2, told: 0, "no number")
        check([([.integer(1), .text("1")], true)], count: 2, told: 0, "two kinds")
        check([([.null, .null], true), ([.integer(2), .integer(1)], true)], count: 2, told: 2, "nothing")
        check([([], true)], count: 0, told: 1, "no rows")
    }

    @Test func ambiguousTextsEndTheNumber() {
        let texts = ["", "\u{0}", "a", "a\u{0}", "a\u{0}\u{0}", "a\u{1}", "aa"].map(SlotValue.text)
        check([(texts, true), (texts, false)], count: 7, told: 0, "with zeros")
        check([(texts + [.null], true)], count: 8, told: 0, "empty or nothing")
        let long = ["Mannschaft", "Mannschaften", "Mannschaft 1", "Mannschaft und mehr"].map(SlotValue.text)
        check([(long, true)], count: 4, told: 0, "longer than a number")
        check([(["中", "é", "e\u{301}", "😀"].map(SlotValue.text), false)], count: 4, told: 1, "not ASCII")
        check([([Data([0xFF]), Data([0xFE, 1]), Data([0xFE])].map(SlotValue.data), true)], count: 3, told: 1, "bytes")
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func randomColumns(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<60 {
            let count = Int.random(in: 1...24, using: &random)
            let columns = (0..<Int.random(in: 1...4, using: &random)).map { _ -> Column in
                let kind = Int.random(in: 0..<4, using: &random)
                let hasNull = random.chance(30)
                let spread = random.pick([1, 3, 1000, Int.max / 2])
                let values = (0..<count).map { _ -> SlotValue in
                    if hasNull, random.chance(20) { return .null }
                    let number = Int.random(in: -spread...spread, using: &random)
                    return switch kind {
                    case 0: .integer(Int64(number))
                    case 1: .real(Double(number) / 8)
                    case 2: .text("group \(abs(number))")
                    default: .text(String(number, radix: 36))
                    }
                }
                return (values, random.chance(50))
            }
            check(columns, count: count, "seed \(seed): \(columns)")
        }
    }
}
