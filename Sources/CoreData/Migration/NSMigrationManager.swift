import Foundation
import Synchronization

/// Migrates a store of one model to a new store of another, by a mapping model.
///
/// A manager does one migration at a time, on the thread that calls `migrateStore`. Objects are migrated in blocks of 500 and
/// become faults after each block, so memory grows only by the keys of one entity's rows and the runs of keys that associate
/// objects; with a policy of the program also by a fault for each new object, all of which stay registered. Progress and cancellation
/// may be used on any thread.
// SAFETY: used by the thread that migrates; what others may touch, progress and cancellation, is behind a mutex.
open class NSMigrationManager: NSObject, @unchecked Sendable {
    /// The model of the store that is migrated.
    public let sourceModel: NSManagedObjectModel
    /// The model of the store that is made.
    public let destinationModel: NSManagedObjectModel
    /// The context with the objects of the source store, which are not to be changed.
    open private(set) var sourceContext = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    /// The context with the objects of the destination store, which are plain managed objects, not of the model's classes.
    open private(set) var destinationContext = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    /// The mapping model of the migration; one without mappings while there is none.
    open private(set) var mappingModel = NSMappingModel()
    /// The mapping that is worked on: each comes three times, for its objects, their relationships and their validation.
    open private(set) var currentEntityMapping = NSEntityMapping()
    /// What belongs to the program, for its policies for example.
    open var userInfo: [AnyHashable: Any]?
    /// Whether a store may be migrated by a way of its own instead of object by object. `true` by default. Migrations
    /// through a manager go object by object here in any case.
    open var usesStoreSpecificMigrationManager = true

    private struct Progress {
        var fraction: Float = 0
        var cancellation: (any Error)?
        var isRunning = false
    }

    private let progress = Mutex(Progress())
    private(set) lazy var run = MigrationRun(manager: self)

    /// A manager for migrations from stores of `sourceModel` to stores of `destinationModel`.
    public required init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
        self.sourceModel = sourceModel
        self.destinationModel = destinationModel
        super.init()
    }

    // MARK: Migrating

    /// Migrates the store at `sourceURL` to a new one at `destinationURL`, on the calling thread.
    ///
    /// - Parameters:
    ///   - sourceURL: where the source is.
    ///   - sourceType: the source's type.
    ///   - sourceOptions: with which the source is opened, read-only in any case.
    ///   - mapping: whose entity mappings are worked on in their order.
    ///   - destinationURL: where the new store is made; nothing may be there yet.
    ///   - destinationType: the new store's type.
    ///   - destinationOptions: with which the destination is made.
    /// - Throws: 516 where something stands at the destination; 134110 where the mapping does not fit the models, or what it
    ///   makes is not valid; 134111 where values are not unique; 134170 for an expression or a policy that is not there;
    ///   what a policy throws, and the error of ``cancelMigrationWithError(_:)``. Then nothing stands at the destination.
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
            throw CoreDataError.make(134110, "This migration manager is migrating another store: use one for each.")
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

    /// Migrates the store at `sourceURL` to a new one at `dURL`, on the calling thread, as
    /// `migrateStore(from:type:options:mapping:to:type:options:)` does.
    ///
    /// - Parameters:
    ///   - sourceURL: where the source is.
    ///   - sStoreType: the source's type.
    ///   - sOptions: with which the source is opened, read-only in any case.
    ///   - mappings: 134140 is thrown without one.
    ///   - dURL: where the new store is made; nothing may be there yet.
    ///   - dStoreType: the new store's type.
    ///   - dOptions: with which the destination is made.
    /// - Throws: 134140 without a mapping model; what the other member throws.
    open func migrateStore(
        from sourceURL: URL, sourceType sStoreType: String, options sOptions: [AnyHashable: Any]? = nil,
        with mappings: NSMappingModel?, toDestinationURL dURL: URL, destinationType dStoreType: String,
        destinationOptions dOptions: [AnyHashable: Any]? = nil
    ) throws {
        guard let mappings else {
            throw CoreDataError.make(
                134140, "The store \(sourceURL.path) cannot be migrated without a mapping model.",
                userInfo: ["sourceModel": sourceModel, "destinationModel": destinationModel])
        }
        try migrateStore(
            from: sourceURL, type: NSPersistentStore.StoreType(rawValue: sStoreType), options: sOptions,
            mapping: mappings, to: dURL, type: NSPersistentStore.StoreType(rawValue: dStoreType), options: dOptions)
    }

    /// How much of the migration is done, from 0 to 1; 0 while there is none. Any thread.
    open var migrationProgress: Float { progress.withLock { $0.fraction } }

    /// Ends the migration that goes on, from any thread: `migrateStore` throws `error` after the object it is at. Does nothing
    /// while there is none: a later one is not cancelled by a call that came too late for the one before.
    open func cancelMigrationWithError(_ error: any Error) {
        progress.withLock { if $0.isRunning { $0.cancellation = error } }
    }

    /// Forgets what became of which object.
    open func reset() { run.associations.reset() }

    func enter(_ mapping: NSEntityMapping) { currentEntityMapping = mapping }
    func report(progress fraction: Float) { progress.withLock { $0.fraction = fraction } }
    func checkCancellation() throws { if let error = progress.withLock({ $0.cancellation }) { throw error } }

    // MARK: What became of what

    /// Says that a destination object was made of a source object.
    open func associate(
        sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
        for entityMapping: NSEntityMapping
    ) {
        run.associations.add(sourceInstance, destinationInstance, mapping: entityMapping.name)
    }

    /// The destination objects that a mapping made of source objects; of all where they are `nil`.
    open func destinationInstances(
        forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        run.associations.destinations(mapping: mappingName, of: sourceInstances)
    }

    /// The source objects of which a mapping made destination objects; of all where they are `nil`.
    open func sourceInstances(
        forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        run.associations.sources(mapping: mappingName, of: destinationInstances)
    }

    /// What all mappings made of source objects.
    func destinationInstances(of sources: [NSManagedObject]) -> [NSManagedObject] {
        run.associations.destinations(mapping: nil, of: sources)
    }

    /// The entity that a mapping reads; `nil` where it adds one.
    open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.sourceEntityName.flatMap { sourceModel.entitiesByName[$0] }
    }

    /// The entity that a mapping makes; `nil` where it removes one.
    open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.destinationEntityName.flatMap { destinationModel.entitiesByName[$0] }
    }

    /// The request for the objects of a source entity, without its sub-entities, that mapping models name.
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
