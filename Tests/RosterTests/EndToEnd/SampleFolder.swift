import Foundation
import SQLiteAccess
import Testing

/// A temporary folder with a copy of the World Cup sample, made by the program.
final class SampleFolder {
    let url: URL
    var store: String { path("WorldCup.sqlite") }

    init() throws {
        url = try Self.emptyFolder()
        try FileManager.default.copyItem(atPath: Self.original.get(), toPath: store)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Restores the original store. No process may have it open.
    func restore() throws {
        for ending in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: store + ending) }
        try FileManager.default.copyItem(atPath: Self.original.get(), toPath: store)
    }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    func file(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: url.appendingPathComponent(name))
        return path(name)
    }

    /// Starts a program that follows the store and sets `wins` of all teams: the changes are then in the log. Kill the
    /// program to keep them there.
    func followed(wins: Int) throws -> LiveProcess {
        let reader = try LiveProcess(roster: ["watch", store, "Team"])
        try #require(reader.wait(60) { !$0.isEmpty })
        // A reader uses the log only while a process that may write it runs, and the end of the writer is not fixed.
        let companion = try Connection(path: store, access: .readWrite)
        defer { companion.close() }
        _ = try companion.value("SELECT COUNT(*) FROM ZTEAM")
        let outcome = try RosterProcess.run(["update", store, "Team", "--where", "TRUEPREDICATE", "wins=\(wins)"])
        try #require(outcome.status == 0, "\(outcome.errors)")
        try #require(reader.wait(60) { $0.last?.hasPrefix("now ") ?? false })
        return reader
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

    /// The folder of the original, which is deleted at the end of the test run.
    private static let originalFolder: Result<URL, any Error> = Result {
        let folder = try emptyFolder()
        atexit {
            if let folder = try? SampleFolder.originalFolder.get() { try? FileManager.default.removeItem(at: folder) }
        }
        return folder
    }

    /// Made once for all tests of a run.
    private static let original = Result { () throws -> String in
        let store = try originalFolder.get().appendingPathComponent("WorldCup.sqlite").path
        var outcomes = [try RosterProcess.run(["create", store, "--model", model])]
        for (entity, file) in [("Venue", "venues.json"), ("Team", "teams.json")] {
            let path = sampleData.appendingPathComponent(file).path
            outcomes.append(try RosterProcess.run(["import", store, entity, path]))
        }
        for outcome in outcomes { try #require(outcome.status == 0, "\(outcome.errors)") }
        return store
    }
}
