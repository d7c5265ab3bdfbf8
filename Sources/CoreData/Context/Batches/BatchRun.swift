import Foundation

/// The common part of all batch requests: the context that executes one, the stores that it changes, and the
/// notification of other contexts.
///
/// Runs under the coordinator's lock: by one statement for all rows if the store can do that exactly, otherwise row by
/// row through the same statements as saves. Either way, history, derived attributes, external files and join tables
/// are as after a save.
struct BatchRun {
    let context: NSManagedObjectContext
    let coordinator: NSPersistentStoreCoordinator

    /// The number of rows to read and write at a time: a multiple of the rows that one statement inserts.
    static let stepSize = 1024

    init(in context: NSManagedObjectContext, _ request: NSPersistentStoreRequest) throws {
        context.requireQueue("the execution of \(type(of: request))")
        self.context = context
        guard let coordinator = context.persistentStoreCoordinator else {
            throw CoreDataError.make(
                134060,
                "Cannot execute \(type(of: request)): the context has no persistent store coordinator. Set one first."
            )
        }
        self.coordinator = coordinator
    }

    /// Returns the entity with a name.
    ///
    /// - Throws: 134060 if the model has no entity of that name.
    func entity(named name: String) throws -> NSEntityDescription {
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: name)
        return try FetchPlan.entity(of: request, in: coordinator.managedObjectModel)
    }

    /// Runs `body` for each of `stores`, each in its own transaction, and notifies observers of those that were
    /// written.
    func write(
        to stores: [any RowStore], _ body: (any RowStore, any BatchSteps) throws -> Void
    ) throws {
        // The root's names are used, as for saves, which reach the stores through the root.
        let (author, name) = (context.root.transactionAuthor, context.root.name)
        var written: [any RowStore] = []
        defer { coordinator.didWriteBatch(to: written) }
        for store in stores {
            try coordinator.withLock {
                guard let operations = store.operations as? any BatchWriting else {
                    throw CoreDataError.make(
                        134091,
                        "Stores of type \(store.type) do not support batch requests. Change objects and save them instead."
                    )
                }
                try operations.writeInSteps(author: author, contextName: name) { try body(store, $0) }
            }
            written.append(store)
        }
    }

    /// Divides a list into the parts that are written at a time.
    static func steps<Element>(of list: [Element]) -> some Sequence<ArraySlice<Element>> {
        stride(from: 0, to: list.count, by: stepSize).lazy.map { list[$0..<min($0 + stepSize, list.count)] }
    }
}
