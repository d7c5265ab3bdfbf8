/// The contents of an object except its row, created on demand: its own values and its touched relationships.
///
/// One block of memory, in which the values follow the rest, to make new objects cheap.
// SAFETY: the first `head.count` values are initialised, in memory for `head.room` values; `deinit` deinitialises them.
// `create` returns an instance of the class it is called on. Only the queue of the object uses it.
final class ObjectExtras: ManagedBuffer<ObjectExtras.Head, SlotValue> {
    struct Head {
        var snapshot: RowSnapshot?
        var relations = RelationPlaces()
        var companion = ObjectCompanion.none
        /// The number of values: one per slot, or 0.
        fileprivate(set) var count: Int32 = 0
        /// The number of values that fit.
        fileprivate let room: Int32
    }

    /// - Parameter room: The number of values that have to fit: one per slot, or 0.
    static func make(snapshot: RowSnapshot?, room: Int) -> ObjectExtras {
        let made = create(minimumCapacity: room) { _ in Head(snapshot: snapshot, room: Int32(room)) }
        return unsafeDowncast(made, to: ObjectExtras.self)
    }

    /// Moves all contents except the values to a block of another size, and leaves this one empty.
    func moved(room: Int) -> ObjectExtras {
        let moved = Self.make(snapshot: nil, room: room)
        swap(&moved.head.snapshot, &head.snapshot)
        swap(&moved.head.relations, &head.relations)
        swap(&moved.head.companion, &head.companion)
        return moved
    }

    deinit { _ = takeValues() }

    @inline(__always)
    private func with<Result>(
        _ body: (UnsafeMutablePointer<Head>, UnsafeMutablePointer<SlotValue>) throws -> Result
    ) rethrows -> Result {
        try withUnsafeMutablePointers(body)
    }

    /// All contents except the values.
    @inline(__always)
    var head: Head {
        _read { yield withUnsafeMutablePointerToHeader { $0 }.pointee }
        _modify { yield &withUnsafeMutablePointerToHeader { $0 }.pointee }
    }

    // MARK: The object's own values

    @inline(__always)
    var hasValues: Bool { with { head, _ in head.pointee.count > 0 } }

    var values: [SlotValue] {
        with { head, values in Array(UnsafeBufferPointer(start: values, count: Int(head.pointee.count))) }
    }

    /// The value in a slot; `nil` if the object has no values of its own.
    @inline(__always)
    func value(_ slot: Int) -> SlotValue? {
        with { head, values in
            if head.pointee.count == 0 { return nil }
            precondition(slot >= 0 && slot < Int(head.pointee.count))
            return values[slot]
        }
    }

    /// Calls `body`, which must not change the values, with each value and its slot.
    @inline(__always)
    func forEachValue(_ body: (_ slot: Int, _ value: SlotValue) throws -> Void) rethrows {
        try with { head, values in
            for slot in 0..<Int(head.pointee.count) { try body(slot, values[slot]) }
        }
    }

    /// - Precondition: The object has its own values.
    @inline(__always)
    func set(_ value: consuming SlotValue, _ slot: Int) {
        with { head, values in
            precondition(slot >= 0 && slot < Int(head.pointee.count))
            values[slot] = value
        }
    }

    func hasRoom(for count: Int) -> Bool { with { head, _ in Int(head.pointee.room) >= count } }

    /// Sets the values to those of a row.
    ///
    /// - Precondition: The object has no values yet, and they fit.
    func begin(with row: RowSnapshot) {
        with { head, values in
            let count = row.count
            precondition(head.pointee.count == 0 && count <= Int(head.pointee.room))
            row.copy(to: UnsafeMutableBufferPointer(start: values, count: count))
            head.pointee.count = Int32(count)
        }
    }

    func begin(with new: [SlotValue]) {
        with { head, values in
            precondition(head.pointee.count == 0 && new.count <= Int(head.pointee.room))
            values.initialize(from: new, count: new.count)
            head.pointee.count = Int32(new.count)
        }
    }

    /// Removes the values.
    ///
    /// - Returns: Values whose release may run user code that accesses the object; the caller releases them last.
    func takeValues() -> [SlotValue] {
        with { head, values in
            var last: [SlotValue] = []
            let count = Int(head.pointee.count)
            for slot in 0..<count {
                switch values[slot] {
                case .object, .data: last.append(values[slot])
                default: break
                }
            }
            head.pointee.count = 0
            values.deinitialize(count: count)
            return last
        }
    }
}

/// Temporary data of an object, one kind at a time: a fault waits for its row, and an object with a row may change.
enum ObjectCompanion {
    case none
    case batch(FaultBatch)
    case baseline(EventBaseline)
}
