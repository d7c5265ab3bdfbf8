import Foundation

/// Adds the newer form of `defaultDirectoryURL()` to containers, because a class cannot declare both.
public protocol DefaultDirectoryProviding {}

extension DefaultDirectoryProviding where Self: NSPersistentContainer {
    /// The default folder for stores, as returned by `defaultDirectoryURL()`. On any thread.
    public static var defaultDirectoryURL: URL { Self.defaultDirectoryURL() }
}

/// The complete stack in one object: a model, a coordinator with its stores, and contexts.
///
/// Safe on any thread, except ``persistentStoreDescriptions``, which must be set before other threads use the
/// container. ``viewContext`` is used on the main queue, each other context on its own queue.
// SAFETY: immutable except for the descriptions, which are set before other threads use the container.
open class NSPersistentContainer: NSObject, DefaultDirectoryProviding, @unchecked Sendable {
    /// The name of the container: the name of its model's file, and by default of its store's.
    public let name: String
    /// The model of all stores.
    public let managedObjectModel: NSManagedObjectModel
    /// The coordinator to which `loadPersistentStores(completionHandler:)` adds the stores.
    public let persistentStoreCoordinator: NSPersistentStoreCoordinator
    /// The context of the main queue, directly on the coordinator.
    public let viewContext: NSManagedObjectContext
    /// The stores to load. By default one SQLite store `name.sqlite` in `defaultDirectoryURL()`.
    open var persistentStoreDescriptions: [NSPersistentStoreDescription]

    /// The error of `init(name:)` if it found no model; reported when the stores are loaded.
    private var modelFailure: (any Error)?

    /// Creates a container with the named model: `name.momd`, `name.mom` or `name.xcdatamodeld` in the main bundle,
    /// in the resources next to the program, or in its folder. If there is none, uses the cached model of the
    /// container's default store.
    ///
    /// If no model is found, `loadPersistentStores(completionHandler:)` reports the error.
    public convenience init(name: String) {
        let storeURL = Self.defaultStoreURL(named: name)
        let found = Result { try ModelLocator.model(named: name, orCachedIn: storeURL) }
        switch found {
        case .success(let model): self.init(name: name, managedObjectModel: model)
        case .failure(let error):
            self.init(name: name, managedObjectModel: NSManagedObjectModel())
            modelFailure = error
        }
    }

    /// Creates a container with the given model, and a description of an SQLite store `name.sqlite` in
    /// `defaultDirectoryURL()`.
    public init(name: String, managedObjectModel model: NSManagedObjectModel) {
        self.name = name
        managedObjectModel = model
        persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        viewContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        viewContext.persistentStoreCoordinator = persistentStoreCoordinator
        persistentStoreDescriptions = []
        super.init()
        persistentStoreDescriptions = [
            NSPersistentStoreDescription(url: type(of: self).defaultStoreURL(named: name))
        ]
    }

    /// The default folder for stores: a folder with the program's name in the user's data folder. Override it to use
    /// another. Called on any thread.
    open class func defaultDirectoryURL() -> URL {
        // Foundation uses only the system's user folder, even if `HOME` names another.
        URL(fileURLWithPath: OwnFolder.data)
            .appendingPathComponent(ProcessInfo.processInfo.processName, isDirectory: true)
    }

    private static func defaultStoreURL(named name: String) -> URL {
        defaultDirectoryURL().appendingPathComponent("\(name).sqlite")
    }

    /// Adds the stores of all descriptions that were not added yet.
    ///
    /// - Parameter block: called once per store, with the error if it could not be added. Called on this thread
    ///   before the method returns, unless the description asks for another thread.
    open func loadPersistentStores(
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        for description in persistentStoreDescriptions where !isLoaded(description) {
            do {
                if let modelFailure { throw modelFailure }
                try makeDefaultDirectory(for: description)
            } catch {
                block(description, error)
                continue
            }
            persistentStoreCoordinator.addPersistentStore(with: description, completionHandler: block)
        }
    }

    private func isLoaded(_ description: NSPersistentStoreDescription) -> Bool {
        guard let url = description.url, !url.isMemoryPlace else { return false }
        return persistentStoreCoordinator.persistentStore(for: url) != nil
    }

    /// Creates the default folder if it is missing; any other folder must exist.
    private func makeDefaultDirectory(for description: NSPersistentStoreDescription) throws {
        let directory = Self.defaultDirectoryURL()
        guard let url = description.url,
            url.deletingLastPathComponent().standardizedFileURL == directory.standardizedFileURL
        else { return }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    // MARK: Contexts

    /// Creates a context on the coordinator with a private queue.
    open func newBackgroundContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = persistentStoreCoordinator
        return context
    }

    /// Runs `block` on the queue of a new context; returns at once.
    ///
    /// The closure is not isolated to an actor, like that of ``NSManagedObjectContext/perform(_:)``.
    @preconcurrency
    open func performBackgroundTask(_ block: @escaping @Sendable (NSManagedObjectContext) -> Void) {
        let context = newBackgroundContext()
        context.perform { block(context) }
    }

    /// Runs `block` on the queue of a new context, and returns its result. Throws the error of `block`.
    ///
    /// Any actor may call it. The closure is not isolated to an actor, like that of
    /// ``NSManagedObjectContext/perform(schedule:_:)``.
    @preconcurrency
    nonisolated(nonsending) public func performBackgroundTask<T, E: Error>(
        _ block: @escaping @Sendable (NSManagedObjectContext) throws(E) -> T
    ) async throws(E) -> T {
        let result: UncheckedSendable<Result<T, E>> = await withCheckedContinuation { continuation in
            performBackgroundTask { context in
                let outcome = Result { () throws(E) in try block(context) }
                continuation.resume(returning: UncheckedSendable(outcome))
            }
        }
        return try result.value.get()
    }
}
