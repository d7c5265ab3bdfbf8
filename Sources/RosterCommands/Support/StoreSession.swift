import CoreData
import Foundation
import Translation

/// Purpose for which a command opens a store.
enum StoreAccess {
    case reading
    /// Reading, and following commits of others.
    case watching
    case writing
}

/// An open store with one context, for one command. The interactive program has another class of this name.
final class StoreSession {
    /// Seconds to wait for a store that another program has locked.
    static let patience: TimeInterval = 5

    /// Name of the store in messages.
    let name: String
    let model: NSManagedObjectModel
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext

    /// Opens an existing store.
    ///
    /// - Parameters:
    ///   - known: the model that the store was written with; `nil` to find it.
    ///   - context: the queue type of the context.
    /// - Throws: ``CommandError``, or an error of the framework, if the file is missing, is not a store, contains no
    ///   model, or was written with another model.
    init(
        _ location: StoreLocation, for access: StoreAccess, in surroundings: CommandSurroundings,
        model known: NSManagedObjectModel? = nil,
        context type: NSManagedObjectContext.ConcurrencyType = .privateQueue
    ) throws {
        let place = try StorePlace(location.store)
        name = place.name
        try place.checkThatItIsThere()
        model = try known ?? StoreModel.model(for: location, in: surroundings)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: place.type, at: place.url, options: Self.options(for: access))
        context = NSManagedObjectContext(type)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
    }

    /// Creates a store with history at a free place and opens it for writing.
    init(creating place: StorePlace, model: NSManagedObjectModel) throws {
        name = place.name
        try place.checkThatItIsFree()
        self.model = model
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: place.type, at: place.url, options: Self.creationOptions)
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
    }

    /// Runs `body` on the context's queue.
    func perform<Result>(_ body: () throws -> Result) throws -> Result { try context.performAndWait(body) }

    /// The entity named `name`.
    /// - Throws: ``CommandError`` of misuse, with the existing names.
    func entity(named name: String) throws -> NSEntityDescription {
        if let entity = model.entitiesByName[name] { return entity }
        let names = model.entitiesByName.keys.sorted()
        let near = names.first { $0.lowercased() == name.lowercased() }
        let all = names.isEmpty ? tr("the model is empty") : sentence("its entities: \(names.joined(separator: ", "))")
        let hint = near.map { sentence("did you mean \($0)?") } ?? all
        throw CommandError.misuse("the model has no entity “\(name)”; \(hint)")
    }

    /// Closes the store, so that its file is complete without a log.
    func close() throws {
        try perform { context.reset() }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// Reports once which values could not be read.
    func tellNotes(in surroundings: CommandSurroundings) {
        for note in coordinator.readingNotes { surroundings.note(VisibleText.shown(note)) }
    }

    /// Options to open an existing store. Do not set history tracking: a store with a history keeps it in any case, and
    /// no other store should get history tables that its owner did not ask for.
    private static func options(for access: StoreAccess) -> [AnyHashable: Any] {
        var options: [AnyHashable: Any] = [NSPersistentStoreTimeoutOption: patience]
        if access != .writing { options[NSReadOnlyPersistentStoreOption] = true }
        if access == .watching { options[NSPersistentStoreRemoteChangeNotificationPostOptionKey] = true }
        return options
    }

    private static var creationOptions: [AnyHashable: Any] {
        [NSPersistentHistoryTrackingKey: true, NSPersistentStoreTimeoutOption: patience]
    }
}
