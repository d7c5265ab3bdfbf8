import Foundation
import ModelFiles
import Synchronization

/// The directory of the lists: private to this program, below the user's cache folder.
enum ResultsCacheDirectory {
    private static let replacement = Mutex<String?>(nil)

    /// Uses another directory; `nil` restores the default. For tests.
    static func use(_ path: String?) { replacement.withLock { $0 = path } }

    /// The directory, even if it does not exist: below `XDG_CACHE_HOME`, otherwise `~/.cache`.
    static var path: String {
        if let path = replacement.withLock({ $0 }) { return path }
        return "\(OwnFolder.caches)/\(ProcessInfo.processInfo.processName)/FetchedResults"
    }

    /// The file of the cache named `name`. Any name is valid: the file name is a hash of it.
    static func file(named name: String) -> String {
        var hash = SHA256()
        hash.update(Array(name.utf8))
        return "\(path)/\(hash.finalize().prefix(16).map { String(format: "%02x", $0) }.joined()).list"
    }

    /// Creates the directory, readable by its owner only.
    static func create() throws {
        try OwnFolder.create(path)
    }

    /// Removes the file of one cache, or all files.
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
