// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "WorldCup",
    dependencies: [.package(name: "roster", path: "../..")],
    targets: [
        .executableTarget(
            name: "WorldCup",
            dependencies: [.product(name: "CoreData", package: "roster")],
            plugins: [.plugin(name: "GenerateModelClasses", package: "roster")])
    ]
)
