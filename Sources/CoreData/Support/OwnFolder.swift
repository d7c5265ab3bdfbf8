import Foundation

/// The user's folders. What the framework keeps in them for itself is readable by its owner only.
enum OwnFolder {
    /// Where caches stand: `XDG_CACHE_HOME`, else `.cache` in `HOME`, else in the user's folder.
    static var caches: String { path("XDG_CACHE_HOME", else: ".cache") }

    /// Where programs keep their data: `XDG_DATA_HOME`, else `.local/share` in `HOME`, else in the user's folder.
    static var data: String { path("XDG_DATA_HOME", else: ".local/share") }

    private static func path(_ variable: String, else place: String) -> String {
        let environment = ProcessInfo.processInfo.environment
        // The specification wants a relative path ignored.
        if let path = environment[variable], path.hasPrefix("/") { return path }
        if let home = environment["HOME"], home.hasPrefix("/") { return "\(home)/\(place)" }
        return "\(NSHomeDirectory())/\(place)"
    }

    /// Makes a folder, and those above it that are missing.
    static func create(_ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
}
