import Foundation

@testable import RosterCommands

/// A copy of the World Cup sample for one test. The commands themselves create the sample once.
struct SampleStore {
    let folder: TemporaryFolder
    let location: StoreLocation

    init() throws {
        folder = try TemporaryFolder()
        let original = try Self.original.get()
        let path = folder.path("WorldCup.sqlite")
        try FileManager.default.copyItem(atPath: original.path("WorldCup.sqlite"), toPath: path)
        location = StoreLocation(store: path)
    }

    private static let original: Result<UncheckedFolder, any Error> = Result {
        let folder = try TemporaryFolder()
        let path = folder.path("WorldCup.sqlite")
        let surroundings = TestSurroundings().surroundings()
        try CreateCommand(store: path, model: SampleFiles.model).run(in: surroundings)
        for (entity, file) in [("Venue", "venues.json"), ("Team", "teams.json")] {
            try ImportCommand(
                store: StoreLocation(store: path), entity: entity,
                file: SampleFiles.folder.appendingPathComponent(file).path
            ).run(in: surroundings)
        }
        atexit {
            if let folder = try? SampleStore.original.get().folder.url {
                try? FileManager.default.removeItem(at: folder)
            }
        }
        return UncheckedFolder(folder: folder)
    }

    /// SAFETY: the folder is not changed after its creation.
    private struct UncheckedFolder: @unchecked Sendable {
        let folder: TemporaryFolder
        func path(_ name: String) -> String { folder.path(name) }
    }

    // MARK: Commands in short

    func list(
        _ entity: String = "Team", _ query: RecordQuery = RecordQuery(), columns: [String]? = nil,
        sectionsOnly: Bool = false, format: OutputFormat = .csv
    ) throws -> [String] {
        let surroundings = TestSurroundings()
        try ListCommand(
            store: location, entity: entity, query: query, columns: columns, sectionsOnly: sectionsOnly, format: format
        ).run(in: surroundings.surroundings())
        return surroundings.lines
    }

    /// One value of one team.
    func value(_ key: String, ofTeam name: String) throws -> String? {
        try list("Team", RecordQuery(predicate: "teamName == \"\(name)\""), columns: [key]).dropFirst().first
    }

    func count(_ entity: String, where predicate: String? = nil) throws -> Int? {
        let surroundings = TestSurroundings()
        try CountCommand(store: location, entity: entity, predicate: predicate).run(in: surroundings.surroundings())
        return surroundings.lines.first.flatMap { Int($0) }
    }

    @discardableResult
    func importFile(
        _ name: String, _ text: String, into entity: String = "Team", batchSize: Int = 1000, isDryRun: Bool = false
    ) throws -> [String] {
        let surroundings = TestSurroundings()
        try ImportCommand(
            store: location, entity: entity, file: try folder.file(name, text), batchSize: batchSize, isDryRun: isDryRun
        ).run(in: surroundings.surroundings())
        return surroundings.lines
    }
}
