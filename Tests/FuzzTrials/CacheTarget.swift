import CoreData
import Foundation

/// Lists that controllers keep on disk, half of them with the checksums that a forger would give them.
struct CacheTarget: FuzzTarget {
    let seeds: [[UInt8]]
    private let context: NSManagedObjectContext
    private let file: URL

    init(folder: URL) throws {
        let url = folder.appendingPathComponent("list.sqlite")
        let writer = try FuzzStore.context(
            of: FuzzStore.model, type: .sqlite, at: url, options: [NSPersistentHistoryTrackingKey: true])
        try FuzzStore.fill(writer, count: 40)
        context = writer
        let controller = Self.controller(context)
        try context.performAndWait { try controller.performFetch() }
        let caches = folder.appendingPathComponent("cache/\(ProcessInfo.processInfo.processName)/FetchedResults")
        var found: URL?
        for _ in 0..<500 where found == nil {
            // The list is written on a queue of its own.
            found = try? FileManager.default.contentsOfDirectory(at: caches, includingPropertiesForKeys: nil).first {
                $0.pathExtension == "list"
            }
            usleep(10_000)
        }
        guard let found else { throw WrongAnswer(description: "no list was kept in \(caches.path)") }
        file = found
        seeds = [[UInt8](try Data(contentsOf: file))]
    }

    private static func controller(_ context: NSManagedObjectContext) -> NSFetchedResultsController<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
        request.sortDescriptors = [
            NSSortDescriptor(key: "favorite", ascending: true), NSSortDescriptor(key: "name", ascending: true),
        ]
        return NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "favorite", cacheName: "fuzz")
    }

    func read(_ bytes: [UInt8]) throws {
        for forged in [false, true] {
            try Data(forged ? ListForgery.withChecksums(bytes) : bytes).write(to: file)
            try context.performAndWait {
                let controller = Self.controller(context)
                try controller.performFetch()
                use(controller)
                if !forged {
                    try WrongAnswer.unless(
                        controller.fetchedObjects?.count == 40 && controller.sections?.count == 2,
                        "a damaged list was believed: \(controller.fetchedObjects?.count ?? -1) rows")
                }
                try changeUnder(controller)
            }
        }
    }

    private func use(_ controller: NSFetchedResultsController<NSManagedObject>) {
        for (number, section) in (controller.sections ?? []).enumerated() {
            _ = section.name
            for row in 0..<min(section.numberOfObjects, 50) {
                let object = controller.object(at: IndexPath(row: row, section: number))
                _ = controller.indexPath(forObject: object)
                _ = (try? context.existingObject(with: object.objectID))?.value(forKey: "name")
            }
        }
        _ = controller.sectionIndexTitles
    }

    /// Moves a row within the list that was believed, and takes it back.
    private func changeUnder(_ controller: NSFetchedResultsController<NSManagedObject>) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
        request.fetchLimit = 1
        guard let team = try context.fetch(request).first else { return }
        team.setValue("~", forKey: "name")
        context.processPendingChanges()
        _ = controller.indexPath(forObject: team)
        context.delete(team)
        context.processPendingChanges()
        context.rollback()
        use(controller)
    }
}

/// Right checksums for changed lists: the words at 40 and 48 of a file (`CachedList` has the format).
enum ListForgery {
    static func withChecksums(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        guard bytes.count >= 64 else { return bytes }
        let (length, offset) = (word(bytes, 8), word(bytes, 24))
        guard length >= 64, length <= UInt64(bytes.count), offset <= UInt64(bytes.count) else { return bytes }
        store(checksum(bytes[Int(offset)...]), in: &bytes, at: 40)
        store(0, in: &bytes, at: 48)
        store(checksum(bytes[..<Int(length)]), in: &bytes, at: 48)
        return bytes
    }

    // SAFETY: eight bytes are there, by the guards of the caller.
    private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt64 {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
    }

    // SAFETY: as for `word`.
    private static func store(_ word: UInt64, in bytes: inout [UInt8], at offset: Int) {
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: word, toByteOffset: offset, as: UInt64.self) }
    }

    // SAFETY: the bytes are read during the closure only.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        var checksum = ListChecksum()
        bytes.withUnsafeBytes { checksum.update($0) }
        return checksum.value
    }
}
