import Testing

/// The dependencies between rooms and between folders of `CoreData` are those in ARCHITECTURE.md.
@Suite struct RoomArrowTests {
    /// Modules of this package that each room may import.
    static let rooms: [String: Set<String>] = [
        "SQLiteAccess": ["CSQLite3"],
        "PostgreSQLAccess": ["CPostgreSQL"],
        "ModelFiles": ["CZlib", "PredicateSyntax"],
        "PredicateSyntax": [],
        "CoreDataPredicates": ["PredicateSyntax"],
        "ModelCompiler": ["ModelFiles", "PredicateSyntax"],
        "momc": ["ModelCompiler"],
        "ManagedExpansion": [],
        "ManagedMacros": ["ManagedExpansion"],
        "Translation": ["CGettext"],
        "TerminalKit": ["CNcursesw", "CTerminalRestore", "CZlib", "Translation"],
        "CoreData": ["SQLiteAccess", "ModelFiles", "PredicateSyntax", "CoreDataPredicates", "CPrefetch"],
        "StoreConformance": ["CoreData"],
        "CoreDataImport": ["CoreData"],
        "ServerStores": ["CoreData", "PredicateSyntax", "SQLiteAccess"],
        "CoreDataPostgreSQL": ["CoreData", "ServerStores", "PostgreSQLAccess"],
        "RosterCommands": ["CoreData", "CoreDataImport", "ModelCompiler", "Translation"],
        "Roster": ["RosterCommands", "TerminalKit", "CoreData", "CGetopt", "Translation"],
    ]
    static let packageModules = Set(rooms.keys).union([
        "CSQLite3", "CZlib", "CNcursesw", "CTerminalRestore", "CGetopt", "CGettext", "CPrefetch",
        "CPostgreSQL",
    ])

    @Test(arguments: rooms.keys.sorted())
    func importsOnlyItsRooms(room: String) {
        let files = SourceTree.files(below: "Sources/\(room)")
        #expect(!files.isEmpty)
        for file in files {
            let strangers = file.imports.intersection(Self.packageModules).subtracting(Self.rooms[room] ?? [])
            #expect(strangers.isEmpty, "\(file.path) imports \(strangers.sorted())")
        }
    }

    /// `Port` is a package of its own: neither it nor this one needs the other.
    @Test func portAndPackageAreIndependent() {
        let files = SourceTree.texts(below: "Port/Sources")
        #expect(!files.isEmpty)
        for file in files {
            for room in Self.packageModules {
                #expect(!file.content.contains("import \(room)\n"), "\(file.path) imports \(room)")
            }
        }
        for file in SourceTree.files(below: "Sources") { #expect(!file.imports.contains("SourcePort"), "\(file.path)") }
    }

    /// Folders of `CoreData`. Each may use those listed before it.
    static let folders = [
        "Support", "Model", "Predicates", "Objects", "Requests", "Mapping", "Stores/Contract", "Stores/SQL",
        "Stores/SQLite", "Stores/Atomic", "Stores/Incremental",
        "Stack", "Context", "History", "Migration", "ResultsController",
    ]

    @Test(arguments: folders)
    func usesOnlyFoldersAboveIt(folder: String) throws {
        let rank = try #require(Self.folders.firstIndex(of: folder))
        var lowerTypes: [String: String] = [:]
        for lower in Self.folders[(rank + 1)...] {
            for file in SourceTree.files(below: "Sources/CoreData/\(lower)") {
                for type in file.declaredTypes { lowerTypes[type] = lower }
            }
        }
        for file in SourceTree.files(below: "Sources/CoreData/\(folder)") {
            for name in file.identifiers.sorted() {
                guard let lower = lowerTypes[name], !file.declaredTypes.contains(name) else { continue }
                #expect(
                    FolderException.allows(file: file.path, name: name),
                    "\(file.path) names \(name) of \(lower), a folder below \(folder)")
            }
        }
    }

    /// A folder uses no members that only folders below it declare, even of types that it may name.
    @Test(arguments: folders)
    func usesOnlyMembersOfFoldersAboveIt(folder: String) throws {
        let rank = try #require(Self.folders.firstIndex(of: folder))
        var known = Self.foreignMembers
        for upper in Self.folders[...rank] {
            for file in SourceTree.files(below: "Sources/CoreData/\(upper)") { known.formUnion(file.names) }
        }
        var lowerMembers: [String: String] = [:]
        for lower in Self.folders[(rank + 1)...] {
            for file in SourceTree.files(below: "Sources/CoreData/\(lower)") {
                for name in file.members.subtracting(known) { lowerMembers[name] = lower }
            }
        }
        for file in SourceTree.files(below: "Sources/CoreData/\(folder)") {
            for name in file.uses.intersection(lowerMembers.keys).sorted() {
                #expect(
                    FolderException.allows(file: file.path, name: name),
                    "\(file.path) uses .\(name), which only \(lowerMembers[name] ?? "") has, a folder below \(folder)")
            }
        }
    }

    /// Members of other modules: those of rooms that do not import `CoreData`, and a few names of system modules.
    private static let foreignMembers: Set<String> = {
        let lower = ["SQLiteAccess", "ModelFiles", "PredicateSyntax", "CoreDataPredicates", "PostgreSQLAccess"]
        let others = ["ModelCompiler", "ManagedExpansion", "TerminalKit", "Translation"]
        var names: Set<String> = ["exchange", "addObserver", "objectEnumerator", "subtract"]
        for room in lower + others {
            for file in SourceTree.files(below: "Sources/\(room)") {
                names.formUnion(file.uses)
                if lower.contains(room) { names.formUnion(file.names) }
            }
        }
        return names
    }()

    /// Without the package trait nothing of PostgreSQL is compiled and no room needs its library.
    @Test(arguments: ["PostgreSQLAccess", "CoreDataPostgreSQL"])
    func isEmptyWithoutTheTrait(room: String) throws {
        for file in SourceTree.files(below: "Sources/\(room)") {
            let lines = try String(contentsOf: SourceTree.root.appendingPathComponent(file.path), encoding: .utf8)
                .split(separator: "\n").filter { !$0.hasPrefix("//") }
            #expect(lines.first == "#if PostgreSQL" && lines.last == "#endif", "\(file.path)")
        }
        for file in SourceTree.files(below: "Sources") where !file.path.hasPrefix("Sources/\(room)/") {
            guard !file.path.hasPrefix("Sources/CoreDataPostgreSQL/") else { continue }
            #expect(!file.imports.contains(room), "\(file.path) imports \(room)")
        }
    }

    /// Programs without the package trait do not compile the engine of server stores.
    @Test func serverStoresAreUsedWithTheTraitOnly() throws {
        let package = try String(contentsOf: SourceTree.root.appendingPathComponent("Package.swift"), encoding: .utf8)
        let uses = package.components(separatedBy: "\"ServerStores\"").dropFirst()
        let isConditional = uses.map { $0.hasPrefix(", condition: .when(traits: [\"PostgreSQL\"])") }
        #expect(isConditional.first == false, "the target itself")
        #expect(isConditional.count > 1 && !isConditional.dropFirst().contains(false))
    }

    /// An exception that no file needs has to be removed. The list stays short.
    @Test func exceptionsAreFewAndInUse() {
        let files = SourceTree.files(below: "Sources/CoreData")
        for exception in FolderException.all {
            #expect(exception.unused(in: files).isEmpty, "no file needs what '\(exception.reason)' allows")
        }
        #expect(FolderException.all.count <= 15)
    }
}
