import Foundation

/// Passes the conflicts of one save to the context's merge policy, until there are none or the policy throws.
struct ConflictResolver {
    private let context: NSManagedObjectContext
    private var rounds = 0

    /// The maximum number of rounds.
    private static let limit = 20

    init(context: NSManagedObjectContext) { self.context = context }

    private var policy: NSMergePolicy { context.mergePolicy as? NSMergePolicy ?? .error }

    /// Resolves conflicts over rows that others changed or deleted.
    ///
    /// - Throws: the policy's errors; 134050 if conflicts do not end.
    mutating func resolve(_ found: StoreConflicts) throws {
        let conflicts = found.rows.compactMap { row -> NSMergeConflict? in
            guard let object = context.registry.registered(row.id) else { return nil }
            return NSMergeConflict(object, current: row.current)
        }
        guard !conflicts.isEmpty else { throw NSMergePolicy.unresolved([]) }
        try giveUp(after: conflicts)
        try applyPolicy(to: conflicts)
    }

    /// Applies the policy. Its changes cannot be undone, and its deletions propagate before the next attempt.
    private func applyPolicy(to conflicts: [Any]) throws {
        let manager = context.undoManager
        manager?.disableUndoRegistration()
        defer { manager?.enableUndoRegistration() }
        try policy.resolve(mergeConflicts: conflicts)
        let deleted = conflicts.compactMap { ($0 as? NSMergeConflict)?.sourceObject }.filter(Self.isStillToBeDeleted)
        if !deleted.isEmpty {
            var propagation = DeletePropagation(context: context)
            propagation.run(deleted)
        }
        context.events.process(propagatesDeletes: true, isForSave: true)
        // Delete rules may now reach objects that were not validated, and may deny what they allowed before.
        if !deleted.isEmpty, context.savePipeline.validates { try context.savePipeline.validate() }
    }

    private static func isStillToBeDeleted(_ object: NSManagedObject) -> Bool {
        object.isDeleted && !object.flags.contains(.inaccessible)
    }

    /// Resolves conflicts over unique values in the changes that a store refused with `error`.
    ///
    /// - Throws: the policy's errors; 134050 if conflicts do not end; `error` if no conflict is found.
    mutating func resolve(_ plans: [StorePlan], refusedWith error: NSError) throws {
        guard let source = context.source else { throw error }
        let conflicts = try source.withLock { try plans.flatMap(ConstraintConflictFinder(context: context).conflicts) }
        guard !conflicts.isEmpty else { throw error }
        try giveUp(after: conflicts)
        try applyPolicy(to: conflicts)
    }

    private mutating func giveUp(after conflicts: [Any]) throws {
        rounds += 1
        guard rounds > Self.limit else { return }
        throw CoreDataError.make(
            134050,
            "Cannot save: other programs caused new conflicts after the merge policy had resolved \(Self.limit) times. Try again.",
            userInfo: [NSPersistentStoreSaveConflictsErrorKey: conflicts])
    }
}
