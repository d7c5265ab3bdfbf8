/// Slot reads and writes, used by every accessor.
extension NSManagedObject {
    /// The value in a slot of the layout. Fires the fault.
    @inline(__always)
    package final func slotValue(_ slot: Int) -> SlotValue {
        if flags.contains(.fault) { fire(for: layout.place(ofSlot: slot)) }
        return currentValue(slot)
    }

    /// Sets the slot of an attribute and notifies the context.
    package final func setAttribute(_ value: SlotValue, slot: Int) {
        willChange(.attribute(slot))
        changing(.attribute(slot)) { write(value, slot: slot) }
    }

    /// Fires the fault and notifies the context that the object is about to change.
    ///
    /// - Parameter place: The property that changes, if it is a single one.
    // SAFETY: the object leaves its context before the handle is deallocated, and only its queue runs this.
    @inline(__always)
    final func willChange(_ place: EntityLayout.Place? = nil) {
        fireIfNeeded(for: place)
        guard let contextReference, flags.isDisjoint(with: [.awakening, .pendingUpdated]),
            // A new object is saved anyway. An object that was deleted and then restored is not.
            !flags.isSuperset(of: [.pendingInserted, .inserted])
        else { return }
        contextReference.with { $0.living?.noteChange(of: self) }
    }

    @inline(__always)
    final func fireIfNeeded(for place: EntityLayout.Place? = nil) {
        if flags.contains(.fault) { fire(for: place) }
    }

    /// Turns a fault into a full object.
    ///
    /// - Parameter place: The property that was read, if it is a single one.
    // SAFETY: see `willChange`. `FaultFirer.realise` uses the handle only if the object is still in the context.
    @inline(never)
    final func fire(for place: EntityLayout.Place? = nil) {
        if hasRow, let contextReference { return contextReference.with { $0.realise(self) } }
        // Retained: `awakeFromFetch` is the user's code and may release the context.
        guard let context = managedObjectContext else {
            if flags.contains(.inaccessible) {
                // The context was reset: no row can be read any more.
                flags.remove(.fault)
                return settle(on: .make(layout.slots.map { _ in .null }, version: 0))
            }
            preconditionFailure(
                "CoreData could not fulfill a fault for '\(objectID)': its context was reset or deallocated.")
        }
        context.fire(self, for: place)
    }

    /// Makes the values set while awaking the initial values, so that they do not count as changes.
    final func adoptValuesAsSnapshot() {
        guard hasOwnValues else { return }
        settle(on: .make(values, version: snapshot?.version ?? 0))
    }
}

/// Gives compiled predicates, sort descriptors and the results controller the object's values.
extension NSManagedObject: RowReadable {
    package final var rowLayout: EntityLayout { layout }

    // Faster than the protocol's default implementation, which makes several calls for one value.
    package final func slotValue(at access: SlotAccess) -> SlotValue {
        let slot = access.slot(in: layout)
        return slot < 0 ? .null : slotValue(slot)
    }

    package final func toOneDestination(_ slot: Int) -> (any RowReadable)? { toOneTarget(slot) }

    package final func toManyDestinations(_ number: Int) -> [any RowReadable] { toManyTargets(number) }
}
