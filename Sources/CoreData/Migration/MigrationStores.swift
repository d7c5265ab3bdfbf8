import Foundation

/// Opens the two stores of a migration, and removes the new one if it fails.
struct MigrationStores {
    typealias Place = (url: URL, type: String, options: [AnyHashable: Any]?)

    let source: Place
    let destination: Place

    func open(
        for manager: NSMigrationManager, _ body: (NSManagedObjectContext, NSManagedObjectContext) throws -> Void
    ) throws {
        try checkThatNothingIsThere()
        let creation = StoreMaking()
        let reading = NSPersistentStoreCoordinator(managedObjectModel: manager.sourceModel)
        let writing = NSPersistentStoreCoordinator(managedObjectModel: manager.destinationModel)
        let old = try add(source, readOnly: true, to: reading, 134150)
        defer { try? reading.remove(old) }
        try reading.withLock { try old.operations.unreadable.refuseLoss("migrate") }
        do {
            let new = try add(destination, readOnly: false, to: writing, 134160, creation)
            defer { try? writing.remove(new) }
            let made = context(of: writing)
            // The program's classes and their hooks are meant for its own stores only.
            made.lifeCycle.makesPlainObjects = true
            try body(context(of: reading), made)
            try keepMetadata(of: old, in: new, writing)
        } catch {
            try? StoreTypeRegistry.storeClass(of: destination.type).removeUnfinished(at: destination.url, creation)
            throw error
        }
    }

    private func checkThatNothingIsThere() throws {
        let url = destination.url
        guard url.isFileURL else {
            guard try StoreTypeRegistry.storeClass(of: destination.type).holdsNothing(at: url) else {
                throw CoreDataError.make(
                    516, "Cannot migrate \(source.url.path) to \(url.withoutPassword): a store already exists there.")
            }
            return
        }
        guard url.isMemoryPlace || !FileManager.default.fileExists(atPath: url.path) else {
            throw CoreDataError.make(
                516, "Cannot migrate \(source.url.path) to \(url.path): the file already exists.",
                userInfo: [NSFilePathErrorKey: url.path])
        }
        try StoreTypeRegistry.storeClass(of: destination.type).checkThatNothingIsLeft(at: url)
    }

    private func add(
        _ place: Place, readOnly: Bool, to coordinator: NSPersistentStoreCoordinator, _ code: Int,
        _ creation: StoreMaking? = nil
    ) throws -> any RowStore {
        var options = place.options ?? [:]
        options[NSReadOnlyPersistentStoreOption] = readOnly
        options[NSMigratePersistentStoresAutomaticallyOption] = nil
        do {
            return try coordinator.add(
                StoreAddition(
                    type: place.type, configuration: nil, url: place.url, options: options, creation: creation))
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

    /// Copies the program's metadata to the new store. The framework's metadata is the new store's own.
    private func keepMetadata(
        of old: any RowStore, in new: any RowStore, _ coordinator: NSPersistentStoreCoordinator
    ) throws {
        let merged = DeferredWork.leftOut(of: old.metadata ?? [:]).merging(new.metadata ?? [:]) { $1 }
        coordinator.setMetadata(merged, for: new)
        if new.hasUnsavedMetadata { try new.operations.save(StoreChangeSet()) }
    }
}
