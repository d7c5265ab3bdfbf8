import CoreData
import Foundation

/// `copy`: all records of a store into a new one, of whatever types they are, compared afterwards.
public struct CopyCommand {
    /// The store that is copied.
    public var source: StoreLocation
    /// A path or the URL of a server, where no store is.
    public var destination: String

    /// The command with what it is asked for; see the properties.
    public init(source: StoreLocation, destination: String) {
        self.source = source
        self.destination = destination
    }

    /// - Throws: ``CommandError`` where something is at the destination, or the copy is not like the original; then the copy is
    ///   removed. An error of the framework. Also where the copy is made, but values are missing in it as in the store.
    public func run(in surroundings: CommandSurroundings) throws {
        let place = try StorePlace(destination)
        try place.checkThatItIsFree()
        let session = try StoreSession(source, for: .reading, in: surroundings)
        let (original, missing) = try session.perform {
            var checksum = ContentChecksum(session.context)
            return (try checksum.entities(), checksum.missing?.line)
        }
        try NewStoreFiles.removing(at: place.url) {
            do {
                let made = try session.coordinator.migratePersistentStore(
                    session.coordinator.persistentStores[0], to: place.url,
                    options: [NSPersistentHistoryTrackingKey: true], type: place.type)
                try session.coordinator.remove(made)
                try compare(original, at: place, session.model)
            } catch let error as CommandError {
                // Of a store in a file an empty one stays, which goes then.
                try? session.coordinator.destroyPersistentStore(at: place.url, type: place.type)
                throw error
            }
        }
        try SavedReport.telling(true, of: .copy) {
            try report(original, session.name, place.name, surroundings)
            if let missing { throw CommandError.failure(text: missing) }
        }
    }

    private func report(
        _ entities: [ContentChecksum.Entity], _ source: String, _ copy: String, _ surroundings: CommandSurroundings
    ) throws {
        for entity in entities {
            let checksum = String(entity.checksum, radix: 16)
            try surroundings.output.write(
                "\(VisibleText.shown(entity.name)): \(RecordCount.text(entity.count)), checksum \(checksum)\n")
        }
        try surroundings.output.write("copied \(VisibleText.shown(source)) to \(VisibleText.shown(copy))\n")
        try surroundings.output.flush()
    }

    /// Reads the copy as any program would.
    private func compare(
        _ original: [ContentChecksum.Entity], at place: StorePlace, _ model: NSManagedObjectModel
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            type: place.type, at: place.url, options: [NSReadOnlyPersistentStoreOption: true])
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let copied = try context.performAndWait {
            var checksum = ContentChecksum(context)
            return try checksum.entities()
        }
        for (entity, copy) in zip(original, copied) where entity != copy {
            throw CommandError.failure(
                "the copy differs in \(entity.name): \(entity.count) records with checksum \(String(entity.checksum, radix: 16)) became \(copy.count) with \(String(copy.checksum, radix: 16)); it was removed"
            )
        }
    }
}
