import Foundation

/// The files that SQLite keeps next to a store's file.
struct SideFiles {
    let path: String

    static let suffixes = ["-wal", "-shm", "-journal"]

    /// Called before SQLite opens or creates the store.
    ///
    /// - Throws: 259 if one exists and is not a plain file; 516 if a store that is gone left one.
    func check() throws {
        try checkThatTheyArePlain()
        try checkThatNothingIsLeft()
    }

    /// Throws 259 if a side file is not a plain file. SQLite would wait for a pipe or write to a device, and its error
    /// does not name a folder or link.
    private func checkThatTheyArePlain() throws {
        for file in Self.suffixes.map({ path + $0 }) {
            let what: String
            switch PlainFile.kind(file) {
            case .nothing, .plain: continue
            case .folder: what = "a folder"
            case .link: what = "a link, which SQLite does not follow"
            case .special: what = "not a regular file"
            }
            throw CoreDataError.make(
                259,
                "Cannot open the store \(path): \(file) is \(what), but SQLite needs this path for a file of its own. Move it "
                    + "away (\(Self.moving(file))) and open the store again.", userInfo: [NSFilePathErrorKey: file])
        }
    }

    /// The log or journal of a missing store; `nil` if there is none, or if the store's file is not empty.
    var orphan: String? {
        guard (FileFacts(path)?.size ?? 0) == 0 else { return nil }
        if LogContents(path: path + "-wal") != nil { return path + "-wal" }
        if let journal = JournalContents(path: path + "-journal"), journal.pageCount > 0 { return path + "-journal" }
        return nil
    }

    /// Refuses a path with an orphan, because SQLite removes it when it creates a store.
    private func checkThatNothingIsLeft() throws {
        guard let orphan else { return }
        let what =
            orphan.hasSuffix("-wal")
            ? "log \(orphan), with the last saved changes"
            : "journal \(orphan), without which the store is damaged"
        throw CoreDataError.make(
            516,
            "Cannot create the store \(path): a former store left its \(what). Move it to that store and give it that "
                + "store's name, or move it away: \(Self.moving(orphan)).", userInfo: [NSFilePathErrorKey: orphan])
    }

    /// Returns the command that moves a file to a free name.
    static func moving(_ file: String) -> String {
        var (free, number) = (file + ".old", 2)
        while PlainFile.kind(free) != .nothing, number < 1_000 { (free, number) = (file + ".old\(number)", number + 1) }
        return "mv -n \(quoted(file)) \(quoted(free))"
    }

    /// Returns a path quoted for shells.
    static func quoted(_ path: String) -> String { "'" + path.replacingOccurrences(of: "'", with: "'\\''") + "'" }
}
