/// A batch as a difference of IDs, made in the background before the delegate is notified: for a new predicate it may
/// have a million steps.
struct PreparedDifference {
    private let difference: CollectionDifference<NSManagedObjectID>
    private let identities: RowIdentities

    /// The number of IDs that are made under one hold of the coordinator's lock, so that others wait only briefly.
    private static let portion = 4_096

    /// - Parameters:
    ///   - identities: a frozen copy; `nil` if no difference is needed.
    ///   - check: throws if the fetch was cancelled.
    init?(_ batch: ChangeBatch, _ identities: RowIdentities?, _ check: () throws -> Void) throws {
        guard let identities, !batch.isEmpty else { return nil }
        let changes = batch.rowChanges
        var steps: [BatchProjections.DifferenceStep] = []
        steps.reserveCapacity(changes.count)
        for start in stride(from: 0, to: changes.count, by: Self.portion) {
            try check()
            let part = changes[start..<min(start + Self.portion, changes.count)]
            for (change, id) in zip(part, identities.objectIDs(of: part.map(\.row))) {
                steps.append(.init(id: id, old: change.oldPath?.row, new: change.newPath?.row))
            }
        }
        guard let difference = BatchProjections.difference(of: steps) else { return nil }
        (self.difference, self.identities) = (difference, identities)
    }

    /// The difference; `nil` if a save has changed the IDs of objects in it.
    func value(of current: RowIdentities) -> CollectionDifference<NSManagedObjectID>? {
        current.agrees(with: identities) ? difference : nil
    }
}
