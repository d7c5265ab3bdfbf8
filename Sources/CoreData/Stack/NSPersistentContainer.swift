import Foundation

/// Gives containers the newer spelling of `defaultDirectoryURL()`: a class cannot declare both itself.
public protocol DefaultDirectoryProviding {}

extension DefaultDirectoryProviding where Self: NSPersistentContainer {
    /// Where stores stand unless a description says otherwise: what `defaultDirectoryURL()` says. On any thread.
    public static var defaultDirectoryURL: URL { Self.defaultDirectoryURL() }
}

/// The whole stack in one object: a model, a coordinator with its stores, and contexts for them.
///
/// Safe on any thread, but for ``persistentStoreDescriptions``, which are set up before other threads know the container.
/// ``viewContext`` belongs to the main queue, each other context to its own.
// SAFETY: immutable but for the descriptions, which are set up before other threads know the container.
open class NSPersistentContainer: NSObject, DefaultDirectoryProviding, @unchecked Sendable {
    /// The name of the container: of its model's file, and of its store's unless a description says otherwise.
    public let name: String
    /// The model of all stores.
    public let managedObjectModel: NSManagedObjectModel
    /// The coordinator that `loadPersistentStores(completionHandler:)` adds the stores to.
    public let persistentStoreCoordinator: NSPersistentStoreCoordinator
    /// The context of the main queue, on the coordinator itself.
    public let viewContext: NSManagedObjectContext
    /// The stores to load; one SQLite store `name.sqlite` in `defaultDirectoryURL()` unless replaced.
    open var persistentStoreDescriptions: [NSPersistentStoreDescription]

    /// Why `init(name:)` has no model, if it has none: loading the stores says so.
    private var modelFailure: (any Error)?

    /// A container with the model of that name: `name.momd`, `name.mom` or `name.xcdatamodeld` in the main bundle, in
    /// the resources beside the program, or beside the program itself. Where there is none, the model that the
    /// container's default store keeps of itself.
    ///
    /// Where no model is found, `loadPersistentStores(completionHandler:)` says so.
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

    /// A container with the given model, and a description of an SQLite store `name.sqlite` in `defaultDirectoryURL()`.
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

    /// Where stores stand unless a description says otherwise: a folder of the program's name among the user's data.
    /// Override it to have another. Called on any thread.
    open class func defaultDirectoryURL() -> URL {
        // Foundation asks the system alone for the user's folder, where `HOME` names another one.
        URL(fileURLWithPath: OwnFolder.data)
            .appendingPathComponent(ProcessInfo.processInfo.processName, isDirectory: true)
    }

    private static func defaultStoreURL(named name: String) -> URL {
        defaultDirectoryURL().appendingPathComponent("\(name).sqlite")
    }

    /// Adds the store of every description that was not added yet.
    ///
    /// - Parameter block: called once for each of them, with the error where its store could not be added: on this
    ///   thread before the method returns, unless the description asks for another.
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

    /// The default folder is made where it is missing; any other has to be there.
    private func makeDefaultDirectory(for description: NSPersistentStoreDescription) throws {
        let directory = Self.defaultDirectoryURL()
        guard let url = description.url,
            url.deletingLastPathComponent().standardizedFileURL == directory.standardizedFileURL
        else { return }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    // MARK: Contexts

    /// A new context with a queue of its own, on the coordinator.
    open func newBackgroundContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = persistentStoreCoordinator
        return context
    }

    /// Runs `block` on the queue of a new context; returns at once.
    ///
    /// The closure belongs to no actor, as that of ``NSManagedObjectContext/perform(_:)``.
    @preconcurrency
    open func performBackgroundTask(_ block: @escaping @Sendable (NSManagedObjectContext) -> Void) {
        let context = newBackgroundContext()
        context.perform { block(context) }
    }

    /// Runs `block` on the queue of a new context, and gives back what it returns. Throws what `block` throws.
    ///
    /// Any actor may call it; the closure belongs to none, as that of ``NSManagedObjectContext/perform(schedule:_:)``.
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
