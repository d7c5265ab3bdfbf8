import CoreData
import Foundation

/// Stores are read completely and, if they open, changed and read again.
struct StoreTarget: FuzzTarget {
    let seeds: [[UInt8]]
    private let file: URL
    private let type: NSPersistentStore.StoreType

    init(folder: URL, type: NSPersistentStore.StoreType) throws {
        self.type = type
        file = folder.appendingPathComponent("damaged.store")
        var options: [AnyHashable: Any] = [:]
        if type == .sqlite {
            options = [NSPersistentHistoryTrackingKey: true, NSSQLitePragmasOption: ["journal_mode": "DELETE"]]
        }
        let url = folder.appendingPathComponent("whole.store")
        let context = try FuzzStore.context(of: FuzzStore.model, type: type, at: url, options: options)
        try FuzzStore.fill(context, count: 8)
        for store in context.persistentStoreCoordinator?.persistentStores ?? [] {
            try context.persistentStoreCoordinator?.remove(store)
        }
        seeds = [[UInt8](try Data(contentsOf: url))]
    }

    var pieces: [String] {
        type == .xml
            ? ["<object type=\"TEAM\" id=\"z1\">", "</object>", "idrefs=\"z1 z2\"", "&#0;", "1e999", "\"-1\""] : []
    }

    func read(_ bytes: [UInt8]) throws { try read(Data(bytes), log: nil) }

    /// Reads and changes a store with the given write-ahead log.
    func read(_ main: Data, log: [UInt8]?) throws {
        try main.write(to: file)
        if let log { try Data(log).write(to: URL(fileURLWithPath: file.path + "-wal")) }
        defer { for suffix in ["-wal", "-shm", "-journal"] { unlink(file.path + suffix) } }
        do {
            _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: file)
            try open(isReadOnly: true, work: look)
            try open(isReadOnly: false, work: change)
        } catch let error where !(error is WrongAnswer) {
            let error = error as NSError
            try WrongAnswer.unless(
                error.domain == NSCocoaErrorDomain && !error.localizedDescription.contains("\n"),
                "the error is \(error)")
            throw error
        }
    }

    private func open(isReadOnly: Bool, work: (NSManagedObjectContext) throws -> Void) throws {
        let context = try FuzzStore.context(
            of: FuzzStore.model, type: type, at: file,
            options: isReadOnly ? [NSReadOnlyPersistentStoreOption: true] : [:])
        let coordinator = context.persistentStoreCoordinator
        defer { for store in coordinator?.persistentStores ?? [] { try? coordinator?.remove(store) } }
        try context.performAndWait { try work(context) }
    }

    private func look(_ context: NSManagedObjectContext) throws {
        for (name, entity) in FuzzStore.model.entitiesByName {
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name)) {
                for key in entity.propertiesByName.keys { follow(object.value(forKey: key)) }
            }
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
        request.predicate = NSPredicate(format: "name CONTAINS[cd] 'e' AND ANY players.goals >= 0")
        request.sortDescriptors = [NSSortDescriptor(key: "venue.city", ascending: true)]
        _ = try context.fetch(request)
    }

    private func follow(_ value: Any?) {
        let many = (value as? NSSet)?.allObjects ?? (value as? NSOrderedSet)?.array
        for case let object as NSManagedObject in many ?? [value as Any] {
            for name in object.entity.attributesByName.keys { _ = object.value(forKey: name) }
        }
    }

    private func change(_ context: NSManagedObjectContext) throws {
        let teams = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team"))
        teams.first?.setValue("changed", forKey: "name")
        if let last = teams.last, teams.count > 1 { context.delete(last) }
        let new = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
        new.setValue("new", forKey: "name")
        try context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
        request.predicate = NSPredicate(format: "name == 'new'")
        let count = try context.count(for: request)
        try WrongAnswer.unless(count > 0, "what was saved is not found")
    }
}
