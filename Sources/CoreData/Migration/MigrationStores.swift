import Foundation

/// Opens the two stores of a migration, and takes the new one away again where it fails.
struct MigrationStores {
    typealias Place = (url: URL, type: String, options: [AnyHashable: Any]?)

    let source: Place
    let destination: Place

    func open(
        for manager: NSMigrationManager, _ body: (NSManagedObjectContext, NSManagedObjectContext) throws -> Void
    ) throws {
        guard destination.url.isMemoryPlace || !FileManager.default.fileExists(atPath: destination.url.path) else {
            throw CoreDataError.make(
                516,
                "Cannot migrate \(source.url.path) to \(destination.url.path): a file stands there already.",
                userInfo: [NSFilePathErrorKey: destination.url.path])
        }
        let reading = NSPersistentStoreCoordinator(managedObjectModel: manager.sourceModel)
        let writing = NSPersistentStoreCoordinator(managedObjectModel: manager.destinationModel)
        let old = try add(source, readOnly: true, to: reading, 134150)
        defer { try? reading.remove(old) }
        do {
            let new = try add(destination, readOnly: false, to: writing, 134160)
            defer { try? writing.remove(new) }
            try body(context(of: reading), context(of: writing))
            try keepMetadata(of: old, in: new, writing)
        } catch {
            removeWhatWasMade()
            throw error
        }
    }

    private func add(
        _ place: Place, readOnly: Bool, to coordinator: NSPersistentStoreCoordinator, _ code: Int
    ) throws -> NSPersistentStore {
        var options = place.options ?? [:]
        options[NSReadOnlyPersistentStoreOption] = readOnly
        options[NSMigratePersistentStoresAutomaticallyOption] = nil
        do {
            return try coordinator.addPersistentStore(
                ofType: place.type, configurationName: nil, at: place.url, options: options)
        } catch {
            throw CoreDataError.make(code, error.localizedDescription, underlying: error)
        }
    }

    private func context(of coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
        return context
    }

    /// What a program keeps in a store's metadata goes along; what the framework keeps there is the new store's own.
    private func keepMetadata(
        of old: NSPersistentStore, in new: NSPersistentStore, _ coordinator: NSPersistentStoreCoordinator
    ) throws {
        let merged = (old.metadata ?? [:]).merging(new.metadata ?? [:]) { $1 }
        coordinator.setMetadata(merged, for: new)
        if new.hasUnsavedMetadata { try new.operations.save(StoreChangeSet()) }
    }

    /// Nothing stood at the URL before.
    private func removeWhatWasMade() {
        guard !destination.url.isMemoryPlace,
            let storeClass = try? StoreTypeRegistry.storeClass(of: destination.type)
        else { return }
        try? storeClass.destroyStore(at: destination.url, options: nil)
        PlainFile.remove(destination.url.path)
    }
}
