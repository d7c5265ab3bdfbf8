import CoreData
import Foundation
import Translation

/// A file that a command writes: never a store, a file that belongs to one, or the command's own input.
package struct OutputPlace {
    /// Path of the file, with links resolved.
    package let path: String

    /// - Parameters:
    ///   - path: as given by the user.
    ///   - input: the store or file that the command reads, if any.
    /// - Throws: ``CommandError`` if the file must not be written.
    package init(_ path: String, readingFrom input: String? = nil) throws {
        self.path = FileWriting.target(of: path)
        if let input, FileWriting.areSame(self.path, try StorePlace(input).url.path) {
            throw CommandError.failure("cannot write \(path): it is also the input. Name another file")
        }
        if Self.isStore(self.path) {
            throw CommandError.failure("cannot write \(path): it is a store. Name another file")
        }
        if let store = Self.owner(of: self.path) {
            throw CommandError.failure("cannot write \(path): it belongs to the store \(store). Name another file")
        }
    }

    /// The path as a file URL.
    var url: URL { URL(fileURLWithPath: path) }

    /// True for any SQLite database, log or journal, whatever its name, and for XML and binary stores.
    private static func isStore(_ path: String) -> Bool {
        guard StorePlace.isPlainFile(path), let bytes = StoreHeader.start(of: path) else { return false }
        func begins(_ other: [UInt8]) -> Bool { bytes.starts(with: other) }
        let ofSQLite: [[UInt8]] = [
            Array("SQLite format 3".utf8), [0x37, 0x7F, 0x06, 0x82], [0x37, 0x7F, 0x06, 0x83],
            [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7],
        ]
        if ofSQLite.contains(where: begins) { return true }
        // Not every property list or XML file is a store.
        let place = StorePlace(url: URL(fileURLWithPath: path))
        guard [.xml, .binary].contains(place.type) else { return false }
        return (try? NSPersistentStoreCoordinator.metadataForPersistentStore(type: place.type, at: place.url)) != nil
    }

    /// The store to which a file belongs by its name: a log, index or journal, also one that is not there yet, or an external value.
    static func owner(of path: String) -> String? {
        for suffix in ["-wal", "-shm", "-journal"] where path.hasSuffix(suffix) {
            let store = String(path.dropLast(suffix.count))
            if isStore(store) { return store }
        }
        let folders = URL(fileURLWithPath: path).deletingLastPathComponent().pathComponents.suffix(2)
        guard let support = folders.first, support.hasPrefix("."), support.hasSuffix("_SUPPORT"),
            ["_EXTERNAL_DATA", "_PENDING_EXTERNAL_DATA"].contains(folders.last)
        else { return nil }
        return String(support.dropFirst().dropLast("_SUPPORT".count))
    }
}
