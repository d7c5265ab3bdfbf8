/// An object's state before the current event first changed it, for `changedValuesForCurrentEvent()` and for undo.
final class EventBaseline {
    /// The event's number in its context.
    let event: UInt64
    /// The object's own values at that time; empty if they were those of the snapshot.
    let values: [SlotValue]
    let snapshot: RowSnapshot?

    init(event: UInt64, values: [SlotValue], snapshot: RowSnapshot?) {
        self.event = event
        self.values = values
        self.snapshot = snapshot
    }

    /// The values of all slots at that time.
    var allValues: [SlotValue] { values.isEmpty ? snapshot?.values.array ?? [] : values }

    /// The event number of baselines that a merge keeps while it posts its changes. No event has this number.
    static let merge = UInt64.max

    /// Returns a baseline with null in a slot, so that the value dropped there does not count as a change of the event.
    func settingNull(_ slot: Int) -> EventBaseline {
        guard event != Self.merge, allValues.indices.contains(slot) else { return self }
        var values = allValues
        values[slot] = .null
        return EventBaseline(event: event, values: values, snapshot: snapshot)
    }
}
