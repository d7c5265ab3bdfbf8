/// The values of one row as its store last had them, and the row's version. In a context that has a parent, the values of the
/// parent's object, its unsaved ones too.
///
/// Immutable, and shared by every object that stands for the row: an object copies the values on its first write. One block
/// of memory in which the values follow the head, because a list has as many of these as rows.
final class RowSnapshot: @unchecked Sendable {
    private struct Head {
        let version: Int64
        let count: Int32
        let isUnsaved: Bool
    }

    private typealias Block = ManagedBufferPointer<Head, SlotValue>

    // All that an instance has lies in its block: it is only ever made by `make`.
    private init() { preconditionFailure("A row is made with its values.") }

    @inline(__always)
    private var block: Block { Block(unsafeBufferObject: self) }

    /// The optimistic-lock counter: 1 after the insert, one more with every saved update. In SQLite the column `Z_OPT`.
    var version: Int64 { block.header.version }

    /// Whether the row holds what a parent context has not saved: then no store has ever had it.
    var isUnsaved: Bool { block.header.isUnsaved }

    var count: Int { Int(block.header.count) }

    /// One entry per slot of the entity's ``EntityLayout``, in slot order; transient slots have their
    /// default value.
    var values: RowValues { RowValues(row: self) }

    /// The value in one slot, without a detour: every access to a property ends here.
    @inline(__always)
    func value(_ slot: Int) -> SlotValue {
        block.withUnsafeMutablePointers { head, values in
            precondition(slot >= 0 && slot < head.pointee.count)
            return values[slot]
        }
    }

    /// The values in an array of their own, to be changed.
    var array: [SlotValue] {
        block.withUnsafeMutablePointers { head, values in
            Array(UnsafeBufferPointer(start: values, count: Int(head.pointee.count)))
        }
    }

    deinit {
        block.withUnsafeMutablePointers { head, values in _ = values.deinitialize(count: Int(head.pointee.count)) }
    }

    // MARK: Making rows

    /// - Parameter fill: initialises each of `count` values.
    @inline(__always)
    static func make(
        version: Int64, count: Int, isUnsaved: Bool = false, fill: (UnsafeMutablePointer<SlotValue>) -> Void
    ) -> RowSnapshot {
        let block = Block(bufferClass: RowSnapshot.self, minimumCapacity: count) { _, _ in
            Head(version: version, count: Int32(count), isUnsaved: isUnsaved)
        }
        block.withUnsafeMutablePointerToElements(fill)
        return unsafeDowncast(block.buffer, to: RowSnapshot.self)
    }

    static func make(_ values: some Collection<SlotValue>, version: Int64, isUnsaved: Bool = false) -> RowSnapshot {
        make(version: version, count: values.count, isUnsaved: isUnsaved) { place in
            for (offset, value) in values.enumerated() { (place + offset).initialize(to: value) }
        }
    }

    /// A row without any value.
    static func blank(_ layout: EntityLayout) -> RowSnapshot {
        make(repeatElement(SlotValue.null, count: layout.slots.count), version: 0)
    }
}

/// The values of a row, as a list.
struct RowValues: RandomAccessCollection, Sendable {
    let row: RowSnapshot

    var startIndex: Int { 0 }
    var endIndex: Int { row.count }
    var indices: Range<Int> { 0..<row.count }
    subscript(slot: Int) -> SlotValue { row.value(slot) }
    var array: [SlotValue] { row.array }
}
