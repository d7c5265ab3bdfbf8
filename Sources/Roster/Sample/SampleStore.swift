import Foundation
import RosterCommands

/// The World Cup sample: the source files and the user's copy.
enum SampleStore {
    static let entity = "Team"
    static let section = "qualifyingZone"
    static let sort = "wins:desc,teamName"

    /// Returns the user's copy, created on the first run.
    ///
    /// The copy is created under a temporary name and moved when complete. If two first runs overlap, one of them wins.
    /// - Throws: ``CommandError`` if the sample's files are missing or the copy cannot be written.
    static func copy() throws -> URL {
        let folder = userDataFolder.appendingPathComponent("roster", isDirectory: true)
        let store = folder.appendingPathComponent("WorldCup.sqlite")
        if FileManager.default.fileExists(atPath: store.path) { return store }
        let source = try sampleFolder()
        let workshop = folder.appendingPathComponent(".WorldCup-\(ProcessInfo.processInfo.processIdentifier)")
        defer { try? FileManager.default.removeItem(at: workshop) }
        do {
            try FileManager.default.createDirectory(
                at: workshop, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandError.failure("cannot write to \(folder.path): \(error.localizedDescription)")
        }
        StandardError.write("creating the World Cup sample at \(store.path)\n")
        let made = workshop.appendingPathComponent("WorldCup.sqlite")
        let mask = umask(0o077)
        defer { umask(mask) }
        try fill(made, from: source)
        do {
            // A link fails if the file exists; a rename would replace the copy that another process has just made.
            try FileManager.default.linkItem(at: made, to: store)
        } catch {
            if !FileManager.default.fileExists(atPath: store.path) {
                try FileManager.default.moveItem(at: made, to: store)
            }
        }
        return store
    }

    /// Creates the sample at a path that does not exist yet.
    ///
    /// - Throws: ``CommandError`` as ``copy()`` does.
    static func make(at store: URL) throws { try fill(store, from: sampleFolder()) }

    private static func fill(_ store: URL, from source: URL) throws {
        let quiet = JobControl().surroundings
        let model = source.appendingPathComponent("WorldCup.xcdatamodeld").path
        try CreateCommand(store: store.path, model: model).run(in: quiet)
        for (entity, file) in [("Venue", "venues.json"), (Self.entity, "teams.json")] {
            try ImportCommand(
                store: StoreLocation(store: store.path), entity: entity,
                file: source.appendingPathComponent(file).path
            ).run(in: quiet)
        }
    }

    // MARK: Paths

    /// `$XDG_DATA_HOME`, or `~/.local/share`.
    private static var userDataFolder: URL { UserFolder.url("XDG_DATA_HOME", else: ".local/share") }

    /// `$ROSTER_SAMPLE_DATA`; else `sample-data` in a folder above the program, as in a build of the package; else
    /// `share/roster/sample-data` next to the program's `bin`.
    private static func sampleFolder() throws -> URL {
        if let path = ProcessInfo.processInfo.environment["ROSTER_SAMPLE_DATA"], !path.isEmpty {
            return URL(fileURLWithPath: path)
        }
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        var folder = program.deletingLastPathComponent()
        while folder.path != "/" {
            for place in ["sample-data", "share/roster/sample-data"] {
                let candidate = folder.appendingPathComponent(place)
                let model = candidate.appendingPathComponent("WorldCup.xcdatamodeld").path
                if FileManager.default.fileExists(atPath: model) { return candidate }
            }
            folder.deleteLastPathComponent()
        }
        throw CommandError.failure(
            "cannot find the files of the World Cup sample. Set ROSTER_SAMPLE_DATA to their folder, or name a store")
    }
}
