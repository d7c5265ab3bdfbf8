import Foundation
import Testing

/// A folder of a test's own with a copy of the World Cup sample in it, made by the program.
final class SampleFolder {
    let url: URL
    var store: String { path("WorldCup.sqlite") }

    init() throws {
        url = try Self.emptyFolder()
        try FileManager.default.copyItem(atPath: Self.original.get(), toPath: store)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    func file(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: url.appendingPathComponent(name))
        return path(name)
    }

    static let sampleData = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("sample-data")

    static var model: String { sampleData.appendingPathComponent("WorldCup.xcdatamodeld").path }

    private static func emptyFolder() throws -> URL {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("roster-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return url
    }

    /// Made once for all tests of a run.
    private static let original = Result { () throws -> String in
        let store = try emptyFolder().appendingPathComponent("WorldCup.sqlite").path
        var outcomes = [try RosterProcess.run(["create", store, "--model", model])]
        for (entity, file) in [("Venue", "venues.json"), ("Team", "teams.json")] {
            let path = sampleData.appendingPathComponent(file).path
            outcomes.append(try RosterProcess.run(["import", store, entity, path]))
        }
        for outcome in outcomes { try #require(outcome.status == 0, "\(outcome.errors)") }
        return store
    }
}
