import CoreData
import Foundation
import Translation

/// Purpose for which a command opens a store.
enum StoreAccess {
    case reading
    /// Reading, and following others' commits.
    case watching
    case writing
}

/// An open store with one context, for one command. The program on the screen has another class of this name.
final class StoreSession {
    /// Seconds to wait for a store that another program has locked.
    static let patience: TimeInterval = 5

    /// Name of the store in messages.
    let name: String
    let model: NSManagedObjectModel
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext

    /// Opens a store that is there.
    ///
    /// - Parameters:
    ///   - known: the model that the store was written with; `nil` where it has to be found.
    ///   - context: the kind of queue that the context works on.
    /// - Throws: ``CommandError``, or an error of the framework, when it is not there, is no store, carries no model, or was
    ///   written with another one.
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

    /// Makes a store where nothing is, with history, and opens it for writing.
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

    /// The entity of that name.
    /// - Throws: ``CommandError`` of misuse, with the names that there are.
    func entity(named name: String) throws -> NSEntityDescription {
        if let entity = model.entitiesByName[name] { return entity }
        let names = model.entitiesByName.keys.sorted()
        let near = names.first { $0.lowercased() == name.lowercased() }
        let all = names.isEmpty ? tr("it has none") : sentence("it has \(names.joined(separator: ", "))")
        let hint = near.map { sentence("did you mean \($0)?") } ?? all
        throw CommandError.misuse("the model has no entity “\(name)”; \(hint)")
    }

    /// Closes the store, so that its file is whole by itself.
    func close() throws {
        try perform { context.reset() }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// Says once what could not be read of the records.
    func tellNotes(in surroundings: CommandSurroundings) {
        for note in coordinator.readingNotes { surroundings.note(VisibleText.shown(note)) }
    }

    /// A store that keeps a history goes on keeping it, whatever is asked; one that does not is not given tables that its
    /// owner never asked for.
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
