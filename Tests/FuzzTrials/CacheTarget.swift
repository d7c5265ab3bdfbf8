import CoreData
import Foundation
import ModelFiles

/// Lists that controllers cache on disk, each as damaged and again with corrected checksums.
final class CacheTarget: FuzzTarget {
    private(set) var seeds: [[UInt8]] = []
    private let context: NSManagedObjectContext
    private let caches: URL
    private let rows = 40
    /// Each list has its own name, because a refused list is rewritten on another queue.
    private var number = 0

    init(folder: URL) throws {
        let url = folder.appendingPathComponent("list.sqlite")
        context = try FuzzStore.context(
            of: FuzzStore.model, type: .sqlite, at: url, options: [NSPersistentHistoryTrackingKey: true])
        try FuzzStore.fill(context, count: rows)
        caches = folder.appendingPathComponent("cache/\(ProcessInfo.processInfo.processName)/FetchedResults")
        let controller = controller("whole")
        try context.performAndWait { try controller.performFetch() }
        let file = file(named: "whole")
        // The list is written on its own queue.
        for _ in 0..<500 where !FileManager.default.fileExists(atPath: file.path) { usleep(10_000) }
        seeds = [[UInt8](try Data(contentsOf: file))]
        try checkThatForgeriesAreBelieved(controller)
    }

    /// Checks that a forged list is accepted. Otherwise the damage would test nothing.
    private func checkThatForgeriesAreBelieved(_ whole: NSFetchedResultsController<NSManagedObject>) throws {
        var bytes = seeds[0]
        let first = Int(ListForgery.word(bytes, 24))
        for index in first..<first + 8 { bytes.swapAt(index, index + 8) }
        try Data(ListForgery.withChecksums(bytes)).write(to: file(named: "swapped"))
        let swapped = controller("swapped")
        try context.performAndWait {
            try swapped.performFetch()
            let paths = [IndexPath(row: 0, section: 0), IndexPath(row: 1, section: 0)]
            try WrongAnswer.unless(
                paths.map { swapped.object(at: $0) } == paths.reversed().map { whole.object(at: $0) },
                "a list with its first rows exchanged was not believed")
        }
    }

    private func file(named name: String) -> URL {
        var hash = SHA256()
        hash.update(Array(name.utf8))
        let text = hash.finalize().prefix(16).map { String(format: "%02x", $0) }.joined()
        return caches.appendingPathComponent(text + ".list")
    }

    private func controller(_ name: String) -> NSFetchedResultsController<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
        request.sortDescriptors = [
            NSSortDescriptor(key: "favorite", ascending: true), NSSortDescriptor(key: "name", ascending: true),
        ]
        return NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "favorite", cacheName: name)
    }

    func read(_ bytes: [UInt8]) throws {
        try read(bytes, telling: nil) { controller in
            guard bytes != seeds[0] else { return }
            // A damaged list is refused, so the controller has fetched all rows.
            try WrongAnswer.unless(
                controller.fetchedObjects?.count == rows && controller.sections?.count == 2,
                "a damaged list was believed: \(controller.fetchedObjects?.count ?? -1) rows")
        }
        let listener: any NSFetchedResultsControllerDelegate = number % 4 < 2 ? RowListener() : ListListener()
        try read(ListForgery.withChecksums(bytes), telling: listener) { controller in
            try context.performAndWait {
                use(controller)
                try changeUnder(controller)
                controller.fetchRequest.predicate = NSPredicate(format: "wins >= 20")
            }
            refetch(controller)
            context.performAndWait { use(controller) }
        }
    }

    /// Makes a controller that finds `bytes` in its cache file.
    private func read(
        _ bytes: [UInt8], telling listener: (any NSFetchedResultsControllerDelegate)?,
        then body: (NSFetchedResultsController<NSManagedObject>) throws -> Void
    ) throws {
        number += 1
        let name = "list \(number)"
        try Data(bytes).write(to: file(named: name))
        let controller = controller(name)
        controller.delegate = listener
        try context.performAndWait { try controller.performFetch() }
        try body(controller)
        withExtendedLifetime(listener) {}
        NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name)
    }

    private func use(_ controller: NSFetchedResultsController<NSManagedObject>) {
        for (number, section) in (controller.sections ?? []).enumerated() {
            _ = section.name
            for row in 0..<min(section.numberOfObjects, 20) {
                let object = controller.object(at: IndexPath(row: row, section: number))
                _ = controller.indexPath(forObject: object)
                _ = (try? context.existingObject(with: object.objectID))?.value(forKey: "name")
            }
        }
        _ = controller.sectionIndexTitles
    }

    /// Moves a row of the accepted list, deletes it and rolls back.
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

    /// Waits until the accepted list is compared with the store.
    private func refetch(_ controller: NSFetchedResultsController<NSManagedObject>) {
        let done = DispatchSemaphore(value: 0)
        let held = Held(controller: controller)
        Task.detached {
            try? await held.controller.refetch(telling: .changes)
            done.signal()
        }
        done.wait()
    }

    // SAFETY: Used by one task while the caller waits.
    private struct Held: @unchecked Sendable {
        let controller: NSFetchedResultsController<NSManagedObject>
    }
}

/// Receives the change of each row.
private final class RowListener: NSObject, NSFetchedResultsControllerDelegate {
    var changes = 0

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        changes += 1
    }
}

/// Receives whole lists.
private final class ListListener: NSObject, NSFetchedResultsControllerDelegate {
    var changes = 0

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
        changes += diff.count
    }
}

/// Corrects the checksums of changed lists: the words at offsets 40 and 48 (`CachedList` has the format).
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

    // SAFETY: The callers guard that eight bytes are there.
    static func word(_ bytes: [UInt8], _ offset: Int) -> UInt64 {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
    }

    // SAFETY: As for `word`.
    private static func store(_ word: UInt64, in bytes: inout [UInt8], at offset: Int) {
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: word, toByteOffset: offset, as: UInt64.self) }
    }

    // SAFETY: The bytes are read during the closure only.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        var checksum = ListChecksum()
        bytes.withUnsafeBytes { checksum.update($0) }
        return checksum.value
    }
}
