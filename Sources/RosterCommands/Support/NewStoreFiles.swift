import CoreData
import Foundation
import Glibc

/// Creates a store at a path where nothing exists.
enum NewStoreFiles {
    /// Removes files left by killed runs that created a store at `place`, even if they had finished the last step.
    ///
    /// - Throws: ``CommandError`` if `place` is not free.
    static func checkThatItIsFree(_ place: StorePlace) throws {
        if !place.isOnServer { StoreInMaking.removeAllLeft(for: FileWriting.target(of: place.url.path)) }
        try place.checkThatItIsFree()
    }

    /// Runs `make` with a hidden place in the same folder and moves the store to `place` at the end. Until then, and if
    /// it fails, nothing is at `place`. A server creates a store completely or not at all.
    static func make<Result>(at place: StorePlace, _ make: (StorePlace) throws -> Result) throws -> Result {
        guard !place.isOnServer else { return try make(place) }
        let path = FileWriting.target(of: place.url.path)
        let making = StoreInMaking(for: path, .creation, discard: StoreInMaking.discard)
        defer {
            StoreInMaking.discard(making.path)
            making.end()
        }
        do {
            let result = try make(StorePlace(url: URL(fileURLWithPath: making.path), newType: place.type))
            try put(making.path, at: path)
            return result
        } catch let error as CocoaError {
            // The error contains the hidden temporary name, which the user does not know.
            throw CommandError.failure(
                text: CommandError.line(for: error).replacingOccurrences(of: making.path, with: path))
        }
    }

    private static func put(_ made: String, at path: String) throws {
        if isOneFile(made), !hasAnything(at: path), link(made, path) == 0 {
            let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
            let folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            if folder >= 0 {
                fsync(folder)
                close(folder)
            }
            return
        }
        let place = StorePlace(url: URL(fileURLWithPath: path))
        try place.checkThatItIsFree()
        // Used on file systems without hard links and for stores of several files. Throws if another store's log is at
        // the path.
        try StoreCopies.replace(place.url, with: URL(fileURLWithPath: made))
    }

    /// True if a closed store has no log and no external values. SQLite empties the log after copying it into the file.
    private static func isOneFile(_ path: String) -> Bool {
        var status = stat()
        return (stat(path + "-wal", &status) != 0 || status.st_size == 0) && access(path + "-journal", F_OK) != 0
            && access(StoreCopies.supportFolder(of: URL(fileURLWithPath: path)), F_OK) != 0
    }

    private static func hasAnything(at path: String) -> Bool {
        ["", "-wal", "-shm", "-journal"].contains { access(path + $0, F_OK) == 0 }
            || access(StoreCopies.supportFolder(of: URL(fileURLWithPath: path)), F_OK) == 0
    }
}
