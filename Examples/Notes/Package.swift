// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "Notes",
    dependencies: [.package(name: "Roster", path: "../..")],
    targets: [
        .executableTarget(
            name: "Notes",
            dependencies: [.product(name: "CoreData", package: "Roster")],
            plugins: [.plugin(name: "GenerateModelClasses", package: "Roster")])
    ]
)
