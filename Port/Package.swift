// swift-tools-version: 6.3
import PackageDescription

/// `roster port`: rewrites Swift source that was written for Apple's Core Data.
///
/// A separate package: it does not use the framework, and few users of the framework need it.
let package = Package(
    name: "roster-port",
    products: [.executable(name: "roster-port", targets: ["RosterPort"])],
    targets: [
        // The rules that rewrite source text.
        .target(name: "SourcePort"),
        // The command-line program: arguments and files.
        .executableTarget(name: "RosterPort", dependencies: ["SourcePort"]),
        .testTarget(name: "SourcePortTests", dependencies: ["SourcePort"], exclude: ["Pairs"]),
        .testTarget(name: "RosterPortTests", dependencies: ["RosterPort"]),
    ],
    swiftLanguageModes: [.v6]
)
