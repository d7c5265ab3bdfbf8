import Foundation

/// The source of a context with a parent. It reads the parent's objects in their current state, saved or not, and
/// passes changes to the parent, which saves them later.
///
/// Runs on the parent's queue, while the child waits. A row has the values of the parent's object; the child shares
/// only that snapshot. Rows of which the parent has no object are passed through from the parent's source without
/// creating objects.
final class ParentSource: ContextSource {
    private let context: NSManagedObjectContext

    init(_ parent: NSManagedObjectContext) { context = parent }

    var coordinator: NSPersistentStoreCoordinator? { context.persistentStoreCoordinator }
    var parent: NSManagedObjectContext? { context }

    // MARK: Reading

    func find(_ plan: FetchPlan, wantsRows: Bool) throws -> FoundRows {
        try withLock { try ParentRows(context: context).find(plan, wantsRows: wantsRows) }
    }

    func count(_ plan: FetchPlan) throws -> Int {
        try withLock {
            context.processPendingChanges()
            return try context.fetchPipeline.count(plan, seesUnsaved: true)
        }
    }

    func rows(inOrderOf ids: [NSManagedObjectID]) throws -> [RowSnapshot?] {
        let rows = try withLock { try ParentRows(context: context).rows(for: ids) }
        return ids.map { rows[$0] }
    }

    func destinations(
        of relationship: NSRelationshipDescription, inOrderOf ids: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        let lists = try withLock { try ParentRows(context: context).destinations(of: relationship, from: ids) }
        return ids.map { lists[$0] ?? [] }
    }

    func mayHold(_ id: NSManagedObjectID) -> Bool { id.isTemporaryID || id.persistentStore != nil }

    /// Always true: the parent's values change without a new row version, so they count as newer.
    func supersedes(_ row: RowSnapshot, _ old: RowSnapshot) -> Bool { true }

    func localID(_ id: NSManagedObjectID) -> NSManagedObjectID { context.localID(id) }

    // MARK: Writing

    func store(for entity: NSEntityDescription) throws -> any RowStore { try beneath().store(for: entity) }

    func obtainPermanentIDs(for runs: [EntityRun], in store: any RowStore) throws -> [NSManagedObjectID] {
        try beneath().obtainPermanentIDs(for: runs, in: store)
    }

    func obtainPermanentIDs(
        of objects: [NSManagedObject], in store: any RowStore
    ) throws -> [NSManagedObjectID]? {
        try beneath().obtainPermanentIDs(of: objects, in: store)
    }

    private func beneath() throws -> any ContextSource {
        if let source = context.source { return source }
        throw CoreDataError.make(
            134030, "The parent context has no persistent store coordinator. Set one first.")
    }

    func save(_ parts: [MultiStoreSave.Part]) throws -> [NSManagedObjectID: RowSnapshot] {
        preconditionFailure("a context that has a parent does not write to stores")
    }

    func didCommit(_ changes: CommittedChanges, from child: NSManagedObjectContext) {
        context.tellChildren(changes, from: child)
    }

    func reading<Result>(_ body: () throws -> Result) throws -> Result { try context.queue.sync(.beneath, body) }

    func withLock<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        try context.queue.sync(.beneath, body)
    }
}
