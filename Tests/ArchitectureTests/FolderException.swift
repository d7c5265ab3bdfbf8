/// A folder of `CoreData` that names a type of a folder below it, because Apple's API forces the cycle.
struct FolderException {
    /// The start of the path, relative to `Sources/CoreData`.
    let place: String
    let type: String
    let reason: String

    func covers(file path: String) -> Bool { path.hasPrefix("Sources/CoreData/" + place) }

    static func allows(file path: String, type: String) -> Bool {
        all.contains { $0.type == type && $0.covers(file: path) }
    }

    static let all: [FolderException] = [
        FolderException(
            place: "Stores/Contract/NSPersistentStore", type: "NSMigrationManager",
            reason: "a store type names the class of its migration manager: Apple's API"),
        FolderException(
            place: "Stack/StoreUpgrade", type: "NSMigrationManager",
            reason: "a store that is added may have to be migrated first: Apple's API"),
        FolderException(
            place: "Stack/StoreUpgrade", type: "NSStagedMigrationManager",
            reason: "a store that is added may have to be migrated first, in stages: Apple's API"),
        FolderException(
            place: "Stack/StoreUpgrade", type: "StagedMigration",
            reason: "a store that is added may have to be migrated first, in stages: Apple's API"),
        FolderException(
            place: "Model/", type: "NSExpression",
            reason: "derived attributes and indexes have expressions: Apple's API"),
        FolderException(
            place: "Model/", type: "NSFetchRequest",
            reason: "a model has named requests, a fetched property has one: Apple's API"),
        FolderException(
            place: "Model/", type: "NSFetchRequestResult", reason: "the requests of a model find any kind of result"),
        FolderException(
            place: "Model/ModelAssembly+Predicate", type: "NSFetchRequestResultType",
            reason: "a model's file says what its requests find"),
        FolderException(
            place: "Model/ModelAssembly+Predicate", type: "SortSelector",
            reason: "a model's file says how its requests sort"),
        FolderException(
            place: "Objects/NSManagedObjectID", type: "NSPersistentStore", reason: "an ID tells its store: Apple's API"),
        FolderException(
            place: "Objects/NSManagedObject.swift", type: "NSManagedObjectContext",
            reason: "an object tells its context and is made in one: Apple's API"),
        FolderException(
            place: "Objects/NSManagedObject+Home", type: "NSManagedObjectContext",
            reason: "an object goes into a context: Apple's API"),
        FolderException(
            place: "Objects/ObjectHome", type: "NSManagedObjectContext",
            reason: "what an object tells of its context is kept for all objects together"),
        FolderException(
            place: "Objects/NSManagedObject.swift", type: "NSFetchRequest",
            reason: "a class of objects makes the request for them: Apple's API"),
        FolderException(
            place: "Objects/NSManagedObject.swift", type: "NSFetchRequestResult",
            reason: "a class of objects makes the request for them: Apple's API"),
        FolderException(
            place: "Support/SlotValue", type: "NSManagedObjectID", reason: "a to-one slot holds its destination's ID"),
        FolderException(
            place: "Predicates/", type: "NSManagedObjectID",
            reason: "objects are compared and, as the last sort key, ordered by their IDs"),
        FolderException(
            place: "Predicates/NSPredicate+Tree", type: "NSManagedObject",
            reason: "any object may be evaluated: the frequent class is known without a search for what it conforms to"),
        FolderException(
            place: "Predicates/NSPredicate+Tree", type: "SlotProgram",
            reason: "the same: what the frequent class is evaluated by"),
        FolderException(
            place: "Predicates/NSSortDescriptor+Key", type: "NSManagedObject",
            reason: "any two objects may be compared: the frequent class is known without a search"),
        FolderException(
            place: "Requests/NSPersistentStoreRequest", type: "NSPersistentStore",
            reason: "a request names the stores to ask: Apple's API"),
        FolderException(
            place: "Requests/NSFetchRequest.swift", type: "NSPersistentStore",
            reason: "a request names the stores to ask: Apple's API"),
        FolderException(
            place: "Stores/Server/ServerStore.swift", type: "NSPersistentStoreCoordinator",
            reason: "the initialiser that every store class has: Apple's API"),
        FolderException(
            place: "Stores/Atomic/NSAtomicStore.swift", type: "NSPersistentStoreCoordinator",
            reason: "a store is made for its coordinator: Apple's API"),
        FolderException(
            place: "Stores/Incremental/", type: "NSManagedObjectContext",
            reason: "a store of a program's own is called with a context: Apple's API"),
        FolderException(
            place: "Stores/Incremental/NSIncrementalStore.swift", type: "NSPersistentStoreCoordinator",
            reason: "the initialiser that every store class has: Apple's API"),
        FolderException(
            place: "Stores/Atomic/AtomicStoreRows", type: "NSManagedObjectContext",
            reason: "the nodes of an atomic store are made of objects, also where rows are copied: Apple's API"),
        FolderException(
            place: "Stores/Contract/NSPersistentStore", type: "NSPersistentStoreCoordinator",
            reason: "a store tells its coordinator: Apple's API"),
        FolderException(
            place: "Stack/NSPersistentStoreCoordinator", type: "RemoteChangeWatcher",
            reason: "adding a store with Apple's remote-change option begins to watch it"),
        FolderException(
            place: "Stack/NSPersistentContainer", type: "NSManagedObjectContext",
            reason: "a container makes contexts: Apple's API"),
    ]
}
