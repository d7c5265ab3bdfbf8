// swift-tools-version: 6.1
import PackageDescription

/// What introductions to Core Data build, as their readers type it.
let package = Package(
    name: "Introductions",
    products: [.library(name: "Introductions", targets: ["Introductions"])],
    dependencies: [.package(name: "Roster", path: "../..")],
    targets: [
        .target(
            name: "Introductions", dependencies: [.product(name: "CoreData", package: "Roster")],
            plugins: [.plugin(name: "GenerateModelClasses", package: "Roster")]),
        .testTarget(name: "IntroductionsTests", dependencies: ["Introductions"]),
    ],
    swiftLanguageModes: [.v6]
)
