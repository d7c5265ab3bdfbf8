/// The contents of an object: see ``ObjectState``.
// SAFETY: the word owns one reference to the object at its address, released when the word is replaced. Only the
// object's queue reads or replaces it, and the closures below run no user code that could replace it.
extension NSManagedObject {
    @inline(__always)
    private final var state: ObjectState { ObjectState(bits: stateWord) }

    /// Replaces the state. The old one is released last, as that may release objects of the user's classes.
    @inline(__always)
    private final func replaceState(by new: ObjectState) {
        let old = state
        stateWord = new.bits
        old.release()
    }

    @inline(__always)
    private final var extras: ObjectExtras? { state.extras?.object }

    /// Returns the extras, created or enlarged if needed.
    ///
    /// - Parameter hasValues: True if the object will have its own values.
    private final func makeExtras(hasValues: Bool = false) -> ObjectExtras {
        // A new object gets values soon.
        let room = hasValues || state.kind == .new ? withLayout { $0.slots.count } : 0
        guard let known = extras else {
            let made = ObjectExtras.make(snapshot: snapshot, room: room)
            if let faultBatch { made.head.companion = .batch(faultBatch) }
            replaceState(by: ObjectState(made))
            return made
        }
        if known.hasRoom(for: room) { return known }
        return move(known, room: room)
    }

    /// Moves the extras to a block for more or fewer values.
    private final func move(_ extras: ObjectExtras, room: Int) -> ObjectExtras {
        let made = extras.moved(room: room)
        replaceState(by: ObjectState(made))
        return made
    }

    /// Releases unused parts of the extras of an object without its own values.
    private final func tidy(_ extras: ObjectExtras) {
        // Releasing a value may have run code that changed the object.
        guard state.extras == Unretained(extras), !extras.hasValues else { return }
        guard extras.head.relations.isEmpty else {
            // Space for up to eight values (192 bytes) stays allocated: the next change needs it again.
            if extras.hasRoom(for: 9) { _ = move(extras, room: 0) }
            return
        }
        if case .baseline = extras.head.companion { return }
        if let row = extras.head.snapshot.take() {
            replaceState(by: ObjectState(row))
        } else if case .batch(let batch) = extras.head.companion {
            replaceState(by: ObjectState(batch))
        } else {
            replaceState(by: .nothing)
        }
    }

    // MARK: The row

    /// The saved row, or the initial values of a new object; `nil` if the row has not been read.
    final var snapshot: RowSnapshot? {
        @inline(__always)
        get {
            if let row = state.row { return row.object }
            return unusualSnapshot
        }
        set {
            if let extras { return extras.head.snapshot = newValue }
            if let newValue {
                replaceState(by: ObjectState(newValue))
            } else if state.kind != .batch {
                replaceState(by: .nothing)
            }
        }
    }

    /// The row of an object without its own values. No reference counting.
    @inline(__always)
    final var unchangedRow: Unretained<RowSnapshot>? {
        if let row = state.row { return row }
        return state.extras?.with { extras in
            extras.hasValues ? nil : extras.head.snapshot.map { Unretained($0) }
        }
    }

    @inline(never)
    private final var unusualSnapshot: RowSnapshot? {
        switch state.kind {
        case .row, .batch: nil
        case .new: withTraits { $0.startingRow }
        case .extras: extras?.head.snapshot
        }
    }

    /// True if the row has been read, or the object is new.
    @inline(__always)
    final var hasRow: Bool {
        if state.row != nil { return true }
        switch state.kind {
        case .row, .batch: return false
        case .new: return true
        case .extras: return state.extras.unsafelyUnwrapped.with { $0.head.snapshot != nil }
        }
    }

    /// True if the object is a fault whose row has not been read.
    @inline(__always)
    final var waitsForRow: Bool { flags.contains(.fault) && !hasRow }

    /// Sets the first row, or none, of an object that was just created.
    @inline(__always)
    final func begin(with row: consuming RowSnapshot?) {
        if let row { replaceState(by: ObjectState(row)) } else { replaceState(by: .nothing) }
    }

    // MARK: Values

    /// The object's own values in slot order; empty if they are those of the snapshot. A copy.
    final var values: [SlotValue] {
        get { state.extras?.with(\.values) ?? [] }
        set {
            if newValue.isEmpty { return forgetValues() }
            let extras = makeExtras(hasValues: true)
            let old = extras.takeValues()
            extras.begin(with: newValue)
            withExtendedLifetime(old) {}
        }
    }

    /// The current values in slot order; empty if the row has not been read. A copy.
    final var currentValues: [SlotValue] { hasOwnValues ? values : snapshot?.values.array ?? [] }

