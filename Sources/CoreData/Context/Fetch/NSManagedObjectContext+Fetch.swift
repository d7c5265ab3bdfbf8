import Foundation

extension NSManagedObjectContext {
    /// Returns the objects, IDs, dictionaries or number that `request` asks for. Includes unsaved changes of the
    /// context, unless the request excludes them. Call it on the context's queue.
    ///
    /// - Throws: 134060 for a request that cannot be resolved, 133xxx and 134xxx of the stores.
    public func fetch<T: NSFetchRequestResult>(_ request: NSFetchRequest<T>) throws -> [T] {
        let results = try fetchPipeline.results(request.erased)
        if let typed = results.typed(as: T.self) { return typed }
        let found = results.untyped.first { !($0 is T) }.map { "\(type(of: $0))" } ?? "others"
        preconditionFailure(
            "A fetch request for \(T.self) found \(found). Its resultType or entity must fit this type.")
    }

    /// Returns the objects, IDs, dictionaries or number that a request of unknown result type asks for. Includes
    /// unsaved changes of the context, unless the request excludes them. Each result can be cast to a type that bridges
    /// to its class, such as a Swift dictionary.
    ///
    /// - Throws: 134060 for a request that cannot be resolved, 133xxx and 134xxx of the stores.
    public func fetch(_ request: NSFetchRequest<NSFetchRequestResult>) throws -> [AnyObject] {
        try fetchPipeline.fetch(request)
    }

    /// The number of objects that match `request`, with its offset and limit and with unsaved changes. Reads no
    /// objects.
    ///
    /// - Throws: the errors of `fetch(_:)`.
    public func count<T: NSFetchRequestResult>(for request: NSFetchRequest<T>) throws -> Int {
        try fetchPipeline.count(request.erased)
    }

    /// Executes a request that is neither a fetch nor a save.
    ///
    /// - Throws: 134091 for a request of an unknown class.
    @discardableResult
    public func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        guard let executable = request as? any ContextExecutable else {
            throw CoreDataError.make(
                134091, "execute(_:) does not support \(type(of: request)). Use fetch(_:) to fetch and save() to save.")
        }
        return try executable.execute(in: self)
    }
}

extension NSFetchRequest {
    /// Returns the results of the request in the context whose `perform` or `performAndWait` block is running.
    ///
    /// - Throws: 134060 outside of such a block; errors of `fetch(_:)`.
    public func execute() throws -> [ResultType] {
        guard let context = CurrentContext.value else {
            throw CoreDataError.make(
                134060, "execute() of a fetch request works only inside a perform block of a context. Use fetch(_:).")
        }
        return try context.fetch(self)
    }
}

/// A request that a context can execute.
protocol ContextExecutable: NSPersistentStoreRequest {
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult
}

extension NSPersistentStoreCoordinator {
    /// Executes a request for a context. Returns an array for a fetch, an empty array for a save, and the result of any
    /// other request. Prefer the context's own methods: a save request writes to the stores without hooks and
    /// validation.
    ///
    /// - Throws: the errors of the same request in a context.
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
