// swift-tools-version: 6.3
import PackageDescription

/// Programs that introductions to Core Data build, in the form that their readers type.
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
