// swift-tools-version: 6.3
import PackageDescription

/// The parts of `os`, `OSLog` and `Combine` that model layers written for Apple's systems use.
///
/// A separate package: a program that has modules of these names, or needs none, does not depend on it.
let package = Package(
    name: "roster-shims",
    products: [
        .library(name: "Combine", targets: ["Combine"]),
        .library(name: "os", targets: ["os"]),
        .library(name: "OSLog", targets: ["OSLog"]),
    ],
    targets: [
        .target(name: "Combine"),
        .target(name: "os"),
        .target(name: "OSLog", dependencies: ["os"]),
        .testTarget(name: "CombineTests", dependencies: ["Combine"]),
        .testTarget(name: "LogTests", dependencies: ["os", "OSLog"]),
    ],
    swiftLanguageModes: [.v6]
)
