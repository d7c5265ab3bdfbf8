/// What an object was when the current event first changed it: for `changedValuesForCurrentEvent()` and for undo.
final class EventBaseline {
    /// The event's number in its context.
    let event: UInt64
    /// The object's own values then; empty when they were those of the snapshot.
    let values: [SlotValue]
    let snapshot: RowSnapshot?

    init(event: UInt64, values: [SlotValue], snapshot: RowSnapshot?) {
        self.event = event
        self.values = values
        self.snapshot = snapshot
    }

    /// All values as they were.
    var allValues: [SlotValue] { values.isEmpty ? snapshot?.values.array ?? [] : values }

    /// The number of the baselines that a merge keeps while it is told: no event has it.
    static let merge = UInt64.max

    /// The same with nothing in a slot, so that what was dropped there is no change of the event.
    func settingNull(_ slot: Int) -> EventBaseline {
        guard event != Self.merge, allValues.indices.contains(slot) else { return self }
        var values = allValues
        values[slot] = .null
        return EventBaseline(event: event, values: values, snapshot: snapshot)
    }
}
