import Foundation

import Glibc

/// The user's folders. The framework's own files in them are readable by their owner only.
enum OwnFolder {
    /// The folder for caches: `XDG_CACHE_HOME`, else `.cache` in `HOME` or in the user's folder.
    static var caches: String { path("XDG_CACHE_HOME", else: ".cache") }

    /// The folder for programs' data: `XDG_DATA_HOME`, else `.local/share` in `HOME` or in the user's folder.
    static var data: String { path("XDG_DATA_HOME", else: ".local/share") }

    private static func path(_ variable: String, else place: String) -> String {
        let environment = ProcessInfo.processInfo.environment
        // The specification requires that a relative path is ignored.
        if let path = environment[variable], path.hasPrefix("/") { return path }
        if let home = environment["HOME"], home.hasPrefix("/") { return "\(home)/\(place)" }
        return "\(NSHomeDirectory())/\(place)"
    }

    /// Creates a folder and its missing parents. If it exists, other users lose their permissions in it and in the
    /// framework's folders that contain it.
    ///
    /// - Throws: an error, also if one of these folders belongs to another user.
    static func create(_ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        var own = path
        while own.count > 1 {
            try close(own)
            let above = (own as NSString).deletingLastPathComponent
            // Permissions of folders that all programs share are left to the user.
            guard above.hasPrefix(caches + "/") || above.hasPrefix(data + "/") else { return }
            own = above
        }
    }

    private static func close(_ path: String) throws {
        var facts = stat()
        guard stat(path, &facts) == 0 else { throw CocoaError(.fileReadNoSuchFile) }
        guard facts.st_uid == geteuid() else { throw CocoaError(.fileWriteNoPermission) }
        guard facts.st_mode & 0o077 != 0 else { return }
        guard chmod(path, 0o700) == 0 else { throw CocoaError(.fileWriteNoPermission) }
    }
}
