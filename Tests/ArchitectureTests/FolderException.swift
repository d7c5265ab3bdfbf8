/// A reason why files of `CoreData` may name types or members of folders below their own.
struct FolderException {
    /// Folders (with a final slash) and prefixes of file paths.
    let places: [String]
    /// Types and members that these files may name.
    let names: Set<String>
    let reason: String

    /// - Parameter line: `places: names = reason`.
    private init(line: Substring) {
        let halves = line.split(separator: "=", maxSplits: 1)
        let parts = halves[0].split(separator: ":", maxSplits: 1)
        places = parts[0].split(separator: " ").map(String.init)
        names = Set(parts[1].split(separator: " ").map(String.init))
        reason = halves[1].trimmingPrefix(" ").description
    }

    private func covers(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        return places.contains { place in
            place.hasSuffix("/") ? path.hasPrefix("Sources/CoreData/" + place) : name.hasPrefix(place)
        }
    }

    static func allows(file path: String, name: String) -> Bool {
        all.contains { $0.names.contains(name) && $0.covers(path) }
    }

    /// Places and names that no file of `files` needs.
    func unused(in files: [SourceFile]) -> [String] {
        let covered = files.filter { covers($0.path) }
        let idle = places.filter { place in
            let files = covered.filter { FolderException(places: [place], names: names, reason: "").covers($0.path) }
            return !files.contains { !names.isDisjoint(with: $0.identifiers.union($0.uses)) }
        }
        let needed = covered.reduce(into: Set<String>()) { $0.formUnion($1.identifiers.union($1.uses)) }
        return idle + names.subtracting(needed)
    }

    private init(places: [String], names: Set<String>, reason: String) {
        (self.places, self.names, self.reason) = (places, names, reason)
    }

    /// At most fifteen lines. Their common cause is Apple's API, which is one cycle of types.
    static let all = """
        NSPersistentStore. EngineStore. NSAtomicStore. NSIncrementalStore.: NSPersistentStoreCoordinator = a store has one
        NSPersistentStore.: NSMigrationManager = a store type names the class of its migration manager
        IncrementalRows. NSIncrementalStore. AtomicStoreRows.: NSManagedObjectContext = a program's stores are called with one
        IncrementalRows. AtomicStoreRows.: performAndWait privateQueueConcurrencyType registry tellsStores = it is made for them
        StoreUpgrade.: NSMigrationManager NSStagedMigrationManager StagedMigration isAwaited migrateStore = adding migrates
        NSPersistentStoreCoordinator.: RemoteChangeWatcher ownCommit = adding a store begins to watch it
        NSPersistentContainer: NSManagedObjectContext mainQueueConcurrencyType privateQueueConcurrencyType = it makes contexts
        Model/: NSExpression NSFetchRequest NSFetchRequestResult withSubstitutionVariables = a model has these
        ModelAssembly+ ModelDisassembly+: NSFetchRequestResultType SortSelector sortDescriptors syntaxTree = so has its file
        NSManagedObject. ContextHandle.: NSManagedObjectContext = an object is made in a context
        NSManagedObject.: NSFetchRequest NSFetchRequestResult = a class of objects makes the request for them
        NSManagedObjectID. PropertyRule.: NSPersistentStore RowStore idFamily cannotRead = an ID tells its store
        NSPersistentStoreRequest. NSFetchRequest.: NSPersistentStore = a request names the stores to ask
        SlotValue. Predicates/: NSManagedObjectID permanent temporary = the value of a to-one relationship is an ID
        NSPredicate+Tree. NSSortDescriptor+Key.: NSManagedObject SlotProgram = the frequent class is known without a search
        """.split(separator: "\n").map(FolderException.init(line:))
}
