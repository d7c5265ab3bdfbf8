import Foundation

/// The values of one row as its store last had them, and the row's version. In a context that has a parent, the values of the
/// parent's object, its unsaved ones too.
///
/// Immutable, and shared by every object that stands for the row: an object copies the values on its first write. One block
/// of memory in which the values follow the head, because a list has as many of these as rows; see ``PackedValues``.
// SAFETY: immutable once `make` has filled its block.
// SAFETY: `make` alone makes instances, with the block's memory filled by a `Writer`; what reads it is extended to hold
// the row, or promises so (`packed`).
package final class RowSnapshot: @unchecked Sendable {
    private typealias Block = ManagedBufferPointer<Int64, UInt64>

    // All that an instance has lies in its block: it is only ever made by `make`.
    private init() { preconditionFailure("A row is made with its values.") }

    /// The optimistic-lock counter: 1 after the insert, one more with every saved update. In SQLite the column `Z_OPT`.
    package var version: Int64 { Block(unsafeBufferObject: self).header }

    /// The values where they are: as long as the row is held.
    @inline(__always)
    var packed: PackedValues {
        PackedValues(words: Block(unsafeBufferObject: self).withUnsafeMutablePointerToElements { $0 })
    }

    /// Whether the row holds what a parent context has not saved: then no store has ever had it.
    var isUnsaved: Bool { withExtendedLifetime(self) { packed.isUnsaved } }

    var count: Int { withExtendedLifetime(self) { packed.count } }

    /// One entry per slot of the entity's ``EntityLayout``, in slot order; transient slots have their
    /// default value.
    package var values: RowValues { RowValues(row: self) }

    /// The value in one slot, without a detour: every access to a property ends here.
    @inline(__always)
    package func value(_ slot: Int) -> SlotValue { withExtendedLifetime(self) { packed.value(slot) } }

    /// The integer in one slot; `nil` if the slot holds no integer.
    @inline(__always)
    func integer(_ slot: Int) -> Int64? { withExtendedLifetime(self) { packed.integer(slot) } }

    /// Calls `body` with the text in a slot, if there is one, where it lies.
    @inline(__always)
    func withText<Result>(_ slot: Int, _ body: (borrowing String) -> Result) -> Result? {
        withExtendedLifetime(self) { packed.withText(slot, body) }
    }

    /// The values in an array of their own, to be changed.
    var array: [SlotValue] {
        withExtendedLifetime(self) {
            // What is null may be written over. An array without contents would be allocated by code that is not compiled
            // for its type.
            var values = [SlotValue](repeating: .null, count: packed.count)
            values.withUnsafeMutableBufferPointer { packed.copy(to: $0) }
            return values
        }
    }

    /// Initialises memory for as many values as there are.
    func copy(to values: UnsafeMutableBufferPointer<SlotValue>) {
        withExtendedLifetime(self) { packed.copy(to: values) }
    }

    deinit { packed.deinitialize() }

    // MARK: Making rows

    /// - Parameter write: appends `count` values, or throws.
    @inline(__always)
    package static func make(
        version: Int64, count: Int, isUnsaved: Bool = false, write: (inout PackedValues.Writer) throws -> Void
    ) rethrows -> RowSnapshot {
        let capacity = PackedValues.greatestWordCount(count)
        return try withUnsafeTemporaryAllocation(of: UInt64.self, capacity: capacity) { words in
            // Memory of that size has an address.
            let start = words.baseAddress.unsafelyUnwrapped
            var writer = PackedValues.Writer(start, count: count, isUnsaved: isUnsaved)
            do {
                try write(&writer)
            } catch {
                PackedValues(words: start).deinitialize()
                throw error
            }
            return make(moving: start, count: writer.wordCount, version: version)
        }
    }

    static func make(_ values: some Collection<SlotValue>, version: Int64, isUnsaved: Bool = false) -> RowSnapshot {
        make(version: version, count: values.count, isUnsaved: isUnsaved) { writer in
            for value in values { writer.append(value) }
        }
    }

    /// A row without any value.
    static func blank(_ layout: EntityLayout) -> RowSnapshot {
        make(repeatElement(SlotValue.null, count: layout.slots.count), version: 0)
    }

    /// Takes over the words of packed values.
    private static func make(moving words: UnsafeMutablePointer<UInt64>, count: Int, version: Int64) -> RowSnapshot {
        let block = Block(bufferClass: RowSnapshot.self, minimumCapacity: count) { _, _ in version }
        block.withUnsafeMutablePointerToElements { $0.moveInitialize(from: words, count: count) }
        return unsafeDowncast(block.buffer, to: RowSnapshot.self)
    }
}

/// The values of a row, as a list.
package struct RowValues: RandomAccessCollection, Sendable {
    let row: RowSnapshot

    package var startIndex: Int { 0 }
    package var endIndex: Int { row.count }
    package var indices: Range<Int> { 0..<row.count }
    package subscript(slot: Int) -> SlotValue { row.value(slot) }
    var array: [SlotValue] { row.array }
}
