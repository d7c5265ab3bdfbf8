/// What an object holds: see ``ObjectState``.
// SAFETY: the word owns one reference to what it names, given back when it is replaced. Only the object's queue reads
// or replaces it; nothing in the closures below runs code of the user's that could replace it meanwhile.
extension NSManagedObject {
    @inline(__always)
    private final var state: ObjectState { ObjectState(bits: stateWord) }

    /// Releasing the old state may release objects of the user's classes: it goes last.
    @inline(__always)
    private final func replaceState(by new: ObjectState) {
        let old = state
        stateWord = new.bits
        old.release()
    }

    @inline(__always)
    private final var extras: ObjectExtras? { state.extras?.object }

    /// Room for more than a row.
    ///
    /// - Parameter hasValues: Whether the object is to have values of its own.
    private final func makeExtras(hasValues: Bool = false) -> ObjectExtras {
        // A new object has values soon.
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

    /// Room for more values, or fewer.
    private final func move(_ extras: ObjectExtras, room: Int) -> ObjectExtras {
        let made = extras.moved(room: room)
        replaceState(by: ObjectState(made))
        return made
    }

    /// Gives up what is not needed any more, in an object without values of its own.
    private final func tidy(_ extras: ObjectExtras) {
        // What went away before may have changed the object.
        guard state.extras == Unretained(extras), !extras.hasValues else { return }
        guard extras.head.relations.isEmpty else {
            // Room for up to eight values, 192 bytes, stays: the next change needs it again.
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

    /// The saved row (for a new object: its starting values); `nil` while the row has not been read.
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

    /// The row of an object that has no values of its own, without a count of references.
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

    /// Whether the row was read, or is that of a new object.
    @inline(__always)
    final var hasRow: Bool {
        if state.row != nil { return true }
        switch state.kind {
        case .row, .batch: return false
        case .new: return true
        case .extras: return state.extras.unsafelyUnwrapped.with { $0.head.snapshot != nil }
        }
    }

    /// Whether the object is a fault whose row was not read.
    @inline(__always)
    final var waitsForRow: Bool { flags.contains(.fault) && !hasRow }

    /// Takes a first row over, or none, in an object that was just made.
    @inline(__always)
    final func begin(with row: consuming RowSnapshot?) {
        if let row { replaceState(by: ObjectState(row)) } else { replaceState(by: .nothing) }
    }

    // MARK: Values

    /// The object's own values, in slot order; empty as long as they are those of the snapshot. A copy.
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

    /// The values as they are, in slot order; empty where the row has not been read. A copy.
    final var currentValues: [SlotValue] { hasOwnValues ? values : snapshot?.values.array ?? [] }

    /// The object has the values of its snapshot and no others.
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

    /// The value in a slot, without firing: `null` where the row has not been read.
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

    /// A fault without its row has only what was set after it could not be read.
    private final func unreadValue(_ slot: Int) -> SlotValue {
        managedObjectContext?.unreadValue(slot, of: self) ?? .null
    }

    /// Calls `body`, which must not change the object, with each value and its slot; not at all where the row has not been
    /// read.
    @inline(__always)
    final func forEachCurrentValue(_ body: (_ slot: Int, _ value: SlotValue) throws -> Void) rethrows {
        if hasOwnValues {
            try state.extras.unsafelyUnwrapped.with { try $0.forEachValue(body) }
        } else if let row = snapshot {
            for slot in 0..<row.count { try body(slot, row.value(slot)) }
        }
    }

    /// Sets a slot without any hook.
    final func write(_ value: SlotValue, slot: Int) {
        if !hasOwnValues, !beginValues() { return writeUnread(value, slot: slot) }
        state.extras.unsafelyUnwrapped.with { $0.set(value, slot) }
    }

    /// Gives the object values of its own.
    ///
    /// - Returns: `false` where there is no row to begin with.
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

    /// The object has the values of `row` and no others.
    final func settle(on row: RowSnapshot) {
        guard let extras else { return replaceState(by: ObjectState(row)) }
        let old = (extras.takeValues(), extras.head.snapshot)
        extras.head.snapshot = row
        tidy(extras)
        withExtendedLifetime(old) {}
    }

    // MARK: Relationships

    /// What was touched of the relationship at `index` of as many as the entity has.
    @inline(__always)
    final func relation(_ index: Int, of count: Int) -> AnyObject? {
        state.extras?.with { $0.head.relations.value(at: index, of: count) }
    }

    final func setRelation(_ value: AnyObject?, _ index: Int, of count: Int) {
        if value == nil, !hasRelations { return }
        makeExtras().head.relations.set(value, at: index, of: count)
    }

    /// Whether any relationship was touched.
    @inline(__always)
    final var hasRelations: Bool {
        state.extras.map { $0.with { !$0.head.relations.isEmpty } } ?? false
    }

    /// Forgets what was touched of the relationships.
    final func forgetRelations() {
        guard let extras else { return }
        var old = RelationPlaces()
        swap(&old, &extras.head.relations)
        tidy(extras)
        withExtendedLifetime(old) {}
    }

    // MARK: Companions

    /// What the object was when the current event first changed it.
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

    /// The objects of the same fetch whose rows are read along when this one's is, if it came without.
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
