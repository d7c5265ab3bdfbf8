import Foundation
import Synchronization

/// Migrates a store of one model to a new store of another, by a mapping model.
///
/// A manager runs one migration at a time, on the thread that calls `migrateStore`. Objects are migrated in blocks of
/// 500 and become faults after each block. Besides a block, memory contains the keys of one entity's rows and the
/// ranges of keys that associate source and destination objects. With a custom policy it also contains one fault per
/// new object, because these stay registered. Progress and cancellation may be used on any thread.
// SAFETY: used by the migrating thread; progress and cancellation, which other threads may use, are behind a mutex.
open class NSMigrationManager: NSObject, @unchecked Sendable {
    /// The model of the source store.
    public let sourceModel: NSManagedObjectModel
    /// The model of the new store.
    public let destinationModel: NSManagedObjectModel
    /// The context of the source store's objects, which must not be changed.
    open private(set) var sourceContext = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    /// The context of the destination store's objects, which are plain managed objects, not of the model's classes.
    open private(set) var destinationContext = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    /// The mapping model of the migration; an empty one if no migration has started.
    open private(set) var mappingModel = NSMappingModel()
    /// The current mapping. Each mapping is current three times: for its objects, their relationships and their
    /// validation.
    open private(set) var currentEntityMapping = NSEntityMapping()
    /// Data of the program, for its policies for example.
    open var userInfo: [AnyHashable: Any]?
    /// True if a store may be migrated in its own way instead of object by object. `true` by default. On Linux,
    /// migrations by a manager are always object by object.
    open var usesStoreSpecificMigrationManager = true

    private struct Progress {
        var fraction: Float = 0
        var cancellation: (any Error)?
        var isRunning = false
    }

    private let progress = Mutex(Progress())
    private(set) lazy var run = MigrationRun(manager: self)

