// swift-tools-version: 6.3
import CompilerPluginSupport
import PackageDescription

/// Roster: Core Data for Swift on Linux, and `roster`, a terminal program built on its public API.
///
/// The rooms and the arrows between them stand in ARCHITECTURE.md; a target may use those above it.
let package = Package(
    name: "roster",
    products: [
        .library(name: "CoreData", targets: ["CoreData"]),
        .library(name: "CoreDataImport", targets: ["CoreDataImport"]),
        .library(name: "StoreConformance", targets: ["StoreConformance"]),
        .library(name: "CoreDataPostgreSQL", targets: ["CoreDataPostgreSQL"]),
        .plugin(name: "GenerateModelClasses", targets: ["GenerateModelClasses"]),
        .executable(name: "momc", targets: ["momc"]),
        .executable(name: "roster", targets: ["Roster"]),
    ],
    traits: [
        .trait(name: "PostgreSQL", description: "Stores on a PostgreSQL server (needs libpq-dev).")
    ],
    targets: [
        // The C libraries of the system.
        .systemLibrary(name: "CSQLite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CNcursesw", providers: [.apt(["libncursesw5-dev"])]),
        .systemLibrary(name: "CPostgreSQL", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CGetopt"),
        .systemLibrary(name: "CGettext"),
        .systemLibrary(name: "CPrefetch"),
        .target(name: "CTerminalRestore"),

        // What can be understood without Core Data.
        .target(name: "SQLiteAccess", dependencies: ["CSQLite3"]),
        .target(
            name: "PostgreSQLAccess",
            dependencies: [.target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
        .target(name: "PredicateSyntax"),
        .target(name: "CoreDataPredicates", dependencies: ["PredicateSyntax"]),
        .target(name: "ModelFiles", dependencies: ["CZlib", "PredicateSyntax"]),
        .target(name: "Translation", dependencies: ["CGettext"]),
        .target(name: "TerminalKit", dependencies: ["CNcursesw", "CTerminalRestore", "CZlib", "Translation"]),

        // The compiler of models, and the plugin that runs it in builds.
        .target(name: "ModelCompiler", dependencies: ["ModelFiles", "PredicateSyntax"]),
        .executableTarget(name: "momc", dependencies: ["ModelCompiler"]),
        .plugin(name: "GenerateModelClasses", capability: .buildTool(), dependencies: ["momc"]),

        // The framework, and what the compiler asks for the code behind its macros.
        .target(name: "ManagedExpansion"),
        .macro(name: "ManagedMacros", dependencies: ["ManagedExpansion"]),
        .target(
            name: "CoreData",
            dependencies: [
                "SQLiteAccess", "ModelFiles", "PredicateSyntax", "CoreDataPredicates", "CPrefetch", "ManagedMacros",
            ]),
        // Records of web services → objects.
        .target(name: "CoreDataImport", dependencies: ["CoreData"]),
        // Stores on a server: linked, and compiled into programs, with the trait only.
        .target(name: "ServerStores", dependencies: ["CoreData", "PredicateSyntax", "SQLiteAccess"]),
        .target(
            name: "CoreDataPostgreSQL",
            dependencies: [
                "CoreData", .target(name: "ServerStores", condition: .when(traits: ["PostgreSQL"])),
                .target(name: "PostgreSQLAccess", condition: .when(traits: ["PostgreSQL"])),
            ]),

        // What every store type has to do, for tests of store types.
        .target(name: "StoreConformance", dependencies: ["CoreData"]),

        // The terminal program.
        .target(
            name: "RosterCommands",
            dependencies: [
                "CoreData", "CoreDataImport", "ModelCompiler", "Translation",
                .target(name: "CoreDataPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
            ]),
        .executableTarget(
            name: "Roster", dependencies: ["RosterCommands", "TerminalKit", "CoreData", "CGetopt", "Translation"],
            // Screens and all that they hold belong to the main thread; what does not says `nonisolated`.
            swiftSettings: [.defaultIsolation(MainActor.self), .enableUpcomingFeature("InferIsolatedConformances")]),

        .testTarget(name: "SQLiteAccessTests", dependencies: ["SQLiteAccess"]),
        // The topics of tests, and waiting.
        .target(name: "TestSupport", path: "Tests/TestSupport"),
        // A program that tests run to its end.
        .target(name: "ChildProgram", path: "Tests/ChildProgram"),
        .target(
            name: "PostgreSQLCluster", dependencies: ["ChildProgram", "TestSupport"], path: "Tests/PostgreSQLCluster"),
        .testTarget(
            name: "PostgreSQLAccessTests",
            dependencies: [
                "PostgreSQLCluster", "TestSupport",
                .target(name: "PostgreSQLAccess", condition: .when(traits: ["PostgreSQL"])),
            ]),
        .testTarget(
            name: "CoreDataPostgreSQLTests",
            dependencies: [
                "CoreDataPostgreSQL", "CoreData", "StoreConformance", "PostgreSQLCluster", "TestSupport",
                .target(name: "PostgreSQLAccess", condition: .when(traits: ["PostgreSQL"])),
                .target(name: "ServerStores", condition: .when(traits: ["PostgreSQL"])),
            ]),
        .testTarget(name: "ModelFilesTests", dependencies: ["ModelFiles", "PredicateSyntax", "TestSupport"]),
        .testTarget(
            name: "ModelCompilerTests", dependencies: ["ModelCompiler", "ModelFiles", "ChildProgram", "TestSupport"],
            exclude: ["Golden", "Models"]),
        .testTarget(name: "PredicateSyntaxTests", dependencies: ["PredicateSyntax"]),
        // Not of the macro itself: then SwiftPM would build all tests, and the framework once more, as tools.
        .testTarget(name: "ManagedExpansionTests", dependencies: ["ManagedExpansion"]),
        .testTarget(name: "TerminalKitTests", dependencies: ["TerminalKit"], exclude: ["Golden"]),
        .testTarget(
            name: "CoreDataTests",
            dependencies: [
                "CoreData", "CoreDataImport", "SQLiteAccess", "ModelFiles", "PredicateSyntax", "StoreConformance",
                "PostgreSQLCluster", "ChildProgram", "TestSupport",
                .target(name: "CoreDataPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
            ]),
        .testTarget(name: "CoreDataImportTests", dependencies: ["CoreDataImport", "CoreData"]),
        // The package of Examples/Stores as one module.
        .testTarget(
            name: "StoreExampleTests", dependencies: ["CoreData", "StoreConformance"], path: "Examples/Stores",
            exclude: ["Package.swift"], sources: ["Sources", "Tests"]),
        // The same of Examples/Introductions.
        .testTarget(
            name: "IntroductionExampleTests", dependencies: ["CoreData"], path: "Examples/Introductions",
            exclude: ["Package.swift"], plugins: ["GenerateModelClasses"]),
        .testTarget(
            name: "GeneratedClassesTests", dependencies: ["CoreData"], plugins: ["GenerateModelClasses"]),
        .testTarget(name: "RosterCommandsTests", dependencies: ["RosterCommands", "CoreData", "SQLiteAccess"]),
        .testTarget(
            name: "RosterTests",
            dependencies: [
                "Roster", "RosterCommands", "TerminalKit", "CoreData", "SQLiteAccess", "Translation",
                "PostgreSQLCluster", "ChildProgram", "TestSupport",
            ],
            exclude: ["Golden"]),
        // The code of the documentation's articles, with a model as their readers would have it.
        .testTarget(name: "DocumentationTests", dependencies: ["CoreData"], plugins: ["GenerateModelClasses"]),
        // Power failures and failed calls: a program of its own, since it has its own `open` and `write` and its own SQLite VFS.
        .target(name: "CSimulatedDisk", dependencies: ["CSQLite3"], path: "Tests/CSimulatedDisk"),
        .executableTarget(
            name: "DiskTrials", dependencies: ["CoreData", "CSimulatedDisk", "CSQLite3", "RosterCommands"],
            path: "Tests/DiskTrials"),
        // Damaged input of every kind: a program, so that a trap is seen and long runs are optimised.
        .executableTarget(
            name: "FuzzTrials", dependencies: ["CoreData", "ModelFiles", "RosterCommands"], path: "Tests/FuzzTrials"),
        .testTarget(name: "TrialTests", dependencies: ["ChildProgram", "TestSupport"]),
        .testTarget(name: "ArchitectureTests"),
    ],
    swiftLanguageModes: [.v6]
)
