// swift-tools-version: 6.3
import PackageDescription

/// Two custom store types: a folder of CSV files, and a service reached by HTTP.
let package = Package(
    name: "Stores",
    products: [
        .library(name: "CSVFolderStore", targets: ["CSVFolderStore"]),
        .library(name: "RecordService", targets: ["RecordService"]),
    ],
    dependencies: [.package(name: "roster", path: "../..")],
    targets: [
        .target(name: "CSVFolderStore", dependencies: [.product(name: "CoreData", package: "roster")]),
        .target(name: "RecordService", dependencies: [.product(name: "CoreData", package: "roster")]),
        .testTarget(
            name: "ExampleStoreTests",
            dependencies: [
                "CSVFolderStore", "RecordService", .product(name: "StoreConformance", package: "roster"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
