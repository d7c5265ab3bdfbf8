import Foundation
import SourcePort
import Testing

/// The program of `Examples/Household`. `Apple` is the folder of an Xcode project. The other files are exactly what
/// `roster port --in-place --package` makes of it.
@Suite struct HouseholdExampleTests {
    private static let package = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("Examples/Household")

    /// Paths of all files of a folder. Models and projects are one path, as `roster port` sees them.
    private static func files(in folder: URL) -> [String] {
        let found = FileManager.default.subpaths(atPath: folder.path) ?? []
        return found.filter { path in
            var isFolder = false
            let isWhole = PackageLayout.isWholeFolder(path)
            if let type = try? folder.appendingPathComponent(path).resourceValues(forKeys: [.isDirectoryKey]) {
                isFolder = type.isDirectory ?? false
            }
            let parts = path.split(separator: "/").dropLast()
            return (isWhole || !isFolder) && !parts.contains { PackageLayout.isWholeFolder(String($0)) }
        }.map { PackageLayout.isWholeFolder($0) ? $0 + "/" : $0 }.sorted()
    }

    private static func read(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: package.appendingPathComponent(path)))
    }

    /// With `ROSTER_UPDATE_GOLDEN=1`, writes the files before comparing them.
    private func compare(_ path: String, _ contents: [UInt8]) throws {
        let url = Self.package.appendingPathComponent(path)
        if ProcessInfo.processInfo.environment["ROSTER_UPDATE_GOLDEN"] == "1" {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(contents).write(to: url)
        }
        #expect(try Self.read(path) == contents, "\(path)")
    }

    @Test func thePackageIsWhatPortingMakes() throws {
        let apple = Self.package.appendingPathComponent("Apple")
        let paths = Self.files(in: apple)
        let swift = paths.filter { $0.hasSuffix(".swift") }
        let facts = PortFacts(of: try swift.map { try Self.read("Apple/\($0)") })
        var ported: [String: PortedFile] = [:]
        for path in swift { ported[path] = SourcePort.port(try Self.read("Apple/\(path)"), knowing: facts) }
        for (path, file) in ported { try compare(path, file.text) }
        for model in paths where model.hasSuffix(".xcdatamodeld/") {
            for part in FileManager.default.subpaths(atPath: apple.appendingPathComponent(model).path) ?? []
            where part.hasSuffix("contents") {
                try compare(model + part, try Self.read("Apple/\(model)\(part)"))
            }
        }
        let layout = PackageLayout(name: "Household", paths: paths) { ported[$0]?.text ?? [] }
        let manifest = PackageManifest(name: "Household", roster: "../..", layout: layout)
        try compare("Package.swift", Array(manifest.text.utf8))
        #expect(layout.missingModules.isEmpty && layout.shims == ["Combine", "OSLog", "os"])
        #expect(ported.count == 12)
    }

    /// Nobody has to edit anything.
    @Test func nothingIsLeftToDo() throws {
        let paths = Self.files(in: Self.package.appendingPathComponent("Apple")).filter { $0.hasSuffix(".swift") }
        let sources = try paths.map { try Self.read("Apple/\($0)") }
        let facts = PortFacts(of: sources)
        for (path, source) in zip(paths, sources) {
            #expect(SourcePort.port(source, knowing: facts).notes.filter(\.isLeft).isEmpty, "\(path)")
        }
    }
}
