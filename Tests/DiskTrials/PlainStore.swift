import CSQLite3
import Foundation

/// Reads a store with plain SQLite.
enum PlainStore {
    // SAFETY: The texts are copied while SQLite keeps them.
    static func rows(_ url: URL, _ sql: String) throws -> [String] {
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        guard sqlite3_open_v2(url.path, &database, SQLITE_OPEN_READWRITE, "unix") == SQLITE_OK else {
            throw Wrong("plain SQLite cannot open \(url.path)")
        }
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else {
            throw Wrong("plain SQLite: \(String(cString: sqlite3_errmsg(database))): \(sql)")
        }
        var rows: [String] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                rows.append(
                    (0..<sqlite3_column_count(statement)).map { column in
                        sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "nil"
                    }.joined(separator: "|"))
            case SQLITE_DONE: return rows
            default: throw Wrong("plain SQLite: \(String(cString: sqlite3_errmsg(database))): \(sql)")
            }
        }
    }
}

/// Folders of a run, for the files of programs and for the states of a disk.
struct TrialFolders {
    let root: URL
    var work: URL { root.appendingPathComponent("work", isDirectory: true) }
    var whole: URL { root.appendingPathComponent("whole", isDirectory: true) }
    var crashed: URL { root.appendingPathComponent("crashed", isDirectory: true) }
    var template: URL { root.appendingPathComponent("template", isDirectory: true) }
    var store: URL { work.appendingPathComponent("Store.sqlite") }
    var wholeStore: URL { whole.appendingPathComponent("Store.sqlite") }
    var crashedStore: URL { crashed.appendingPathComponent("Store.sqlite") }

    init() throws {
        // Prefer memory: no trial waits for a disk.
        let memory = URL(fileURLWithPath: "/dev/shm")
        let place =
            FileManager.default.isWritableFile(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
        root = place.resolvingSymlinksInPath().appendingPathComponent("disk-trials-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    }

    func empty(_ folder: URL) throws {
        try? FileManager.default.removeItem(at: folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(at: root) }
}
