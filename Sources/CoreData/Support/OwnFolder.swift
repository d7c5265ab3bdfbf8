import Foundation

/// The folders in which the framework keeps files of its own: readable by their owner only.
enum OwnFolder {
    /// Where caches stand: `XDG_CACHE_HOME`, else `.cache` in `HOME`, else in the user's folder.
    static var caches: String {
        let environment = ProcessInfo.processInfo.environment
        // The specification wants a relative path ignored.
        if let path = environment["XDG_CACHE_HOME"], path.hasPrefix("/") { return path }
        if let home = environment["HOME"], home.hasPrefix("/") { return home + "/.cache" }
        return NSHomeDirectory() + "/.cache"
    }

    /// Makes a folder, and those above it that are missing.
    static func create(_ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
}
