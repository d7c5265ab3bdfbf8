// swift-tools-version: 6.1
import PackageDescription

/// Two store types of a program's own: a folder of CSV files, and a service that is reached by HTTP.
let package = Package(
    name: "Stores",
    products: [
        .library(name: "CSVFolderStore", targets: ["CSVFolderStore"]),
        .library(name: "RecordService", targets: ["RecordService"]),
    ],
    dependencies: [.package(name: "Roster", path: "../..")],
    targets: [
        .target(name: "CSVFolderStore", dependencies: [.product(name: "CoreData", package: "Roster")]),
        .target(name: "RecordService", dependencies: [.product(name: "CoreData", package: "Roster")]),
        .testTarget(
            name: "ExampleStoreTests",
            dependencies: [
                "CSVFolderStore", "RecordService", .product(name: "StoreConformance", package: "Roster"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
