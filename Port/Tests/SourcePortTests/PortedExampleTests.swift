import Foundation
import SourcePort
import Testing

/// The programs of `Examples/Ported`. The files in `Apple` were written for Apple's systems. Porting them gives exactly
/// the files that are built.
@Suite struct PortedExampleTests {
    private static let package = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("Examples/Ported")

    /// Paths of all Swift files in `Sources` and `Tests` of a folder.
    private static func files(in folder: URL) -> [String] {
        ["Sources", "Tests"].flatMap { part -> [String] in
            let found = FileManager.default.enumerator(atPath: folder.appendingPathComponent(part).path)
            return (found?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".swift") }.map { "\(part)/\($0)" }
        }.sorted()
    }

    private static func read(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: Self.package.appendingPathComponent(path)))
    }

    private static let ported = Result { try portedFiles() }

    private static func portedFiles() throws -> [(path: String, file: PortedFile)] {
        let paths = files(in: package.appendingPathComponent("Apple"))
        let sources = try paths.map { try read("Apple/\($0)") }
        let facts = PortFacts(of: sources)
        return zip(paths, sources).map { ($0, SourcePort.port($1, knowing: facts)) }
    }

    /// With `ROSTER_UPDATE_GOLDEN=1`, writes the files before comparing them.
    @Test func p24_theSourceIsWhatPortingMakes() throws {
        let ported = try Self.ported.get()
        #expect(ported.count > 15)
        for (path, file) in ported {
            if ProcessInfo.processInfo.environment["ROSTER_UPDATE_GOLDEN"] == "1" {
                try Data(file.text).write(to: Self.package.appendingPathComponent(path))
            }
            #expect(try Self.read(path) == file.text, "\(path)")
        }
        #expect(Self.files(in: Self.package) == ported.map(\.path))
    }

    @Test func portedAgainItStays() throws {
        let texts = try Self.ported.get().map(\.file.text)
        let facts = PortFacts(of: texts)
        for text in texts { #expect(SourcePort.port(text, knowing: facts).edits.isEmpty) }
    }

    /// Porting them gives three harmless notes.
    @Test func remainingWorkIsNoted() throws {
        let notes = try Self.ported.get().flatMap { path, file in file.notes.map { "\(path): \($0.message)" } }
        #expect(notes.count == 3)
        #expect(notes.contains { $0.hasPrefix("Sources/NoteStorage/Note+CoreDataClass.swift: excerpt: value(") })
        #expect(notes.contains { $0.hasPrefix("Sources/NoteStorage/Note+Color.swift: var color: needs UIKit") })
        #expect(notes.contains { $0.hasPrefix("Sources/SyncService/FeedImporter.swift: os: the package Shims") })
    }

    /// They contain typical spellings of Apple's systems, and the ported files do not.
    @Test(arguments: [
        "@NSManaged public var", "@NSManaged public func", "#keyPath(", "as! NSFetchRequest<NSFetchRequestResult>",
        "as? NSFetchRequest<NSFetchRequestResult>", "@objcMembers", "#selector(NSString.", "dynamic var",
    ])
    func nothingOfAppleIsLeft(_ spelling: String) throws {
        let ported = try Self.ported.get()
        #expect(ported.contains { String(decoding: $0.file.original, as: UTF8.self).contains(spelling) })
        #expect(!ported.contains { $0.file.string.contains(spelling) })
    }

    @Test func theirTestsHaveStoresInMemory() throws {
        for name in ["NoteStorage", "SyncService", "OrderBook"] {
            let text = String(decoding: try Self.read("Apple/Tests/\(name)Tests/\(name)Tests.swift"), as: UTF8.self)
            #expect(text.contains("URL(fileURLWithPath: \"/dev/null\")"))
        }
    }
}
