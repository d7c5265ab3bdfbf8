import Foundation

/// The objects of one side of a migration, read in large groups.
struct MigratedObjects {
    let context: NSManagedObjectContext

    private var store: (any RowStore)? { context.persistentStoreCoordinator?.rowStores.first }

    /// The object of a row; a fault if it was not read yet.
    func object(_ key: RowKey) -> NSManagedObject {
        guard let store else { preconditionFailure("a side of a migration has no store") }
        return context.registry.object(for: store.operations.objectID(for: key))
    }

    /// The objects with their values, in the given order. One query for all.
    ///
    /// - Throws: 134110 if a row was deleted; the store's error.
    func objects(_ keys: some Sequence<RowKey>) throws -> [NSManagedObject] {
        let objects = keys.map(object)
        try context.fetchPipeline.readRows(of: objects)
        guard !objects.contains(where: \.waitsForRow) else {
            throw CoreDataError.make(
                134110, "An object of the migrated store was deleted during the migration.")
        }
        return objects
    }

    /// Minimum number of keys to read at a time.
    private static let leastPage = 50_000
    /// Maximum number of pages for a large store: to find the start of a page, the store scans all rows before it.
    private static let mostPages = 16

    /// Calls `body` with the keys that a request finds, one page at a time; not at all if the store does not have the
    /// entity.
    func forEachPage(
        of request: NSFetchRequest<NSManagedObject>, atLeast least: Int = leastPage, _ body: ([RowKey]) throws -> Void
    ) throws {
        // A sort would run again for each page. A custom store need not return rows in the same order twice, nor
        // respect a limit.
        let isWhole =
            store?.operations.readsRowByRow ?? false || request.fetchLimit > 0 || request.fetchOffset > 0
            || !(request.sortDescriptors ?? []).isEmpty
        let count = isWhole ? 0 : try context.count(for: request)
        guard count > least, let page = request.copy() as? NSFetchRequest<NSManagedObject> else {
            return try body(try keys(request))
        }
        page.fetchLimit = max(least, count / Self.mostPages + 1)
        while true {
            let keys = try keys(page)
            try body(keys)
            if keys.count < page.fetchLimit { return }
            page.fetchOffset += page.fetchLimit
        }
    }

    private func keys(_ request: NSFetchRequest<NSManagedObject>) throws -> [RowKey] {
        try context.fetchPipeline.keys(request.erased)?.keys ?? []
    }

    /// Frees the memory of unused objects. Objects that a policy retains are read again at their next access.
    func letGo() {
        context.refresher.refresh(context.registry.refreshable, mergeChanges: true)
        // The context retains all refreshed objects until the pending changes are processed.
        context.processPendingChanges()
    }

    /// Validates all objects of all stores, as a first save does.
    ///
    /// - Throws: 134110 with the validation error as the underlying error.
    func validate(_ step: () throws -> Void) throws {
        let model = context.persistentStoreCoordinator?.managedObjectModel
        for entity in model?.entities ?? [] where !entity.isAbstract {
            let request = NSFetchRequest<NSManagedObject>()
            request.entity = entity
            request.includesSubentities = false
            try forEachPage(of: request) { keys in
                for block in MigrationBlocks(count: keys.count) {
                    for object in try objects(keys[block]) {
                        try validate(object, entity)
                        try step()
                    }
                    letGo()
                }
            }
        }
    }

    private func validate(_ object: NSManagedObject, _ entity: NSEntityDescription) throws {
        do { try object.validateForInsert() } catch {
            throw CoreDataError.make(
                134110, "The migrated store would not be valid: \(error.localizedDescription)",
                underlying: error, userInfo: ["entity": entity.name ?? ""])
        }
    }
}

/// The objects of a migration that are in memory at a time, as ranges of a list.
struct MigrationBlocks: Sequence, IteratorProtocol {
    static let size = 500

    let count: Int
    private var start = 0

    init(count: Int) { self.count = count }

    mutating func next() -> Range<Int>? {
        guard start < count else { return nil }
        defer { start = Swift.min(start + Self.size, count) }
        return start..<Swift.min(start + Self.size, count)
    }
}
