// swift-tools-version: 6.3
import PackageDescription

/// Benchmarks of Roster and raw SQLite in the same run. A separate package, never a dependency of the product.
let package = Package(
    name: "RosterBenchmarks",
    traits: [.trait(name: "PostgreSQL", description: "The workload `server` (needs libpq-dev).")],
    dependencies: [
        .package(
            name: "roster", path: "..",
            traits: [.trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))])
    ],
    targets: [
        .systemLibrary(name: "CSQLite3Raw", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CPostgreSQLRaw", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CAllocator"),
        .executableTarget(
            name: "Measure",
            dependencies: [
                .product(name: "CoreData", package: "roster"), "CSQLite3Raw", "CAllocator",
                .product(
                    name: "CoreDataPostgreSQL", package: "roster", condition: .when(traits: ["PostgreSQL"])),
                .target(name: "CPostgreSQLRaw", condition: .when(traits: ["PostgreSQL"])),
            ]),
        .executableTarget(
            name: "Accessors", dependencies: [.product(name: "CoreData", package: "roster")],
            plugins: [.plugin(name: "GenerateModelClasses", package: "roster")]),
    ],
    swiftLanguageModes: [.v6]
)
