import Foundation

extension URL {
    /// The URL that names no file: an SQLite store there lives in memory, and another one with each adding.
    static let memoryPlace = URL(fileURLWithPath: "/dev/null", isDirectory: false)

    /// Whether a store at this URL lives in memory.
    var isMemoryPlace: Bool { isFileURL && standardizedFileURL.path == URL.memoryPlace.path }
}
