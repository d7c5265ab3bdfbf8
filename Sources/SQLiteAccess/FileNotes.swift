import CSQLite3

/// Notes that the file system keeps with a file and not in it: extended attributes. They go where the file goes, and copies
/// of the file have none, or one that tells of another file.
package enum FileNotes {
    private static let limit = 512

    /// The note of that name; `nil` where there is none, or the file system keeps none.
    // SAFETY: `getxattr` fills at most as many bytes as there is room for, and says how many.
    package static func read(_ name: String, of path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = getxattr(path, name, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }

    /// Writes a note over the one of that name. Where the file system keeps none, nothing happens.
    package static func write(_ text: String, _ name: String, of path: String) {
        let bytes = Array(text.utf8)
        _ = setxattr(path, name, bytes, bytes.count, 0)
    }

    /// When a file was made, in nanoseconds; `nil` where the file system does not say.
    package static func birth(of path: String) -> Int64? {
        let time = file_birth_time(path)
        return time < 0 ? nil : time
    }
}
