// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "Household",
    dependencies: [
        .package(name: "roster", path: "../.."),
        .package(name: "roster-shims", path: "../../Shims"),
    ],
    targets: [
        .target(
            name: "Chores",
            dependencies: [.product(name: "CoreData", package: "roster"), .product(name: "os", package: "roster-shims")],
            path: "Chores",
            plugins: [.plugin(name: "GenerateModelClasses", package: "roster")]),
        .target(
            name: "Recipes",
            dependencies: [.product(name: "CoreData", package: "roster"), .product(name: "OSLog", package: "roster-shims"), .product(name: "os", package: "roster-shims")],
            path: "Recipes",
            plugins: [.plugin(name: "GenerateModelClasses", package: "roster")]),
        .target(
            name: "Spending",
            dependencies: [.product(name: "CoreData", package: "roster"), .product(name: "Combine", package: "roster-shims"), .product(name: "os", package: "roster-shims")],
            path: "Spending",
            plugins: [.plugin(name: "GenerateModelClasses", package: "roster")]),
        .testTarget(
            name: "ChoresTests",
            dependencies: ["Chores", .product(name: "CoreData", package: "roster")],
            path: "ChoresTests"),
        .testTarget(
            name: "RecipesTests",
            dependencies: ["Recipes", .product(name: "CoreData", package: "roster")],
            path: "RecipesTests"),
        .testTarget(
            name: "SpendingTests",
            dependencies: ["Spending", .product(name: "CoreData", package: "roster"), .product(name: "Combine", package: "roster-shims")],
            path: "SpendingTests"),
    ],
    // Swift 5 mode: the code was written before strict concurrency.
    swiftLanguageModes: [.v5]
)
