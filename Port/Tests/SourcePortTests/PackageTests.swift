import SourcePort
import Testing

/// `Package.swift` files for folders of programs that Xcode builds.
@Suite struct PackageTests {
    private struct Made {
        let text: String
        let remarks: [String]
        let missing: [String]

        /// Lines of the target in a folder.
        func target(_ path: String) -> [Substring] {
            let targets = text.split(separator: "        .").filter { $0.contains("path: \"\(path)\"") }
            return targets.first?.split(separator: "\n").map { $0.drop { $0 == " " } } ?? []
        }

        var modules: [Substring] { text.matches(of: /\n            name: "([^"]*)"/).map(\.1) }
    }

    /// - Parameter files: Contents by path. Folders that are treated like files end with a slash.
    private func made(_ files: [String: String], name: String = "Notes", _ packages: [XcodePackage] = []) -> Made {
        let layout = PackageLayout(name: name, paths: files.keys.sorted(), packages: packages) {
            Array((files[$0] ?? "").utf8)
        }
        let manifest = PackageManifest(name: name, roster: "/roster", layout: layout)
        return Made(text: manifest.text, remarks: layout.remarks, missing: layout.missingModules)
    }

    private static let test = "import XCTest\nclass T: XCTestCase { func testA() {} }\n"

    @Test func anAppAndItsTestsAreTargets() {
        let package = made([
            "Notes.xcodeproj/": "", "README.md": "", "Notes/Note.swift": "import CoreData\n",
            "Notes/Notes.xcdatamodeld/": "", "Notes/Views/Row.swift": "import Foundation\n",
            "Notes/Views/seed.json": "", "Notes/Info.plist": "", "Notes/Base.lproj/": "", "Notes/Assets.xcassets/": "",
            "NotesTests/A.swift": "@testable import Notes\n" + Self.test,
        ])
        #expect(
            package.text == """
                // swift-tools-version: 6.3
                import PackageDescription

                let package = Package(
                    name: "Notes",
                    dependencies: [.package(name: "roster", path: "/roster")],
                    targets: [
                        .target(
                            name: "Notes",
                            dependencies: [.product(name: "CoreData", package: "roster")],
                            path: "Notes",
                            exclude: ["Assets.xcassets", "Info.plist"],
                            resources: [.copy("Base.lproj"), .copy("Views/seed.json")],
                            plugins: [.plugin(name: "GenerateModelClasses", package: "roster")]),
                        .testTarget(
                            name: "NotesTests",
                            dependencies: ["Notes"],
                            path: "NotesTests"),
                    ],
                    // Swift 5 mode: the code was written before strict concurrency.
                    swiftLanguageModes: [.v5]
                )

                """)
        #expect(package.remarks.isEmpty && package.missing.isEmpty)
    }

    @Test func modulesAreNamedAsXcodeNamesThem() {
        let files = ["My App", "2Kit", "Größe", "🚀", "a-b", "a.b", "CoreData", "_"]
        let package = made(Dictionary(uniqueKeysWithValues: files.map { ("\($0)/A.swift", "") }))
        #expect(
            Set(package.modules) == [
                "My_App", "_Kit", "Größe", "Module", "a_b", "Notes_a_b", "Notes_CoreData", "Notes_Module",
            ])
        #expect(
            package.remarks.count == 3 && package.remarks.contains("a.b: its module is Notes_a_b because a_b is taken"))
        #expect(made(["A.swift": ""], name: "1 Note").modules == ["__Note"])
    }

    @Test func aNameIsAText() {
        let package = made(["a\"\\(b)\n/A.swift": ""], name: "x\"y\u{7}")
        #expect(package.text.contains(#"name: "x\"y\u{7}","#) && package.text.contains(#"path: "a\"\\(b)\u{a}""#))
    }

    @Test func importsAreDependencies() {
        let package = made([
            "App/main.swift": "import Kit\nimport App\nimport Alamofire\n#if canImport(UIKit)\nimport UIKit\n#endif\n",
            "Kit/A.swift": "import struct Foundation.URL\nimport class CoreData.NSManagedObject\n",
            "Widget/W.swift": "#if canImport(SwiftUI)\nimport SwiftUI\n@main struct W: App {}\n#endif\n",
            "Tool/T.swift": "import Kit\n@main struct T { static func main() {} }\n",
        ])
        #expect(
            package.target("App").first == "executableTarget("
                && package.target("App").contains("dependencies: [\"Kit\"],"))
        #expect(package.target("Kit").contains("dependencies: [.product(name: \"CoreData\", package: \"roster\")],"))
        #expect(package.target("Widget").first == "target(")
        #expect(package.target("Tool").first == "executableTarget(")
        #expect(package.missing == ["Alamofire"])
    }

    @Test func severalModelsAreOfOneTarget() {
        let package = made([
            "App/A.swift": "", "App/Model/Notes.xcdatamodeld/": "", "App/Model/Tags.xcdatamodel/": "",
            "App/Notes1to2.xcmappingmodel/": "", "Loose.xcdatamodeld/": "", "Models/More.xcdatamodeld/": "",
        ])
        #expect(
            package.target("App") == [
                "target(", "name: \"App\",", "dependencies: [.product(name: \"CoreData\", package: \"roster\")],",
                "path: \"App\",", "plugins: [.plugin(name: \"GenerateModelClasses\", package: \"roster\")]),", "],",
                "// Swift 5 mode: the code was written before strict concurrency.", "swiftLanguageModes: [.v5]", ")",
            ])
        #expect(package.remarks.map { $0.prefix { $0 != ":" } } == ["Loose.xcdatamodeld", "Models/More.xcdatamodeld"])
    }

    @Test func testsAreFoundByWhatTheyAre() {
        let package = made([
            "App/A.swift": "", "Checks/A.swift": "import Testing\n@Test func a() {}\n",
            "TestSupport/A.swift": "import XCTest\nclass Base: XCTestCase { func testModel(_ name: String) {} }\n",
            "AppUITests/A.swift":
                "import XCTest\nclass U: XCTestCase { func testA() { XCUIApplication().launch() } }\n",
            "MyTests/A.swift": "func testA() {}\n",
        ])
        #expect(package.target("Checks").first == "testTarget(")
        #expect(package.target("TestSupport").first == "target(" && package.target("MyTests").first == "target(")
        #expect(package.target("AppUITests").isEmpty)
        #expect(package.remarks == ["AppUITests: left out because its tests use XCUIApplication"])
    }

    @Test func aFolderTakesTheNameThatItsTestsImport() {
        let package = made([
            "Source/A.swift": "import Kit\n", "Kit/A.swift": "",
            "Tests/A.swift": "@testable import Notes\nimport Nimble\n" + Self.test,
        ])
        #expect(package.modules == ["Kit", "Notes", "NotesTests"] && package.missing == ["Nimble"])
        #expect(package.target("Tests").contains("dependencies: [\"Notes\"],"))
        // With two candidates, the name is ambiguous.
        let unclear = made(["A/A.swift": "", "B/B.swift": "", "Tests/A.swift": "@testable import Notes\n" + Self.test])
        #expect(unclear.missing == ["Notes"])
    }

    @Test func sourcesAndTestsHaveTargetsInThem() {
        let package = made([
            "Sources/App/main.swift": "import Kit\n", "Sources/Kit/Deep/A.swift": "", "Sources/Kit/a.json": "",
            "Tests/KitTests/A.swift": "import Kit\n" + Self.test, "Tests/README.md": "",
        ])
        #expect(package.modules == ["App", "Kit", "KitTests"])
        #expect(package.target("Sources/Kit").contains("resources: [.copy(\"a.json\")]),"))
        let whole = made(["Sources/A.swift": "", "Sources/Views/B.swift": "", "Tests/A.swift": Self.test])
        #expect(whole.modules == ["Notes", "NotesTests"] && !whole.target("Sources").isEmpty)
    }

    @Test func sourceInTheFolderItselfHasTheOtherFolders() {
        let package = made([
            "App.swift": "import Kit\n", "Views/B.swift": "", "Model/Notes.xcdatamodeld/": "", "Kit/A.swift": "",
            "NotesTests/A.swift": "@testable import Notes\n" + Self.test, "Notes.xcodeproj/": "", "Pods/": "",
        ])
        #expect(package.modules == ["Notes", "Kit", "NotesTests"])
        #expect(package.target(".").contains("exclude: [\"Kit\", \"Notes.xcodeproj\", \"NotesTests\", \"Pods\"],"))
        #expect(package.target(".").contains { $0.hasPrefix("plugins:") })
    }

    @Test func aBundleHasOneFileOfAName() {
        let package = made([
            "App/A.swift": "", "App/A/seed.json": "", "App/B/seed.json": "", "App/Lib/": "", "App/old.c": "",
        ])
        #expect(package.target("App").contains("exclude: [\"B/seed.json\", \"Lib\", \"old.c\"],"))
        #expect(package.remarks == ["App/B/seed.json: left out because the target has another resource of this name"])
    }

    @Test func packagesOfTheProjectAreThoseOfImports() {
        let address = "https://example.org/Alamofire.git"
        let package = made(
            ["App/A.swift": "import Alamofire\nimport Core\nimport Kit\nimport Unknown\n", "Kit/K.swift": ""],
            name: "Notes",
            [
                XcodePackage(place: .address(address, .nextMajor(from: "5.8.0")), products: ["Alamofire", "Extras"]),
                XcodePackage(place: .folder("Packages/Model"), products: ["Core", "Kit"]),
                XcodePackage(place: .address("git@example.org:a/Unused", .branch("main")), products: ["Unused"]),
            ])
        #expect(
            package.text.contains(
                """
                    dependencies: [
                        .package(name: "roster", path: "/roster"),
                        .package(url: "https://example.org/Alamofire.git", from: "5.8.0"),
                        .package(path: "Packages/Model"),
                    ],

                """))
        let products =
            ".product(name: \"Alamofire\", package: \"Alamofire\"), .product(name: \"Core\", package: \"Model\")"
        #expect(package.target("App").contains { $0 == "dependencies: [\"Kit\", \(products)]," })
        #expect(package.missing == ["Unknown"])
    }

    @Test func modulesOfShimsAreDependencies() {
        let files = [
            "App/A.swift": "import Combine\nimport CoreData\nimport os\n", "Kit/A.swift": "import OSLog\n",
            "Own/A.swift": "#if canImport(SwiftUI)\nimport SwiftUI\n#endif\n",
        ]
        let package = made(files)
        #expect(
            package.text.contains(
                """
                    dependencies: [
                        .package(name: "roster", path: "/roster"),
                        .package(name: "roster-shims", path: "/roster/Shims"),
                    ],

                """))
        let products = ["Combine", "os"].map { ".product(name: \"\($0)\", package: \"roster-shims\")" }
        #expect(
            package.target("App").contains {
                $0
                    == "dependencies: [.product(name: \"CoreData\", package: \"roster\"), \(products.joined(separator: ", "))],"
            })
        #expect(package.target("Kit").contains { $0.contains("\"OSLog\", package: \"roster-shims\"") })
        #expect(package.missing.isEmpty && !package.target("Own").contains { $0.contains("shims") })
        // A program's own module is preferred.
        let own = made(files.merging(["os/A.swift": "", "Combine/A.swift": "", "OSLog/A.swift": ""]) { $1 })
        #expect(!own.text.contains("shims") && own.target("Kit").contains { $0 == "dependencies: [\"OSLog\"]," })
    }

    @Test(arguments: [
        (XcodePackage.Version.nextMinor(from: "1.2.3"), ".upToNextMinor(from: \"1.2.3\")"),
        (.range(from: "1.0.0", to: "2.1.0"), "\"1.0.0\"..<\"2.1.0\""), (.exact("1.0.0-b.1"), "exact: \"1.0.0-b.1\""),
        (.branch("a\"b"), #"branch: "a\"b""#), (.revision("abc"), "revision: \"abc\""),
    ])
    func versionsAreThoseOfTheProject(_ version: XcodePackage.Version, _ text: String) {
        let package = made(
            ["A/A.swift": "import B\n"],
            [XcodePackage(place: .address("git@example.org:x/y.git", version), products: ["B"])])
        #expect(package.text.contains(".package(url: \"git@example.org:x/y.git\", \(text)),"))
        #expect(package.target("A").contains("dependencies: [.product(name: \"B\", package: \"y\")],"))
    }

    @Test func anAddressNamesThePackage() {
        let layout = PackageLayout(name: "a", paths: ["A/A.swift"]) { _ in Array("import CoreData".utf8) }
        let text = PackageManifest(name: "a", roster: "https://example.org/core-data.git", layout: layout).text
        #expect(text.contains(".package(url: \"https://example.org/core-data.git\", branch: \"main\")"))
        #expect(text.contains(".product(name: \"CoreData\", package: \"core-data\")"))
    }

    @Test func nothingIsNothing() {
        #expect(PackageLayout(name: "", paths: []) { _ in [] }.isEmpty)
        #expect(PackageLayout(name: "a", paths: ["Package.swift", "a.md"]) { _ in [] }.isEmpty)
    }
}
