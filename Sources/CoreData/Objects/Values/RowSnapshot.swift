import Foundation

/// The values of one row as last read or saved, and the row's version. In a context with a parent, the values of the
/// parent's object, including unsaved ones.
///
/// Immutable, because all objects of the row share it, in several contexts and threads, without a lock. An object copies
/// the values on its first write; its snapshot remains the state to compare with. One block of memory in which the
/// values follow the head, because a list has one per row; see ``PackedValues``.
// SAFETY: immutable once `make` has filled its block.
// SAFETY: only `make` creates instances, with the block's memory filled by a `Writer`. Code that reads the block keeps
// the row alive; callers of `packed` promise to do so.
package final class RowSnapshot: @unchecked Sendable {
    private typealias Block = ManagedBufferPointer<Int64, UInt64>

    // An instance has no contents outside its block, which `make` creates.
    private init() { preconditionFailure("Use RowSnapshot.make(…) instead of init().") }

    /// The optimistic-lock counter: 1 after the insert, increased by every saved update. In SQLite the column `Z_OPT`.
    package var version: Int64 { Block(unsafeBufferObject: self).header }

    /// The values in place, valid while the row is retained.
    @inline(__always)
    var packed: PackedValues {
        PackedValues(words: Block(unsafeBufferObject: self).withUnsafeMutablePointerToElements { $0 })
    }

    /// True if the row has values that a parent context has not saved, and so no store has had.
    var isUnsaved: Bool { withExtendedLifetime(self) { packed.isUnsaved } }

    var count: Int { withExtendedLifetime(self) { packed.count } }

    /// One entry per slot of the entity's ``EntityLayout``, in slot order. Transient slots have their default value.
    package var values: RowValues { RowValues(row: self) }

    /// The value in one slot. Inlined, because every access to a property calls it.
    @inline(__always)
    package func value(_ slot: Int) -> SlotValue { withExtendedLifetime(self) { packed.value(slot) } }

    /// The integer in one slot; `nil` if its value is of another kind.
    @inline(__always)
    func integer(_ slot: Int) -> Int64? { withExtendedLifetime(self) { packed.integer(slot) } }

    /// Calls `body` with the text in a slot, if it has one, without copying it.
    @inline(__always)
    func withText<Result>(_ slot: Int, _ body: (borrowing String) -> Result) -> Result? {
        withExtendedLifetime(self) { packed.withText(slot, body) }
    }

    /// A copy of the values in an array.
    var array: [SlotValue] {
        withExtendedLifetime(self) {
            // Nulls may be overwritten. An uninitialised array would be allocated by code that is not specialised for
            // its type.
            var values = [SlotValue](repeating: .null, count: packed.count)
            values.withUnsafeMutableBufferPointer { packed.copy(to: $0) }
            return values
        }
    }

    /// Initialises memory for all values of the row.
    func copy(to values: UnsafeMutableBufferPointer<SlotValue>) {
        withExtendedLifetime(self) { packed.copy(to: values) }
    }

    deinit { packed.deinitialize() }

    // MARK: Creating rows

    /// - Parameter write: Appends `count` values, or throws.
    @inline(__always)
    package static func make(
        version: Int64, count: Int, isUnsaved: Bool = false, write: (inout PackedValues.Writer) throws -> Void
    ) rethrows -> RowSnapshot {
        let capacity = PackedValues.greatestWordCount(count)
        return try withUnsafeTemporaryAllocation(of: UInt64.self, capacity: capacity) { words in
            // A temporary allocation of this size has an address.
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

    /// Creates a row in which every slot is null.
    static func blank(_ layout: EntityLayout) -> RowSnapshot {
        make(repeatElement(SlotValue.null, count: layout.slots.count), version: 0)
    }

    /// Creates a row from the words of packed values, which are moved.
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
