import CoreData
import Foundation
import Translation

/// Finds the model of a store.
package enum StoreModel {
    /// The model named on the command line, or else the store's own.
    static func model(
        for location: StoreLocation, in surroundings: CommandSurroundings
    ) throws -> NSManagedObjectModel {
        if let path = location.model { return try model(atPath: path) }
        return try model(inStoreAt: location.storeURL(), in: surroundings)
    }

    /// The model at `path`, which is a model's file or a store.
    static func any(at path: String, in surroundings: CommandSurroundings) throws -> NSManagedObjectModel {
        let url = try StorePlace(path).url
        guard url.isFileURL else { return try model(inStoreAt: url, in: surroundings) }
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw CommandError.failure("no file at \(url.path)")
        }
        switch url.pathExtension {
        case "xcdatamodeld", "xcdatamodel", "momd", "mom": return try model(atPath: url.path)
        // The file inside an `.xcdatamodel`.
        case "" where url.lastPathComponent == "contents": return try model(atPath: url.path)
        default: return try model(inStoreAt: url, in: surroundings)
        }
    }

    /// The model in a file or bundle: `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`.
    static func model(atPath path: String) throws -> NSManagedObjectModel {
        let url = URL(fileURLWithPath: path)
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw CommandError.failure("no model at \(path)")
        }
        return try NSManagedObjectModel(validContentsOf: url)
    }

    /// The model that the store contains, or else one inferred from its tables, with a note.
    private static func model(
        inStoreAt url: URL, in surroundings: CommandSurroundings
    ) throws -> NSManagedObjectModel {
        do {
            return try NSPersistentStoreCoordinator.cachedModelForPersistentStore(
                at: url, options: [NSStoreTypeKey: StorePlace(url: url).type.rawValue])
        } catch let error as CocoaError where error.code.rawValue == keepsNoModel {
            let type = StorePlace(url: url).type
            guard type == .sqlite else {
                // Throws the error for a file that is not a store.
                _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url)
                throw CommandError.misuse(
                    "\(url.path) contains no model: name its model with --model FILE")
            }
            let model = try NSPersistentStoreCoordinator.inferredModelForPersistentStore(at: url)
            surroundings.note(
                model.showsPlainTables
                    ? plainTablesNote(url.path)
                    : "\(url.path) contains no model: using one inferred from its tables, read-only"
            )
            for line in model.inferenceNotes { surroundings.note(VisibleText.shown(line)) }
            return model
        }
    }

    /// The remark on a file that is not a store.
    package static func plainTablesNote(_ path: String) -> String {
        sentence("\(path) is an SQLite file of another program: its tables are entities, and are only read")
    }

    /// Error code of a store without a model.
    private static let keepsNoModel = 134_130
}
