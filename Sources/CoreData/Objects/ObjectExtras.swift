/// What an object has beside its row, as soon as it has anything: values of its own, relationships that were touched.
///
/// One block of memory, in which the values follow the rest: a new object has as little to be made as it can.
// SAFETY: the values up to `head.count` are initialised, of `head.room` for which there is memory; `deinit` takes them
// out. `create` makes an instance of the class that it is called on. Only the queue of the object that has it uses it.
final class ObjectExtras: ManagedBuffer<ObjectExtras.Head, SlotValue> {
    struct Head {
        var snapshot: RowSnapshot?
        var relations = RelationPlaces()
        var companion = ObjectCompanion.none
        /// How many values there are: all or none.
        fileprivate(set) var count: Int32 = 0
        /// For how many there is room.
        fileprivate let room: Int32
    }

    /// - Parameter room: For how many values there shall be room, all of an object's or none.
    static func make(snapshot: RowSnapshot?, room: Int) -> ObjectExtras {
        let made = create(minimumCapacity: room) { _ in Head(snapshot: snapshot, room: Int32(room)) }
        return unsafeDowncast(made, to: ObjectExtras.self)
    }

    /// Moves all but the values to a block of another size: nothing of it is left.
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

    /// All but the values.
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

    /// The value in a slot; `nil` where there are none.
    @inline(__always)
    func value(_ slot: Int) -> SlotValue? {
        with { head, values in
            if head.pointee.count == 0 { return nil }
            precondition(slot >= 0 && slot < Int(head.pointee.count))
            return values[slot]
        }
    }

    /// Calls `body`, which must not change any, with each value and its slot.
    @inline(__always)
    func forEachValue(_ body: (_ slot: Int, _ value: SlotValue) throws -> Void) rethrows {
        try with { head, values in
            for slot in 0..<Int(head.pointee.count) { try body(slot, values[slot]) }
        }
    }

    /// - Precondition: There are values.
    @inline(__always)
    func set(_ value: consuming SlotValue, _ slot: Int) {
        with { head, values in
            precondition(slot >= 0 && slot < Int(head.pointee.count))
            values[slot] = value
        }
    }

    func hasRoom(for count: Int) -> Bool { with { head, _ in Int(head.pointee.room) >= count } }

    /// Begins with the values of a row.
    ///
    /// - Precondition: There are none, and there is room.
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

    /// Forgets the values.
    ///
    /// - Returns: those whose release may run the user's code, which may look at the object: to be released last.
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

/// What an object needs for a while only, one at a time: a fault waits for its row, an object with a row may change.
enum ObjectCompanion {
    case none
    case batch(FaultBatch)
    case baseline(EventBaseline)
}
