// swift-tools-version: 6.1
import PackageDescription

/// Measurements of Roster beside raw SQLite in the same run. A package of its own: never a dependency of the product.
let package = Package(
    name: "RosterBenchmarks",
    dependencies: [.package(name: "Roster", path: "..")],
    targets: [
        .systemLibrary(name: "CSQLite3Raw", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CAllocator"),
        .executableTarget(
            name: "Measure",
            dependencies: [.product(name: "CoreData", package: "Roster"), "CSQLite3Raw", "CAllocator"]),
        .executableTarget(
            name: "Accessors", dependencies: [.product(name: "CoreData", package: "Roster")],
            plugins: [.plugin(name: "GenerateModelClasses", package: "Roster")]),
    ],
    swiftLanguageModes: [.v6]
)
