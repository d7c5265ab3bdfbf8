// swift-tools-version: 6.3
import PackageDescription

/// Three programs that were written for Apple's systems (`Apple/`), as `roster port` makes them.
let coreData: Target.Dependency = .product(name: "CoreData", package: "roster")
let models: [Target.PluginUsage] = [.plugin(name: "GenerateModelClasses", package: "roster")]

let package = Package(
    name: "Ported",
    products: [.executable(name: "SyncAgent", targets: ["SyncAgent"])],
    dependencies: [.package(name: "roster", path: "../..")],
    targets: [
        .target(name: "NoteStorage", dependencies: [coreData], plugins: models),
        .target(name: "SyncService", dependencies: [coreData], plugins: models),
        .executableTarget(name: "SyncAgent", dependencies: ["SyncService"]),
        .target(name: "OrderBook", dependencies: [coreData], plugins: models),

        .testTarget(name: "NoteStorageTests", dependencies: ["NoteStorage"]),
        .testTarget(name: "SyncServiceTests", dependencies: ["SyncService", "SyncAgent"]),
        .testTarget(name: "OrderBookTests", dependencies: ["OrderBook"]),
    ],
    // Their code is older than strict concurrency.
    swiftLanguageModes: [.v5]
)
