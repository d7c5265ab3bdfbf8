import CoreData
import Foundation

/// `copy`: copies all records of a store into a new one of any type and compares both.
public struct CopyCommand {
    /// The store that is copied.
    public var source: StoreLocation
    /// A path or the URL of a server, without a store yet.
    public var destination: String

    /// Creates the command; see the properties.
    public init(source: StoreLocation, destination: String) {
        self.source = source
        self.destination = destination
    }

    /// - Throws: ``CommandError`` if the destination exists, or the copy differs from the original; then the copy is
    ///   removed. Also if the copy was made but lacks values that the store cannot read. An error of the framework.
    public func run(in surroundings: CommandSurroundings) throws {
        let place = try StorePlace(destination)
        try NewStoreFiles.checkThatItIsFree(place)
        let contents: Contents
        do {
            contents = try copy(source, to: place, surroundings)
        } catch is ChangedMeanwhile {
            contents = try copyOneState(to: place, surroundings)
        }
        try SavedReport.telling(true, of: .copy) {
            try report(contents.entities, try StorePlace(source.store).name, place.name, surroundings)
            if let missing = contents.missing { throw CommandError.failure(text: missing) }
        }
    }

    /// Counts and checksums of a store, and its unreadable values.
    private struct Contents {
        let entities: [ContentChecksum.Entity]
        let missing: String?
    }

    /// The copy differs from the store, and the store was changed while it was copied.
    private struct ChangedMeanwhile: Error {}

    /// - Throws: also ``ChangedMeanwhile``; then the copy is removed.
    private func copy(
        _ source: StoreLocation, to place: StorePlace, _ surroundings: CommandSurroundings
    ) throws -> Contents {
        let session = try StoreSession(source, for: .reading, in: surroundings)
        let before = try contents(of: session)
        return try NewStoreFiles.make(at: place) { place in
            do {
                let made = try session.coordinator.migratePersistentStore(
                    session.coordinator.persistentStores[0], to: place.url,
                    options: [NSPersistentHistoryTrackingKey: true], type: place.type)
                try session.coordinator.remove(made)
                let copied = try entities(of: place, session.model)
                if copied == before.entities { return before }
                let after = try contents(of: StoreSession(source, for: .reading, in: surroundings))
                if copied == after.entities { return after }
                guard after.entities == before.entities else { throw ChangedMeanwhile() }
                throw Self.difference(before.entities, copied)
            } catch {
                if place.isOnServer, error is CommandError || error is ChangedMeanwhile {
                    try? session.coordinator.destroyPersistentStore(at: place.url, type: place.type)
                }
                throw error
            }
        }
    }

    /// Copies a store that others write continuously: from a copy of one state that SQLite makes first. A store of
    /// another type must not change during the copy.
    private func copyOneState(to place: StorePlace, _ surroundings: CommandSurroundings) throws -> Contents {
        let original = try StorePlace(source.store)
        guard original.type == .sqlite else {
            for _ in 0..<4 {
                do { return try copy(source, to: place, surroundings) } catch is ChangedMeanwhile {}
            }
            throw CommandError.failure(
                "not copied: other programs kept changing \(original.name). Copy it while no program writes to it"
            )
        }
        let making = StoreInMaking(
            for: place.isOnServer ? original.url.path : place.url.path, .snapshot, discard: StoreInMaking.discard)
        defer {
            StoreInMaking.discard(making.path)
            making.end()
        }
        try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).replacePersistentStore(
            at: URL(fileURLWithPath: making.path), withPersistentStoreFrom: original.url, type: .sqlite)
        let snapshot = StoreLocation(store: making.path, model: source.model)
        return try copy(snapshot, to: place, surroundings)
    }

    private func contents(of session: StoreSession) throws -> Contents {
        try session.perform {
            // Reads one state of the store if its type supports that.
            try? session.context.setQueryGenerationFrom(.current)
            var checksum = ContentChecksum(session.context)
            let entities = try checksum.entities()
            return Contents(entities: entities, missing: try checksum.missingLine())
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

    /// Reads the copy as any other program would.
    private func entities(of place: StorePlace, _ model: NSManagedObjectModel) throws -> [ContentChecksum.Entity] {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            type: place.type, at: place.url, options: [NSReadOnlyPersistentStoreOption: true])
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            var checksum = ContentChecksum(context)
            return try checksum.entities()
        }
    }

    private static func difference(
        _ original: [ContentChecksum.Entity], _ copied: [ContentChecksum.Entity]
    ) -> CommandError {
        guard let (entity, copy) = zip(original, copied).first(where: { $0 != $1 }) else {
            return .failure("the copy has different entities and was removed")
        }
        return .failure(
            "the copy differs in \(entity.name): \(entity.count) records with checksum \(String(entity.checksum, radix: 16)) became \(copy.count) with \(String(copy.checksum, radix: 16)); it was removed"
        )
    }
}
