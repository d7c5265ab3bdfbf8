import Foundation

/// Finds a container's model by name.
enum ModelLocator {
    private static let extensions = ["momd", "mom", "xcdatamodeld"]

    /// The model named `name` from the places of programs' resources, or else the cached model of the store at
    /// `storeURL`.
    ///
    /// - Throws: 260 if neither exists; the error of a model file that cannot be read.
    static func model(named name: String, orCachedIn storeURL: URL) throws -> NSManagedObjectModel {
        if let url = url(ofModelNamed: name) { return try NSManagedObjectModel(validContentsOf: url) }
        if FileManager.default.fileExists(atPath: storeURL.path) {
            return try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: storeURL)
        }
        throw CoreDataError.make(
            CocoaError.fileReadNoSuchFile.rawValue,
            "Found no model named \(name) in the program's folder or its resource bundles "
                + "(\(name).momd, .mom or .xcdatamodeld). "
                + "Pass a model to NSPersistentContainer(name:managedObjectModel:).")
    }

    private static func url(ofModelNamed name: String) -> URL? {
        for bundle in [Bundle.main] + Bundle.allBundles {
            for suffix in extensions {
                if let url = bundle.url(forResource: name, withExtension: suffix) { return url }
            }
        }
        for folder in ModelResources.folders {
            for suffix in extensions {
                let url = folder.appendingPathComponent("\(name).\(suffix)")
                if FileManager.default.fileExists(atPath: url.path) { return url }
            }
        }
        return nil
    }
}
