import Foundation
import ModelFiles
import Synchronization

/// Where lists are kept: a private directory of this program, below the user's folder for caches.
enum ResultsCacheDirectory {
    private static let replacement = Mutex<String?>(nil)

    /// Keeps lists somewhere else; `nil` goes back. For tests.
    static func use(_ path: String?) { replacement.withLock { $0 = path } }

    /// The directory, whether it exists or not: below `XDG_CACHE_HOME`, else `~/.cache`.
    static var path: String {
        if let path = replacement.withLock({ $0 }) { return path }
        return "\(OwnFolder.caches)/\(ProcessInfo.processInfo.processName)/FetchedResults"
    }

    /// The file of the cache named `name`. Any name will do: the file is named by its hash.
    static func file(named name: String) -> String {
        var hash = SHA256()
        hash.update(Array(name.utf8))
        return "\(path)/\(hash.finalize().prefix(16).map { String(format: "%02x", $0) }.joined()).list"
    }

    /// Makes the directory, readable by its owner only.
    static func create() throws {
        try OwnFolder.create(path)
    }

    /// Removes the file of one cache, or all of them.
    static func remove(named name: String?) {
        if let name {
            unlink(file(named: name))
            return
        }
        for entry in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] where entry.hasSuffix(".list") {
            unlink("\(path)/\(entry)")
        }
    }
}
