import Foundation

extension NSManagedObjectContext {
    /// The objects, IDs, dictionaries or number that `request` finds; unsaved changes of the context count, unless the
    /// request says otherwise. Call it on the context's queue.
    ///
    /// - Throws: 134060 for a request that cannot be resolved, 133xxx and 134xxx of the stores.
    public func fetch<T: NSFetchRequestResult>(_ request: NSFetchRequest<T>) throws -> [T] {
        let results = try fetchPipeline.results(request.erased)
        if let typed = results.typed(as: T.self) { return typed }
        let found = results.untyped.first { !($0 is T) }.map { "\(type(of: $0))" } ?? "others"
        preconditionFailure(
            "A fetch request for \(T.self) found \(found): its resultType or its entity does not fit its type.")
    }

    /// The objects, IDs, dictionaries or number that a request finds whose result type is not known; unsaved changes of the
    /// context count, unless the request says otherwise. Each result can be cast to what bridges to its class, such as a
    /// dictionary of Swift.
    ///
    /// - Throws: 134060 for a request that cannot be resolved, 133xxx and 134xxx of the stores.
    public func fetch(_ request: NSFetchRequest<NSFetchRequestResult>) throws -> [AnyObject] {
        try fetchPipeline.fetch(request)
    }

    /// How many objects `request` finds; its offset and limit count, and so do unsaved changes. Reads no object.
    ///
    /// - Throws: as `fetch(_:)` does.
    public func count<T: NSFetchRequestResult>(for request: NSFetchRequest<T>) throws -> Int {
        try fetchPipeline.count(request.erased)
    }

    /// Carries out a request that is neither a fetch nor a save.
    ///
    /// - Throws: 134091 for a request of an unknown class.
    @discardableResult
    public func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        guard let executable = request as? any ContextExecutable else {
            throw CoreDataError.make(
                134091, "A context cannot execute \(type(of: request)): use fetch(_:) to fetch and save() to save.")
        }
        return try executable.execute(in: self)
    }
}

extension NSFetchRequest {
    /// What the request finds in the context whose `perform` or `performAndWait` block is running.
    ///
    /// - Throws: 134060 outside of such a block; what `fetch(_:)` throws.
    public func execute() throws -> [ResultType] {
        guard let context = CurrentContext.value else {
            throw CoreDataError.make(
                134060, "A fetch request can execute itself only inside a context's perform block; use fetch(_:).")
        }
        return try context.fetch(self)
    }
}

/// A request that a context can carry out.
protocol ContextExecutable: NSPersistentStoreRequest {
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult
}

extension NSPersistentStoreCoordinator {
    /// Carries out a request for a context: a fetch gives an array, a save an empty one, any other request its result.
    /// Prefer the context's own members: a save request goes to the stores without hooks and validation.
    ///
    /// - Throws: what the same request throws in a context.
    @discardableResult
    public func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        if let save = request as? NSSaveChangesRequest {
            try context.savePipeline.write(save)
            return [Any]()
        }
        if let fetch = request as? any ErasableFetchRequest { return try context.fetchPipeline.fetch(fetch.erased) }
        return try context.execute(request)
    }
}