    /// Creates a manager for migrations from `sourceModel` to `destinationModel`.
    public required init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
        self.sourceModel = sourceModel
        self.destinationModel = destinationModel
        super.init()
    }

    // MARK: Migrating

    /// Migrates the store at `sourceURL` to a new one at `destinationURL`, on the calling thread.
    ///
    /// - Parameters:
    ///   - sourceURL: the URL of the source.
    ///   - sourceType: the source's type.
    ///   - sourceOptions: options for opening the source, which is always opened read-only.
    ///   - mapping: the mapping model, whose entity mappings run in order.
    ///   - destinationURL: the URL of the new store; nothing may exist there.
    ///   - destinationType: the new store's type.
    ///   - destinationOptions: options for creating the destination.
    /// - Throws: 516 if something exists at the destination; 134110 if the mapping does not fit the models, or its
    ///   results are invalid; 134111 if values are not unique; 134170 for an unknown expression or policy; the error
    ///   of a policy, and that of ``cancelMigrationWithError(_:)``. After an error the destination does not exist.
    ///   The source is never changed.
    open func migrateStore(
        from sourceURL: URL, type sourceType: NSPersistentStore.StoreType,
        options sourceOptions: [AnyHashable: Any]? = nil,
        mapping: NSMappingModel, to destinationURL: URL, type destinationType: NSPersistentStore.StoreType,
        options destinationOptions: [AnyHashable: Any]? = nil
    ) throws {
        let isFree = progress.withLock { progress in
            defer { progress.isRunning = true }
            return !progress.isRunning
        }
        guard isFree else {
            throw CoreDataError.make(
                134110, "This migration manager is migrating another store. Use one manager per store.")
        }
        defer { progress.withLock { $0 = Progress() } }
        mappingModel = mapping
        let stores = MigrationStores(
            source: (sourceURL, sourceType.rawValue, sourceOptions),
            destination: (destinationURL, destinationType.rawValue, destinationOptions))
        try stores.open(for: self) { source, destination in
            (sourceContext, destinationContext) = (source, destination)
            run = MigrationRun(manager: self)
            try source.performAndWait { try destination.performAndWait { try run.run() } }
        }
        report(progress: 1)
    }

    /// Migrates the store at `sourceURL` to a new one at `dURL`, on the calling thread, like
    /// `migrateStore(from:type:options:mapping:to:type:options:)`.
    ///
    /// - Parameters:
    ///   - sourceURL: the URL of the source.
    ///   - sStoreType: the source's type.
    ///   - sOptions: options for opening the source, which is always opened read-only.
    ///   - mappings: the mapping model; `nil` throws 134140.
    ///   - dURL: the URL of the new store; nothing may exist there.
    ///   - dStoreType: the new store's type.
    ///   - dOptions: options for creating the destination.
    /// - Throws: 134140 without a mapping model; the errors of the other member.
    open func migrateStore(
        from sourceURL: URL, sourceType sStoreType: String, options sOptions: [AnyHashable: Any]? = nil,
        with mappings: NSMappingModel?, toDestinationURL dURL: URL, destinationType dStoreType: String,
        destinationOptions dOptions: [AnyHashable: Any]? = nil
    ) throws {
        guard let mappings else {
            throw CoreDataError.make(
                134140, "Cannot migrate the store \(sourceURL.path) without a mapping model.",
                userInfo: ["sourceModel": sourceModel, "destinationModel": destinationModel])
        }
        try migrateStore(
            from: sourceURL, type: NSPersistentStore.StoreType(rawValue: sStoreType), options: sOptions,
            mapping: mappings, to: dURL, type: NSPersistentStore.StoreType(rawValue: dStoreType), options: dOptions)
    }

    /// The completed fraction of the migration, from 0 to 1; 0 if none is running. Any thread.
    open var migrationProgress: Float { progress.withLock { $0.fraction } }

    /// Cancels the running migration, from any thread: `migrateStore` throws `error` after the current object. Has no
    /// effect if none is running, so a late call does not cancel a later migration.
    open func cancelMigrationWithError(_ error: any Error) {
        progress.withLock { if $0.isRunning { $0.cancellation = error } }
    }

    /// Clears all associations of objects.
    open func reset() { run.associations.reset() }

    func enter(_ mapping: NSEntityMapping) { currentEntityMapping = mapping }
    func report(progress fraction: Float) { progress.withLock { $0.fraction = fraction } }
    func checkCancellation() throws { if let error = progress.withLock({ $0.cancellation }) { throw error } }

    // MARK: What became of what

    /// Records that a destination object was created from a source object.
    open func associate(
        sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
        for entityMapping: NSEntityMapping
    ) {
        run.associations.add(sourceInstance, destinationInstance, mapping: entityMapping.name)
    }

    /// The destination objects that a mapping created from the source objects; from all if `nil`.
    open func destinationInstances(
        forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        run.associations.destinations(mapping: mappingName, of: sourceInstances)
    }

    /// The source objects from which a mapping created the destination objects; of all if `nil`.
    open func sourceInstances(
        forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        run.associations.sources(mapping: mappingName, of: destinationInstances)
    }

    /// The destination objects that all mappings created from the source objects.
    func destinationInstances(of sources: [NSManagedObject]) -> [NSManagedObject] {
        run.associations.destinations(mapping: nil, of: sources)
    }

    /// The source entity of a mapping; `nil` if it adds an entity.
    open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.sourceEntityName.flatMap { sourceModel.entitiesByName[$0] }
    }

    /// The destination entity of a mapping; `nil` if it removes an entity.
    open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.destinationEntityName.flatMap { destinationModel.entitiesByName[$0] }
    }

    /// The request, named in mapping models, for the objects of a source entity without its subentities.
    func fetchRequest(
        forSourceEntityNamed name: String, predicateString: String?
    ) throws -> NSFetchRequest<NSManagedObject> {
        guard let entity = sourceModel.entitiesByName[name] else {
            throw CoreDataError.make(134110, "The mapping model reads \(name), which the source model does not have.")
        }
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = entity
        request.includesSubentities = false
        request.fetchBatchSize = MigrationBlocks.size
        if let predicateString {
            do { request.predicate = try NSPredicate.parse(format: predicateString) } catch {
                throw CoreDataError.make(
                    134110, "The predicate of \(name) in the mapping model cannot be read: \(error)", underlying: error)
            }
        }
        return request
    }
}
