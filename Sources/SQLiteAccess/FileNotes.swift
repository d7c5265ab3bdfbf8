import CSQLite3

/// Notes that the file system stores with a file but not in it: extended attributes. They move with the file; copies of
/// the file have none, or one that describes another file.
package enum FileNotes {
    private static let limit = 512

    /// The note with that name; `nil` if there is none, or the file system does not support notes.
    // SAFETY: `getxattr` fills at most as many bytes as there is room for, and returns their count.
    package static func read(_ name: String, of path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = getxattr(path, name, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }

    /// Writes or replaces the note with that name. Does nothing if the file system does not support notes.
    package static func write(_ text: String, _ name: String, of path: String) {
        let bytes = Array(text.utf8)
        _ = setxattr(path, name, bytes, bytes.count, 0)
    }

    /// The creation time of a file, in nanoseconds; `nil` if the file system does not record it.
    package static func birth(of path: String) -> Int64? {
        let time = file_birth_time(path)
        return time < 0 ? nil : time
    }
}
