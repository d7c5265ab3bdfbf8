/// A batch as a difference of IDs, made before the delegate is told, beside the context's queue: of a new predicate it may have a
/// million steps.
struct PreparedDifference {
    private let difference: CollectionDifference<NSManagedObjectID>
    private let identities: RowIdentities

    /// So many IDs are made while the coordinator's lock is held: others that wait for it do so for a moment only.
    private static let portion = 4_096

    /// - Parameters:
    ///   - identities: a frozen copy; `nil` where nothing is to be made.
    ///   - check: throws if it is all over.
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

    /// The difference; `nil` if objects in it got other IDs since by a save.
    func value(of current: RowIdentities) -> CollectionDifference<NSManagedObjectID>? {
        current.agrees(with: identities) ? difference : nil
    }
}
