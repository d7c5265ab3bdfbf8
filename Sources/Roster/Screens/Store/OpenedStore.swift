import CoreData
import Foundation
import RosterCommands

/// A store after opening, on any thread.
nonisolated struct OpenedStore {
    let url: URL
    let container: NSPersistentContainer
    let isReadOnly: Bool
    /// Record counts by entity, up to ``mostCounted``, if the first entity is chosen by them. Entities that cannot be
    /// counted within `countingTime` are missing, because counting a million records reads a whole index from disk
    /// before anything is shown.
    let sizes: [String: Int]

    /// Maximum time of the first counting.
    private static let countingTime = Duration.milliseconds(250)
    /// Limit of the counts; larger numbers are not distinguished.
    static let mostCounted = 100_000

    /// Opens a store and observes changes of other processes. Its history setting is not changed: tables for history
    /// are not added.
    ///
    /// - Parameters:
    ///   - modelURL: the model file; `nil` uses the model stored in the store.
    ///   - named: candidates for the first entity. If the model has one of them, entities are not counted.
    ///   - stop: raised when the store is not needed any more.
    ///   - Throws: an error with a one-line message. Waits for a store that another program has locked.
    init(url: URL, modelURL: URL?, isReadOnly: Bool, named: [String] = [], stop: JobControl) throws {
        let model = try StoreLock.waiting(stop) { try Self.model(at: modelURL, forStore: url) }
        // A model inferred from tables lacks information that a save needs, so the store is opened read-only.
        let isReadOnly = isReadOnly || model.isInferred
        let description = NSPersistentStoreDescription(url: url)
        description.type = StorePlace(url: url).type.rawValue
        description.isReadOnly = isReadOnly
        // Stores of another version are reported, not migrated without a question.
        description.shouldMigrateStoreAutomatically = false
        description.shouldInferMappingModelAutomatically = false
        description.timeout = StoreLock.attempt
        description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        self.url = url
        self.isReadOnly = isReadOnly
        let container = try StoreLock.waiting(stop) {
            let container = NSPersistentContainer(
                name: url.deletingPathExtension().lastPathComponent, managedObjectModel: model)
            container.persistentStoreDescriptions = [description]
            var failure: (any Error)?
            container.loadPersistentStores { _, error in failure = error }
            if let failure { throw failure }
            return container
        }
        self.container = container
        let isNamed = named.contains { model.entitiesByName[$0]?.isAbstract == false }
        sizes = isNamed ? [:] : Self.sizes(in: container)
    }

    private static func model(at modelURL: URL?, forStore url: URL) throws -> NSManagedObjectModel {
        if let modelURL { return try NSManagedObjectModel(validContentsOf: modelURL) }
        do {
            return try NSPersistentStoreCoordinator.cachedModelForPersistentStore(
                at: url, options: [NSStoreTypeKey: StorePlace(url: url).type.rawValue])
        } catch let error as CocoaError where error.code.rawValue == 134_130 {
            return try NSPersistentStoreCoordinator.inferredModelForPersistentStore(at: url)
        }
    }

    /// Counts entities until the time is over.
    private static func sizes(in container: NSPersistentContainer) -> [String: Int] {
        let context = container.newBackgroundContext()
        let end = ContinuousClock.now + countingTime
        var sizes: [String: Int] = [:]
        context.performAndWait {
            for entity in container.managedObjectModel.entities where !entity.isAbstract && ContinuousClock.now < end {
                guard let name = entity.name else { continue }
                sizes[name] = try? context.count(for: EntityCounts.request(for: entity, upTo: mostCounted))
            }
        }
        return sizes
    }
}