    /// Drops the object's own values, so that it has those of its snapshot.
    private final func forgetValues() {
        guard let extras else { return }
        let old = extras.takeValues()
        tidy(extras)
        withExtendedLifetime(old) {}
    }

    @inline(__always)
    final var hasOwnValues: Bool {
        state.extras.map { $0.with(\.hasValues) } ?? false
    }

    /// The value in a slot, without firing the fault: `null` if the row has not been read.
    @inline(__always)
    final func currentValue(_ slot: Int) -> SlotValue {
        if let row = state.row { return row.with { $0.value(slot) } }
        return unusualValue(slot)
    }

    @inline(never)
    private final func unusualValue(_ slot: Int) -> SlotValue {
        if let own = state.extras?.with({ $0.value(slot) }) { return own }
        return snapshot?.value(slot) ?? unreadValue(slot)
    }

    /// The value of a fault without a row: one that was set after the row could not be read.
    private final func unreadValue(_ slot: Int) -> SlotValue {
        managedObjectContext?.unreadValue(slot, of: self) ?? .null
    }

    /// Calls `body`, which must not change the object, with each value and its slot. Does nothing if the row has not
    /// been read.
    @inline(__always)
    final func forEachCurrentValue(_ body: (_ slot: Int, _ value: SlotValue) throws -> Void) rethrows {
        if hasOwnValues {
            try state.extras.unsafelyUnwrapped.with { try $0.forEachValue(body) }
        } else if let row = snapshot {
            for slot in 0..<row.count { try body(slot, row.value(slot)) }
        }
    }

    /// Sets a slot without calling any hook.
    final func write(_ value: SlotValue, slot: Int) {
        if !hasOwnValues, !beginValues() { return writeUnread(value, slot: slot) }
        state.extras.unsafelyUnwrapped.with { $0.set(value, slot) }
    }

    /// Gives the object its own values, copied from its row.
    ///
    /// - Returns: `false` if there is no row.
    private final func beginValues() -> Bool {
        guard let snapshot else { return false }
        makeExtras(hasValues: true).begin(with: snapshot)
        return true
    }

    @inline(never)
    private final func writeUnread(_ value: SlotValue, slot: Int) {
        if isFault, let context = managedObjectContext { return context.setUnread(value, slot, of: self) }
        makeExtras(hasValues: true).begin(with: layout.traits.startingRow)
        write(value, slot: slot)
    }

    /// Makes `row` the object's row and drops its own values.
    final func settle(on row: RowSnapshot) {
        guard let extras else { return replaceState(by: ObjectState(row)) }
        let old = (extras.takeValues(), extras.head.snapshot)
        extras.head.snapshot = row
        tidy(extras)
        withExtendedLifetime(old) {}
    }

    // MARK: Relationships

    /// The state of relationship `index` of `count`, if it was touched.
    @inline(__always)
    final func relation(_ index: Int, of count: Int) -> AnyObject? {
        state.extras?.with { $0.head.relations.value(at: index, of: count) }
    }

    final func setRelation(_ value: AnyObject?, _ index: Int, of count: Int) {
        if value == nil, !hasRelations { return }
        makeExtras().head.relations.set(value, at: index, of: count)
    }

    /// True if any relationship was touched.
    @inline(__always)
    final var hasRelations: Bool {
        state.extras.map { $0.with { !$0.head.relations.isEmpty } } ?? false
    }

    /// Drops the state of all touched relationships.
    final func forgetRelations() {
        guard let extras else { return }
        var old = RelationPlaces()
        swap(&old, &extras.head.relations)
        tidy(extras)
        withExtendedLifetime(old) {}
    }

    // MARK: Companions

    /// The object's state before the current event first changed it.
    final var baseline: EventBaseline? {
        get {
            guard let extras, case .baseline(let baseline) = extras.head.companion else { return nil }
            return baseline
        }
        set {
            if let newValue { return makeExtras().head.companion = .baseline(newValue) }
            guard let extras, case .baseline = extras.head.companion else { return }
            extras.head.companion = .none
            tidy(extras)
        }
    }

    /// The objects of the same fetch whose rows are read together with this one's; `nil` if the row was fetched.
    final var faultBatch: FaultBatch? {
        get {
            if let extras {
                if case .batch(let batch) = extras.head.companion { return batch }
                return nil
            }
            return state.batch?.object
        }
        set {
            if let extras {
                if case .baseline = extras.head.companion { return }
                extras.head.companion = newValue.map(ObjectCompanion.batch) ?? .none
            } else if !hasRow {
                replaceState(by: newValue.map { ObjectState($0) } ?? .nothing)
            }
        }
    }
}
