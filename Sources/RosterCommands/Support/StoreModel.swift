import CoreData
import Foundation

/// Finds the model of a store.
enum StoreModel {
    /// The model that the command line names, or else the store's own.
    static func model(for location: StoreLocation) throws -> NSManagedObjectModel {
        if let path = location.model { return try model(atPath: path) }
        return try model(inStoreAt: location.storeURL())
    }

    /// The model in a file or bundle: `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`.
    static func model(atPath path: String) throws -> NSManagedObjectModel {
        let url = URL(fileURLWithPath: path)
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw CommandError.failure("no model at \(path)")
        }
        return try NSManagedObjectModel(validContentsOf: url)
    }

    /// The model that the store carries.
    static func model(inStoreAt url: URL) throws -> NSManagedObjectModel {
        try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
    }
}
