/// Reading and writing slots: the ways that every accessor ends in.
extension NSManagedObject {
    /// The value in a slot of the layout; fires the fault.
    @inline(__always)
    package final func slotValue(_ slot: Int) -> SlotValue {
        if flags.contains(.fault) { fire(for: layout.place(ofSlot: slot)) }
        return currentValue(slot)
    }

    /// Sets the slot of an attribute: the context hears of it.
    final func setAttribute(_ value: SlotValue, slot: Int) {
        willChange(.attribute(slot))
        changing(.attribute(slot)) { write(value, slot: slot) }
    }

    /// Fires the fault and tells the context that the object is about to change.
    ///
    /// - Parameter place: The property that changes, if it is one.
    // SAFETY: the object leaves its context before the handle goes away, and only the context's queue runs this.
    @inline(__always)
    final func willChange(_ place: EntityLayout.Place? = nil) {
        fireIfNeeded(for: place)
        guard let contextReference, flags.isDisjoint(with: [.awakening, .pendingUpdated]),
            // What is new is to be saved anyway. What was deleted and comes back is not.
            !flags.isSuperset(of: [.pendingInserted, .inserted])
        else { return }
        contextReference.with { $0.living?.noteChange(of: self) }
    }

    @inline(__always)
    final func fireIfNeeded(for place: EntityLayout.Place? = nil) {
        if flags.contains(.fault) { fire(for: place) }
    }

    /// Makes a fault real.
    ///
    /// - Parameter place: The property that needs it, if it is one.
    // SAFETY: see `willChange`. `FaultFirer.realise` uses what the handle holds only if the object is still in the context.
    @inline(never)
    final func fire(for place: EntityLayout.Place? = nil) {
        if hasRow, let contextReference { return contextReference.with { $0.realise(self) } }
        // Held: `awakeFromFetch` is the user's code, and may give the context up.
        guard let context = managedObjectContext else {
            if flags.contains(.inaccessible) {
                // The context was reset: there is nothing to read any more.
                flags.remove(.fault)
                return settle(on: .make(layout.slots.map { _ in .null }, version: 0))
            }
            preconditionFailure(
                "CoreData could not fulfill a fault for '\(objectID)': its context was reset or is gone.")
        }
        context.fire(self, for: place)
    }

    /// Makes what was set while awaking the starting point, not a change.
    final func adoptValuesAsSnapshot() {
        guard hasOwnValues else { return }
        settle(on: .make(values, version: snapshot?.version ?? 0))
    }
}

/// How compiled predicates, orderings and the results controller read objects.
extension NSManagedObject: RowReadable {
    package final var rowLayout: EntityLayout { layout }

    // One call instead of those that the protocol's own would make.
    package final func slotValue(at access: SlotAccess) -> SlotValue {
        let slot = access.slot(in: layout)
        return slot < 0 ? .null : slotValue(slot)
    }

    package final func toOneDestination(_ slot: Int) -> (any RowReadable)? { toOneTarget(slot) }

    package final func toManyDestinations(_ number: Int) -> [any RowReadable] { toManyTargets(number) }
}
