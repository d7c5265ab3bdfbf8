import Foundation

/// The files of a store that is being made.
enum NewStoreFiles {
    /// Runs `make`, which makes a store where nothing is; where that fails, nothing is left of it. What was there before stays.
    static func removing<Result>(at url: URL, ifFails make: () throws -> Result) throws -> Result {
        guard url.isFileURL else { return try make() }
        let paths = ["", "-wal", "-shm", "-journal"].map { url.path + $0 }
        let isNew = !paths.contains { FileManager.default.fileExists(atPath: $0) }
        do {
            return try make()
        } catch {
            if isNew { for path in paths { unlink(path) } }
            throw error
        }
    }
}
