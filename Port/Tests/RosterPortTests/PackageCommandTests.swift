import Foundation
import Testing

@testable import RosterPort

/// `port --package` on folders: it writes the manifest and nothing else.
@Suite struct PackageCommandTests {
    private let folder: TemporaryFolder
    /// The sources of roster.
    private static let roster = URL(fileURLWithPath: #filePath + "/../../../..").standardizedFileURL.path

    init() throws { folder = try TemporaryFolder() }

    private func write(_ path: String, _ text: String = "") throws {
        let url = folder.url.appendingPathComponent(path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// - Returns: The text printed, the remarks, and the number of modules that are missing.
    private func package(
        _ path: String = "App", roster: String = Self.roster
    ) throws -> (text: String, remarks: [String], missing: Int) {
        let collected = Collected()
        var remarks: [String] = []
        let command = PackageCommand(path: folder.path(path), roster: roster)
        let missing = try command.run(in: collected.surroundings()) { remarks.append($0) }
        return (collected.text, remarks, missing)
    }

    /// The contents of every file and the destination of every link, by path.
    private func contents() throws -> [String: Data] {
        var result: [String: Data] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.url.path) {
            let link = try? FileManager.default.destinationOfSymbolicLink(atPath: folder.path(path))
            result[path] =
                link.map { Data($0.utf8) } ?? FileManager.default.contents(atPath: folder.path(path)) ?? Data()
        }
        return result
    }

    private func writeApp() throws {
        try write("App/My App.xcodeproj/project.pbxproj", "{}")
        try write("App/Source/Stack.swift", "import CoreData\nimport UIKit\nimport Kit\n")
        try write("App/Source/Notes.xcdatamodeld/Notes.xcdatamodel/contents", "<model/>")
        try write("App/Source/More.xcdatamodeld/More.xcdatamodel/contents", "<model/>")
        try write("App/Source/seed \"1\".json", "{}")
        try write("App/Source/Info.plist", "{}")
        try write("App/Source/Main.swift", "import SwiftUI\n@main struct Main: App { var body: some Scene { x } }\n")
        try write("App/Kit/Deep/Kit.swift", "import Foundation\n")
        try write("App/Kit/Lib/Package.swift", "!")
        try write("App/Kit/Lib/Lib.swift", "import Nothing\n")
        try write(
            "App/Tests/T.swift", "import XCTest\n@testable import My_App\nclass T: XCTestCase { func testA() {} }\n")
        try write("App/Pods/P/P.swift", "import Nothing\n")
        try write("App/.hidden/H.swift", "import Nothing\n")
    }

    @Test func onlyTheManifestIsWritten() throws {
        try writeApp()
        try write("Elsewhere/E.swift", "import Nothing\n")
        let manager = FileManager.default
        try manager.createSymbolicLink(
            atPath: folder.path("App/Link"), withDestinationPath: folder.path("Elsewhere"))
        try manager.createSymbolicLink(
            atPath: folder.path("App/Kit/E.swift"), withDestinationPath: folder.path("Elsewhere/E.swift"))
        let before = try contents()
        let printed = try package()
        #expect(printed.text == "wrote \(folder.path("App"))/Package.swift\n" && printed.missing == 0)
        #expect(printed.remarks == ["Kit/Lib: left out because it is a separate package. Add it as a dependency"])
        var after = try contents()
        let manifest = after.removeValue(forKey: "App/Package.swift") ?? Data()
        #expect(after == before)
        let text = String(decoding: manifest, as: UTF8.self)
        #expect(
            text.contains("name: \"App\",\n    dependencies: [.package(name: \"roster\", path: \"\(Self.roster)\")]"))
        // Porting puts its `@main` type inside a condition.
        #expect(text.contains(".target(\n            name: \"My_App\",\n            dependencies: [\"Kit\", "))
        #expect(text.contains("name: \"My_AppTests\",\n            dependencies: [\"My_App\"],"))
        #expect(text.contains("exclude: [\"Lib\"]") && !text.contains("Pods") && !text.contains("Link"))
    }

    @Test func existingFilesAreNotReplaced() throws {
        try writeApp()
        let manifest = folder.path("App/Package.swift")
        let manager = FileManager.default
        let makers: [() throws -> Void] = [
            { try Data("mine".utf8).write(to: URL(fileURLWithPath: manifest)) },
            { try manager.createSymbolicLink(atPath: manifest, withDestinationPath: "../Away.swift") },
            { try manager.createDirectory(atPath: manifest, withIntermediateDirectories: false) },
        ]
        for make in makers {
            try make()
            let before = try contents()
            do {
                _ = try package()
                Issue.record("Package.swift was there")
            } catch let error as CommandError {
                #expect(error.kind == .failure && error.message.contains("Package.swift: the file exists. "))
            }
            #expect(try contents() == before)
            try manager.removeItem(atPath: manifest)
        }
    }

    @Test func aFolderWithoutSwiftIsAnError() throws {
        try FileManager.default.createDirectory(
            at: folder.url.appendingPathComponent("App"), withIntermediateDirectories: true)
        for file in ["App/Notes.xcodeproj/project.pbxproj", "App/Model.xcdatamodeld/contents", "App/Pods/P.swift"] {
            let before = try contents()
            #expect(throws: CommandError.self) { try package() }
            #expect(try contents() == before)
            try write(file)
        }
        #expect(throws: CommandError.self) { try package("nowhere") }
    }

    @Test func theProjectNamesPackages() throws {
        try writeApp()
        try write("App/Kit/Net.swift", "import Net\nimport Lib\nimport Gone\n")
        try write(
            "App/My App.xcodeproj/project.pbxproj",
            """
            // !$*UTF8*$!
            { archiveVersion = 1; objects = {
            A1 /* XCRemoteSwiftPackageReference "net" */ = { isa = XCRemoteSwiftPackageReference;
                repositoryURL = "https://example.org/net.git"; requirement = { kind = upToNextMajorVersion; minimumVersion = 1.2.0; }; };
            A2 = { isa = XCLocalSwiftPackageReference; relativePath = Kit/Lib; };
            A3 = { isa = XCRemoteSwiftPackageReference; repositoryURL = "x"; requirement = { kind = unheardOf; }; };
            B1 /* Net */ = { isa = XCSwiftPackageProductDependency; package = A1; productName = Net; };
            B2 = { isa = XCSwiftPackageProductDependency; package = A2; productName = Lib; };
            B3 = { isa = XCSwiftPackageProductDependency; package = A3; productName = Gone; };
            B4 = { isa = XCSwiftPackageProductDependency; productName = Gone; };
            }; rootObject = R; }
            """)
        let printed = try package()
        let text = try folder.contents("App/Package.swift")
        #expect(text.contains(".package(url: \"https://example.org/net.git\", from: \"1.2.0\"),"))
        #expect(text.contains(".package(path: \"Kit/Lib\"),"))
        #expect(
            text.contains(
                "dependencies: [.product(name: \"Net\", package: \"net\"), .product(name: \"Lib\", package: \"Lib\")],")
        )
        #expect(printed.missing == 1 && printed.remarks.count == 1 && printed.remarks[0].contains(": Gone. "))
    }

