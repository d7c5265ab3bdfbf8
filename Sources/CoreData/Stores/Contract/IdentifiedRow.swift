/// A row with the ID of its object, as a save writes it and as notifications report it.
package struct IdentifiedRow: Sendable {
    package let id: NSManagedObjectID
    package let row: RowSnapshot

    package init(id: NSManagedObjectID, row: RowSnapshot) {
        self.id = id
        self.row = row
    }
}

extension NSManagedObjectID {
    /// The row's number in its table. Only for IDs in a save, which are permanent.
    @inline(__always)
    package var savedKey: Int64 {
        guard let key = rowKey else { preconditionFailure("A save got a temporary ID: \(self)") }
        return key.reference
    }
}

// Loops over new rows do no reference counting: the array retains all rows during the loop.

/// An ``IdentifiedRow`` without its references counted, in the same memory layout.
// SAFETY: the same two words as an `IdentifiedRow`, in the same order; used while an array retains the rows.
private struct HeldRow {
    let id: Unretained<NSManagedObjectID>
    let row: Unretained<RowSnapshot>
}

// SAFETY: the array that owns this memory retains the rows during the call.
extension UnsafeBufferPointer<IdentifiedRow> {
    @inline(__always)
    fileprivate func forEachHeld(_ body: (NSManagedObjectID, RowSnapshot) throws -> Void) rethrows {
        try withMemoryRebound(to: HeldRow.self) { rows in
            for held in rows {
                try held.id.with { id in
                    try held.row.with { row in try body(id, row) }
                }
            }
        }
    }
}

// SAFETY: the array outlives the closure.
extension Array<IdentifiedRow> {
    /// Calls `body` with each row.
    @inline(__always)
    func forEachHeld(_ body: (NSManagedObjectID, RowSnapshot) throws -> Void) rethrows {
        try withUnsafeBufferPointer { try $0.forEachHeld(body) }
    }
}

// SAFETY: the slice outlives the closure.
extension ArraySlice<IdentifiedRow> {
    /// Calls `body` with each row.
    @inline(__always)
    func forEachHeld(_ body: (NSManagedObjectID, RowSnapshot) throws -> Void) rethrows {
        try withUnsafeBufferPointer { try $0.forEachHeld(body) }
    }
}
