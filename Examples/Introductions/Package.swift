// swift-tools-version: 6.3
import PackageDescription

/// What introductions to Core Data build, as their readers type it.
let package = Package(
    name: "Introductions",
    products: [.library(name: "Introductions", targets: ["Introductions"])],
    dependencies: [.package(name: "roster", path: "../..")],
    targets: [
        .target(
            name: "Introductions", dependencies: [.product(name: "CoreData", package: "roster")],
            plugins: [.plugin(name: "GenerateModelClasses", package: "roster")]),
        .testTarget(name: "IntroductionsTests", dependencies: ["Introductions"]),
    ],
    swiftLanguageModes: [.v6]
)