    /// The folder `Shims` of a repository has no address.
    @Test func shimsNeedAPath() throws {
        try write("App/Kit/Log.swift", "import os\n")
        let printed = try package(roster: "https://example.org/roster.git")
        #expect(
            printed.missing == 1 && printed.remarks.count == 1 && printed.remarks[0].contains(": os. Add its folder"))
        #expect(try !folder.contents("App/Package.swift").contains("shims"))
    }

    @Test(arguments: ["", "{", "{ objects = (a); }", "{ objects = { A = b; B = { isa = (c); }; }; }", "\u{0}\u{1}"])
    func anInvalidProjectIsIgnored(_ text: String) throws {
        try writeApp()
        try write("App/My App.xcodeproj/project.pbxproj", text)
        let printed = try package()
        #expect(printed.text.hasPrefix("wrote ") && printed.missing == 0)
    }

    @Test func aStopWritesNothing() throws {
        try writeApp()
        let before = try contents()
        let surroundings = Surroundings(write: { _ in }, isStopped: { true })
        #expect(throws: CommandError.self) {
            try PackageCommand(path: folder.path("App"), roster: Self.roster).run(in: surroundings) { _ in }
        }
        #expect(try contents() == before)
    }

    @Test func argumentsDetermineTheOutput() throws {
        let package = try Job(["--package", "App"])
        #expect(package?.command == nil && package?.package?.path == "App" && package?.package?.roster == Self.roster)
        let both = try Job(["-i", "--package", "--roster", "https://example.org/a.git", "--", "App"])
        #expect(both?.command?.isInPlace == true && both?.package?.roster == "https://example.org/a.git")
        for words in [
            ["--package", "--json", "App"], ["--roster", Self.roster, "App"], ["--package", "App", "--roster"],
            ["--package", "--roster", "/nowhere", "App"], ["--package"],
        ] { #expect(throws: CommandError.self) { try Job(words) } }
    }

    /// If the manifest cannot be written, the files are not ported either.
    @Test func aRefusalPrecedesTheFirstChange() throws {
        try writeApp()
        try write("App/Package.swift", "mine")
        try write("App/Kit/Note.swift", "import CoreData\nextension Note { @NSManaged var title: String? }\n")
        let before = try contents()
        let outcome = try PortProcess.run(["--in-place", "--package", folder.path("App")])
        #expect(outcome.status == 1 && outcome.output.isEmpty && outcome.errorLines.count == 1, "\(outcome.errors)")
        #expect(try contents() == before)
    }

    /// SwiftPM reads the manifest and finds the targets with their sources and resources.
    @Test(.enabled(if: Topic.process.isChosen))
    func swiftPMTakesIt() throws {
        try writeApp()
        let outcome = try PortProcess.shell(
            """
            "$roster" --in-place --package "$1" && cd "$1" &&
            swift package --scratch-path "$2" describe --type json
            """, [folder.path("App"), folder.path("scratch")])
        let start = try #require(outcome.output.firstIndex(of: "{"), "\(outcome.errors)")
        let described = try JSONSerialization.jsonObject(with: Data(outcome.output[start...].utf8)) as? [String: Any]
        var targets: [String: [String: Any]] = [:]
        for target in described?["targets"] as? [[String: Any]] ?? [] {
            targets[target["name"] as? String ?? ""] = target
        }
        #expect(outcome.status == 0 && targets.keys.sorted() == ["Kit", "My_App", "My_AppTests"], "\(outcome.errors)")
        #expect(targets["My_App"]?["product_dependencies"] as? [String] == ["CoreData", "GenerateModelClasses"])
        #expect(targets["My_App"]?["target_dependencies"] as? [String] == ["Kit"])
        #expect((targets["My_App"]?["sources"] as? [String])?.filter { $0.hasSuffix(".swift") }.count == 2)
        #expect(targets["My_AppTests"]?["type"] as? String == "test")
        #expect(!outcome.errors.contains("unhandled"), "\(outcome.errors)")
    }
}
