// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "WorldCup",
    dependencies: [.package(name: "Roster", path: "../..")],
    targets: [
        .executableTarget(
            name: "WorldCup",
            dependencies: [.product(name: "CoreData", package: "Roster")],
            plugins: [.plugin(name: "GenerateModelClasses", package: "Roster")])
    ]
)
