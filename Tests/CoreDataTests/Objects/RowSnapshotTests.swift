import Foundation
import Testing

@testable import CoreData

/// Row snapshots store their values packed: each is read back unchanged from any slot.
@Suite struct RowSnapshotTests {
    /// One value of each kind; texts and data both with separate memory and without.
    private static let values: [SlotValue] = [
        .null, .integer(.min), .real(-0.5), .text("short"), .text(String(repeating: "界🌍", count: 40)), .data(Data()),
        .data(Data(repeating: 7, count: 1000)), .uuid(UUID()),
        .decimal(NSDecimalNumber(string: "12345678901234567890.5")),
        .object(NSArray(array: [1, 2])), .integer(0), .text(""), .null, .null, .real(.infinity),
    ]

    @Test(arguments: [0, 1, 2, 4, 5, 6, 12, 13, 14, 20, 21, 22, 200, 3000])
    func everyValueIsReadBackUnchanged(count: Int) {
        for shift in 0..<Self.values.count {
            let values = (0..<count).map { Self.values[($0 * 7 + shift) % Self.values.count] }
            let row = RowSnapshot.make(values, version: Int64(shift), isUnsaved: shift % 2 == 1)
            #expect(row.count == count && row.version == Int64(shift) && row.isUnsaved == (shift % 2 == 1))
            #expect(row.array == values)
            #expect(values.indices.allSatisfy { row.value($0) == values[$0] })
            #expect(Array(row.values) == values)
        }
    }

    @Test func nothingButNull() {
        for count in 0..<40 {
            let row = RowSnapshot.make(repeatElement(SlotValue.null, count: count), version: .max)
            #expect(row.values.allSatisfy(\.isNull) && row.count == count && row.version == .max)
        }
    }

    @Test func valuesAreReleasedWithTheirRow() {
        final class Held: NSObject {}
        weak var first: Held?
        weak var second: Held?
        var kept: SlotValue?
        do {
            let held = (Held(), Held())
            (first, second) = (held.0, held.1)
            var row: RowSnapshot? = .make([.object(held.0), .null, .object(held.1)], version: 1)
            kept = row?.value(2)
            row = nil
        }
        #expect(first == nil && second != nil, "the value that was read outlives its row")
        kept = nil
        #expect(second == nil && kept == nil)
    }

    /// Sizes that the memory limits in `performance.md` rely on.
    @Test func theSizeOfARowIsThatOfItsValues() {
        #expect(MemoryLayout<String>.size == 16 && MemoryLayout<Data>.size <= 16 && MemoryLayout<UUID>.size == 16)
        let values: [SlotValue] = [.integer(1), .real(2), .text("a name"), .null, .text("a zone")]
        let memory = UnsafeMutablePointer<UInt64>.allocate(capacity: PackedValues.greatestWordCount(values.count))
        defer { memory.deallocate() }
        var writer = PackedValues.Writer(memory, count: values.count, isUnsaved: false)
        for value in values { writer.append(value) }
        #expect(writer.wordCount == 1 + 1 + 1 + 2 + 0 + 2)
        PackedValues(words: memory).deinitialize()
    }
}
