extension Refresher {
    /// Makes a newer saved row the base of an object: unsaved changes and transient values stay on top of it. A fault
    /// only takes the row. Only the object itself is notified.
    func adoptMerged(_ row: RowSnapshot, for object: NSManagedObject) {
        guard !object.isFault, let old = object.snapshot else {
            object.snapshot = row
            return
        }
        rebase(object, on: keepingTransientValues(of: old, in: row, object.layout.traits))
        object.awake(fromSnapshotEvents: .refresh)
    }

    /// Returns the row with the transient values of `old`.
    func keepingTransientValues(
        of old: RowSnapshot, in row: RowSnapshot, _ traits: EntityTraits
    ) -> RowSnapshot {
        guard traits.hasTransient else { return row }
        var values = row.values.array
        for slot in values.indices where traits.isTransient[slot] { values[slot] = old.values[slot] }
        return .make(values, version: row.version)
    }
}
