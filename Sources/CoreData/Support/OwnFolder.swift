import Foundation

import Glibc

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

    /// Makes a folder, and those above it that are missing. Where it is there already, others lose what permissions they have in it,
    /// and in those of the framework's that it is in.
    ///
    /// - Throws: also where one of these is another user's.
    static func create(_ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        var own = path
        while own.count > 1 {
            try close(own)
            let above = (own as NSString).deletingLastPathComponent
            // The user's folders of all programs are the user's matter.
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
