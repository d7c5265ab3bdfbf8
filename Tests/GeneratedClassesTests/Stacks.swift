import CoreData

/// A container for a model of this module, found by name, with a store in its own folder.
final class Stack {
    let container: NSPersistentContainer
    let folder: URL
    var context: NSManagedObjectContext { container.viewContext }

    init(_ name: String) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("generated-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        container = NSPersistentContainer(name: name)
        container.persistentStoreDescriptions = [
            NSPersistentStoreDescription(url: folder.appendingPathComponent("\(name).sqlite"))
        ]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Saves, and runs `body` with a new context that registers no objects yet.
    func reopened(_ body: (NSManagedObjectContext) throws -> Void) throws {
        try context.save()
        let fresh = container.newBackgroundContext()
        try fresh.performAndWait { try body(fresh) }
    }
}
