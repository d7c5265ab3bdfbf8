import Foundation

/// Finds the model of a container by its name.
enum ModelLocator {
    private static let extensions = ["momd", "mom", "xcdatamodeld"]

    /// The model named `name` from the places where programs keep their resources, or the one that the store at
    /// `storeURL` keeps of itself.
    ///
    /// - Throws: 260 when there is neither; what the model's file has to say when it cannot be read.
    static func model(named name: String, orCachedIn storeURL: URL) throws -> NSManagedObjectModel {
        if let url = url(ofModelNamed: name) { return try NSManagedObjectModel(validContentsOf: url) }
        if FileManager.default.fileExists(atPath: storeURL.path) {
            return try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: storeURL)
        }
        throw CoreDataError.make(
            CocoaError.fileReadNoSuchFile.rawValue,
            "No model named \(name) was found beside the program or in a resource bundle there "
                + "(\(name).momd, .mom or .xcdatamodeld); "
                + "pass a model to NSPersistentContainer(name:managedObjectModel:).")
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
