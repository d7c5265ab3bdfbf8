import CoreData
import Foundation
import Glibc

/// A store that is made where nothing is.
enum NewStoreFiles {
    /// Removes what killed runs left that made a store at `place`, also one that was killed when the store was in its place.
    ///
    /// - Throws: ``CommandError`` if something is there.
    static func checkThatItIsFree(_ place: StorePlace) throws {
        if !place.isOnServer { StoreInMaking.removeAllLeft(for: FileWriting.target(of: place.url.path)) }
        try place.checkThatItIsFree()
    }

    /// Runs `make` with a hidden place beside `place`, and puts the store that it makes there in its place. Until then, and where that
    /// fails, nothing is at `place`. A server makes its stores whole or not at all.
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
            // The hidden name means nothing to the user.
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
        // External values come along, and a log of another store is refused. So it is where the file system has no links.
        try StoreCopies.replace(place.url, with: URL(fileURLWithPath: made))
    }

    /// True if a closed store has no log left: SQLite empties the log once it is copied into the file.
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
