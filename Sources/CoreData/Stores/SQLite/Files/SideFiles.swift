import Foundation

/// The files that SQLite keeps next to that of a store.
struct SideFiles {
    let path: String

    static let suffixes = ["-wal", "-shm", "-journal"]

    /// Call it before SQLite opens the store, or makes one there.
    ///
    /// - Throws: 259 where something else than a plain file has the name of one; 516 where one was left by a store that is gone.
    func check() throws {
        try checkThatTheyArePlain()
        try checkThatNothingIsLeft()
    }

    /// SQLite would wait for a pipe, or write to a device; a folder or a link it reports as a file that cannot be opened.
    private func checkThatTheyArePlain() throws {
        for file in Self.suffixes.map({ path + $0 }) {
            let what: String
            switch PlainFile.kind(file) {
            case .nothing, .plain: continue
            case .folder: what = "a folder"
            case .link: what = "a link, which SQLite does not follow"
            case .special: what = "not a plain file"
            }
            throw CoreDataError.make(
                259,
                "Cannot open the store \(path): \(file) is \(what), and SQLite keeps a file of its own there. Move it away: "
                    + "\(Self.moving(file)).", userInfo: [NSFilePathErrorKey: file])
        }
    }

    /// Whether there is no store at the path, or an empty file, but a log or journal of one.
    var orphan: String? {
        guard (FileFacts(path)?.size ?? 0) == 0 else { return nil }
        if LogContents(path: path + "-wal") != nil { return path + "-wal" }
        if let journal = JournalContents(path: path + "-journal"), journal.pageCount > 0 { return path + "-journal" }
        return nil
    }

    /// Beside a new store SQLite removes the log or journal that one left.
    private func checkThatNothingIsLeft() throws {
        guard let orphan else { return }
        let what =
            orphan.hasSuffix("-wal")
            ? "log \(orphan) of one, with what was saved last"
            : "journal \(orphan) of one, without which that is damaged"
        throw CoreDataError.make(
            516,
            "Cannot make the store \(path): there is none, but the \(what). Move it to where the store is now, under that "
                + "store's name, or away: \(Self.moving(orphan)).", userInfo: [NSFilePathErrorKey: orphan])
    }

    /// The command that takes a file away, to a name that is free.
    static func moving(_ file: String) -> String {
        var (free, number) = (file + ".old", 2)
        while PlainFile.kind(free) != .nothing, number < 1_000 { (free, number) = (file + ".old\(number)", number + 1) }
        return "mv -n \(quoted(file)) \(quoted(free))"
    }

    /// A path as shells read it.
    static func quoted(_ path: String) -> String { "'" + path.replacingOccurrences(of: "'", with: "'\\''") + "'" }
}
