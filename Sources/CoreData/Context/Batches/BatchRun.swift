import Foundation

/// What all batch requests have in common: the context that orders it, the stores that carry it out, and the contexts
/// that hear of it.
///
/// Everything happens under the coordinator's lock: by one statement for all rows where the store can do that exactly, else row
/// by row through the same statements as saves. Either way the history, derived attributes, external files and join tables are
/// what a save would leave.
struct BatchRun {
    let context: NSManagedObjectContext
    let coordinator: NSPersistentStoreCoordinator

    /// How many rows are read and written at once: a multiple of what a statement inserts.
    static let stepSize = 1024

    init(in context: NSManagedObjectContext, _ request: NSPersistentStoreRequest) throws {
        context.requireQueue("the execution of \(type(of: request))")
        self.context = context
        guard let coordinator = context.persistentStoreCoordinator else {
            throw CoreDataError.make(
                134060,
                "Cannot execute \(type(of: request)): the context has no persistent store coordinator; give it one first."
            )
        }
        self.coordinator = coordinator
    }

    /// - Throws: 134060 where the model has no entity of that name.
    func entity(named name: String) throws -> NSEntityDescription {
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: name)
        return try FetchPlan.entity(of: request, in: coordinator.managedObjectModel)
    }

    /// Runs `body` for each of `stores`, each in a transaction of its own, and tells the world of those that were written.
    func write(
        to stores: [any RowStore], _ body: (any RowStore, any BatchSteps) throws -> Void
    ) throws {
        // As with saves, which reach the stores through the root.
        let (author, name) = (context.root.transactionAuthor, context.root.name)
        var written: [any RowStore] = []
        defer { coordinator.didWriteBatch(to: written) }
        for store in stores {
            try coordinator.withLock {
                guard let operations = store.operations as? any BatchWriting else {
                    throw CoreDataError.make(
                        134091,
                        "A store of type \(store.type) knows no batch requests: change objects and save them instead.")
                }
                try operations.writeInSteps(author: author, contextName: name) { try body(store, $0) }
            }
            written.append(store)
        }
    }

    /// Cuts a list into the pieces that are written at once.
    static func steps<Element>(of list: [Element]) -> some Sequence<ArraySlice<Element>> {
        stride(from: 0, to: list.count, by: stepSize).lazy.map { list[$0..<min($0 + stepSize, list.count)] }
    }
}
