import CoreData
import Foundation
import RosterCommands

/// A store that was opened, before the program uses it: made on any thread.
nonisolated struct OpenedStore {
    let url: URL
    let container: NSPersistentContainer
    let isReadOnly: Bool
    /// How many records the entities have, by name, where the first one to show is to be chosen by that: as far as they could be
    /// counted in a moment, and up to ``mostCounted``. To count a million records is to read a whole index from the disk, before
    /// anything is shown.
    let sizes: [String: Int]

    /// So long the first counting may take.
    private static let countingTime = Duration.milliseconds(250)
    /// Of more records than this it does not matter how many they are.
    static let mostCounted = 100_000

    /// Opens a store. It tells of changes by other processes, so that the list is live; a store that keeps a history goes
    /// on keeping it, one that does not is not given tables that its owner never asked for.
    ///
    /// - Parameters:
    ///   - modelURL: the model's file; without one, the model that the store itself carries.
    ///   - named: the entities of which one is shown first, if the store has it: then none has to be chosen.
    ///   - stop: raised when the store is not wanted any more.
    /// - Throws: what prevented it, as one clear line. A store that another program has locked is waited for.
    init(url: URL, modelURL: URL?, isReadOnly: Bool, named: [String] = [], stop: JobControl) throws {
        let model = try StoreLock.waiting(stop) { try Self.model(at: modelURL, forStore: url) }
        // A model that was inferred does not know what a save has to keep up.
        let isReadOnly = isReadOnly || model.isInferred
        let description = NSPersistentStoreDescription(url: url)
        description.type = StorePlace(url: url).type.rawValue
        description.isReadOnly = isReadOnly
        // A store of another version is told about, never changed unasked.
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

    /// Counts one entity after the other until the time is over.
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
