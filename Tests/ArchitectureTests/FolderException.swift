/// Why folders of `CoreData` name types of folders below them: a rule, and the places that it holds for.
struct FolderException {
    /// What the places have in common.
    let reason: String
    /// The start of a path, relative to `Sources/CoreData` → the types that may be named there.
    let types: [String: [String]]

    init(_ reason: String, _ types: [String: [String]]) { (self.reason, self.types) = (reason, types) }

    private static func covers(_ place: String, file path: String) -> Bool {
        path.hasPrefix("Sources/CoreData/" + place)
    }

    static func allows(file path: String, type: String) -> Bool {
        all.contains { rule in rule.types.contains { covers($0, file: path) && $1.contains(type) } }
    }

    /// What no file of `files` needs.
    func unused(in files: [SourceFile]) -> [String] {
        types.flatMap { place, types in
            let identifiers = files.filter { Self.covers(place, file: $0.path) }.map(\.identifiers)
            return types.filter { type in !identifiers.contains { $0.contains(type) } }.map { "\($0) in \(place)" }
        }
    }

    /// At most fifteen rules, most of them Apple's API, which is one cycle of types.
    static let all: [FolderException] = [
        FolderException(
            "Apple's API: a store is made for its coordinator, and tells it",
            [
                "Stores/Contract/NSPersistentStore": ["NSPersistentStoreCoordinator"],
                "Stores/Server/ServerStore.swift": ["NSPersistentStoreCoordinator"],
                "Stores/Atomic/NSAtomicStore.swift": ["NSPersistentStoreCoordinator"],
                "Stores/Incremental/NSIncrementalStore.swift": ["NSPersistentStoreCoordinator"],
            ]),
        FolderException(
            "Apple's API: stores of a program's own are called with a context, or with objects",
            [
                "Stores/Incremental/": ["NSManagedObjectContext"],
                "Stores/Atomic/AtomicStoreRows": ["NSManagedObjectContext"],
            ]),
        FolderException(
            "Apple's API: a store type names the class of its migration manager",
            ["Stores/Contract/NSPersistentStore": ["NSMigrationManager"]]),
        FolderException(
            "Apple's API: a store that is added may have to be migrated first, at once or in stages",
            ["Stack/StoreUpgrade": ["NSMigrationManager", "NSStagedMigrationManager", "StagedMigration"]]),
        FolderException(
            "Apple's API: adding a store with the remote-change option begins to watch it",
            ["Stack/NSPersistentStoreCoordinator": ["RemoteChangeWatcher"]]),
        FolderException(
            "Apple's API: a container makes contexts",
            ["Stack/NSPersistentContainer": ["NSManagedObjectContext"]]),
        FolderException(
            "Apple's API: a model has expressions and named requests, and its file says what these find and how they sort",
            [
                "Model/": ["NSExpression", "NSFetchRequest", "NSFetchRequestResult"],
                "Model/ModelAssembly+Predicate": ["NSFetchRequestResultType", "SortSelector"],
            ]),
        FolderException(
            "Apple's API: an object is made in a context, goes into it and tells it; its home keeps what it tells",
            [
                "Objects/NSManagedObject.swift": ["NSManagedObjectContext"],
                "Objects/NSManagedObject+Home": ["NSManagedObjectContext"],
                "Objects/ObjectHome": ["NSManagedObjectContext"],
            ]),
        FolderException(
            "Apple's API: a class of objects makes the request for them",
            ["Objects/NSManagedObject.swift": ["NSFetchRequest", "NSFetchRequestResult"]]),
        FolderException(
            "Apple's API: an ID tells its store", ["Objects/NSManagedObjectID": ["NSPersistentStore"]]),
        FolderException(
            "Apple's API: a request names the stores to ask",
            [
                "Requests/NSPersistentStoreRequest": ["NSPersistentStore"],
                "Requests/NSFetchRequest.swift": ["NSPersistentStore"],
            ]),
        FolderException(
            "the value of a to-one relationship is its destination's ID, by which objects are also compared and, last, sorted",
            ["Support/SlotValue": ["NSManagedObjectID"], "Predicates/": ["NSManagedObjectID"]]),
        FolderException(
            "any objects may be evaluated and sorted: the frequent class is known without a search for what it conforms to",
            [
                "Predicates/NSPredicate+Tree": ["NSManagedObject", "SlotProgram"],
                "Predicates/NSSortDescriptor+Key": ["NSManagedObject"],
            ]),
    ]
}
