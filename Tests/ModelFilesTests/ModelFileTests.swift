import Foundation
import Testing

@testable import ModelFiles

/// Files and folders whose contents do not match their names.
@Suite final class ModelFileTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "ModelFileTests-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func make(_ path: String, _ text: String = "") throws -> URL {
        let url = folder.appendingPathComponent(path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
        return url
    }

    private func failure(_ url: URL) throws -> ModelFileError {
        try #require(throws: ModelFileError.self) { try ModelFile.read(url) }
    }

    @Test func missingFilesAreMissing() throws {
        for name in ["x.xcdatamodeld", "x.xcdatamodel", "x.mom", "x.momd", "contents"] {
            let error = try failure(folder.appendingPathComponent(name))
            #expect(error.kind == .missing, "\(error)")
            #expect(error.file.contains(name))
        }
    }

    @Test func versionsAreChosenAsXcodeDoes() throws {
        let model = #"<model><entity name="A"/></model>"#
        _ = try make("m.xcdatamodeld/One.xcdatamodel/contents", model)
        let bundle = folder.appendingPathComponent("m.xcdatamodeld")
        #expect(try ModelFile.read(bundle).model.entities.map(\.name) == ["A"])

        _ = try make("m.xcdatamodeld/Two.xcdatamodel/contents", #"<model><entity name="B"/></model>"#)
        #expect(try failure(bundle).reason.contains("2 versions"))

        let marker = { (name: String) in
            "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>\(name)</string></dict></plist>"
        }
        _ = try make("m.xcdatamodeld/.xccurrentversion", marker("Two.xcdatamodel"))
        #expect(try ModelFile.read(bundle).model.entities.map(\.name) == ["B"])
        _ = try make("m.xcdatamodeld/.xccurrentversion", marker("Three.xcdatamodel"))
        #expect(try failure(bundle).reason.contains("Three.xcdatamodel"))
        _ = try make("m.xcdatamodeld/.xccurrentversion", "not a list")
        #expect(try failure(bundle).reason.contains("property list"))
    }

    @Test func emptyAndForeignFilesAreNotModels() throws {
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("e.xcdatamodeld"), withIntermediateDirectories: true)
        #expect(try failure(folder.appendingPathComponent("e.xcdatamodeld")).reason.contains("no version"))
        #expect(try failure(make("x.mom", "hello")).kind == .malformed)
        #expect(try failure(make("y.xcdatamodel/contents", "")).line == 1)
        #expect(try failure(make("old.xcdatamodel/elements", "")).kind == .malformed)
        #expect(try failure(folder.appendingPathComponent("old.xcdatamodel")).kind == .unsupported)
        #expect(try failure(folder).reason.contains("folder"))
        #expect(
            try failure(make("v.momd/VersionInfo.plist", "<plist/>").deletingLastPathComponent()).kind == .malformed)
    }
}
