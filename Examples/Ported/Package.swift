// swift-tools-version: 6.3
import PackageDescription

/// Three programs for Apple's systems (`Apple/`), converted by `roster port`.
let coreData: Target.Dependency = .product(name: "CoreData", package: "roster")
let models: [Target.PluginUsage] = [.plugin(name: "GenerateModelClasses", package: "roster")]

let package = Package(
    name: "Ported",
    products: [.executable(name: "SyncAgent", targets: ["SyncAgent"])],
    dependencies: [
        .package(name: "roster", path: "../.."), .package(name: "roster-shims", path: "../../Shims"),
    ],
    targets: [
        .target(name: "NoteStorage", dependencies: [coreData], plugins: models),
        .target(
            name: "SyncService", dependencies: [coreData, .product(name: "os", package: "roster-shims")], plugins: models),
        .executableTarget(name: "SyncAgent", dependencies: ["SyncService"]),
        .target(name: "OrderBook", dependencies: [coreData], plugins: models),

        .testTarget(name: "NoteStorageTests", dependencies: ["NoteStorage"]),
        .testTarget(name: "SyncServiceTests", dependencies: ["SyncService", "SyncAgent"]),
        .testTarget(name: "OrderBookTests", dependencies: ["OrderBook"]),
    ],
    // The code was written before strict concurrency.
    swiftLanguageModes: [.v5]
)
