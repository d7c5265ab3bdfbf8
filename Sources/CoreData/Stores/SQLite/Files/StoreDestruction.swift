import Foundation
import SQLiteAccess
import Glibc

// A store is destroyed by emptying its file, which keeps its name. It is emptied while SQLite's exclusive lock is held,
// and only after SQLite has read a store from it. Any other file at the path is unchanged.

/// Empties the file of a store and removes what belongs to it.
struct StoreDestruction {
    let file: StoreFile
    /// True to destroy the store even if others have it open or it is damaged.
    let isForced: Bool

    /// Does nothing to an empty file, and creates one if there is none.
    ///
    /// - Throws: 259 if the file is not an SQLite store or is damaged, 134080 for a folder, 513 for missing permission,
    ///   134090 if others have it open.
    func run() throws {
        guard !file.isInMemory else { return }
        guard try PlainFile.check(file.name, for: "destroy") else { return makeEmptyFile() }
        do {
            try empty(isOpenHereAlone: LogOwnership(path: file.path).isOpenHereAlone)
        } catch let error as NSError where isForced && (error.code == 134090 || Self.isDamage(error)) {
            try replaceByEmptyFile()
            StoreFiles.removeCompanions(at: file.path)
            SupportFolder(ofStoreAt: file.path).removeAll()
        } catch let error as NSError where Self.isDamage(error) {
            throw CoreDataError.make(
                259,
                "Cannot destroy the store \(file.path): it is damaged, so it may be another program's database. "
                    + "NSPersistentStoreForceDestroyOption destroys it anyway.",
                underlying: error, userInfo: [NSFilePathErrorKey: file.path])
        }
    }

    /// Creates an empty file, unless there is a log or journal: it belongs to a store that was moved away, and no other
    /// file may take that store's place. Does nothing if the folder does not exist.
    private func makeEmptyFile() {
        guard ["-wal", "-journal"].allSatisfy({ PlainFile.kind(file.path + $0) == .nothing }) else { return }
        try? StoreFiles.makeEmpty(at: file.path, nil)
    }

    private static func isDamage(_ error: NSError) -> Bool {
        SQLiteStoreErrors.kind(of: error) == .corrupt
    }

    /// - Parameter isOpenHereAlone: true if only this process has the file open. Its connections keep the file, and
    ///   another file gets its name.
    private func empty(isOpenHereAlone: Bool) throws {
        let connection = try file.open()
        defer { connection.close() }
        try file.errors.translating(.destroying) {
            guard try connection.integer("SELECT COUNT(*) FROM sqlite_master") != 0 else { return }
            try checkThatItIsAStore(connection)
            let folder = SupportFolder(ofStoreAt: file.path)
            let names = try folder.names(referredToIn: connection)
            if isOpenHereAlone {
                // Waits for a save of another connection.
                try connection.execute(TransactionMode.immediate.rawValue)
                defer { connection.rollBack() }
                try replaceByEmptyFile()
                StoreFiles.removeCompanions(at: file.path)
                return folder.remove(names)
            }
            // Otherwise the log would be played into the truncated file. Fails while others have the store open.
            try connection.setPragma("journal_mode", to: "delete")
            _ = DurableFile.syncCommits(toStoreAt: file.path)
            try connection.execute(TransactionMode.exclusive.rawValue)
            defer { connection.rollBack() }
            try connection.truncateFile()
            StoreFiles.removeCompanions(at: file.path)
            folder.remove(names)
        }
    }

    private func checkThatItIsAStore(_ connection: Connection) throws {
        let metadata = try StoreMetadata.read(from: connection)
        if let type = metadata[NSStoreTypeKey] as? String, type != NSSQLiteStoreType {
            throw CoreDataError.make(
                134010,
                "Cannot destroy \(file.path) as a store of type \(NSSQLiteStoreType): it is one of type \(type).",
                userInfo: [NSFilePathErrorKey: file.path])
        }
        guard try connection.hasTable("Z_PRIMARYKEY") else {
            throw CoreDataError.make(
                259,
                "Cannot destroy the store \(file.path): it is an SQLite database, but not a Core Data store (it has no table "
                    + "Z_PRIMARYKEY).", userInfo: [NSFilePathErrorKey: file.path])
        }
    }

    /// Replaces the file by an empty one. A process with the old file open keeps that file, and no log is played into
    /// the new one.
    private func replaceByEmptyFile() throws {
        let path = file.path
        let folder = (path as NSString).deletingLastPathComponent
        let empty = (folder as NSString).appendingPathComponent(
            ".\((path as NSString).lastPathComponent).\(UUID().uuidString)")
        var facts = stat()
        let mode = stat(path, &facts) == 0 ? facts.st_mode & 0o777 : 0o644
        let descriptor = open(empty, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw DurableFile.failure(errno, empty) }
        close(descriptor)
        guard rename(empty, path) == 0 else {
            let code = errno
            unlink(empty)
            throw DurableFile.failure(code, path)
        }
    }
}

/// The folder of a store's external data. Stores whose names differ only in their extension share it, so only the
/// store's own files are removed.
struct SupportFolder {
    private var storePath: String { place.storePath }
    private let place: ExternalData

    init(ofStoreAt path: String) { place = ExternalData(storePath: path) }

    /// Returns the names of the files that rows of the store refer to. Cost: reads the store once, if there are files.
    func names(referredToIn connection: Connection) throws -> [String] {
        let files = Set(place.values.names())
        guard !files.isEmpty else { return [] }
        return try referredNames(in: connection).filter(files.contains)
    }

    private func referredNames(in connection: Connection) throws -> Set<String> {
        var found: Set<String> = []
        for row in try connection.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z%'") {
            guard case .text(let table) = row[0] else { continue }
            for column in try connection.columns(of: table) {
                let name = SQLName.quoted(column)
                let references = try connection.rows(
                    "SELECT \(name) FROM \(SQLName.quoted(table)) WHERE typeof(\(name)) = 'blob' AND length(\(name)) < 64"
                )
                for case .blob(let stored) in references.map({ $0[0] }) {
                    if let file = ExternalData.fileName(in: stored) { found.insert(file) }
                }
            }
        }
        return found
    }

    /// True if there are any values.
    var hasValues: Bool { !place.values.names().isEmpty }

    /// Removes these files, or all files if no other store can share the folder.
    func remove(_ names: [String]) {
        if isShared { removeFiles(names) } else { removeAll() }
    }

    /// Removes all files of external data, and the folder if it is then empty. Does nothing if another store may share
    /// the folder.
    func removeAll() {
        guard !isShared else { return }
        for folder in [place.values, place.notes] {
            for name in folder.names() { folder.remove(name) }
            for name in folder.names(ending: ExternalDataCopy.partEnding) { folder.remove(name) }
            folder.removeIfEmpty()
        }
    }

    /// Removes these files of values.
    ///
    /// - Parameter withParts: true to remove their unfinished copies too.
    func removeFiles(_ names: some Sequence<String>, withParts: Bool = false) {
        for name in names {
            place.values.remove(name)
            if withParts { place.values.remove(name + ExternalDataCopy.partEnding) }
        }
        if PlainFile.kind(storePath) == .nothing { place.values.removeIfEmpty() }
    }

    /// Returns the names of external files to which only rows of a copy refer, not rows of the store that the copy was
    /// to replace.
    func namesOfCopy(_ copy: String) throws -> Set<String> {
        // Either may have the log or journal of a killed program.
        func names(_ path: String) throws -> Set<String> {
            let url = URL(fileURLWithPath: path)
            let connection = try StoreFile(url: url, options: StoreOptions(nil), isReadOnly: true).open()
            defer { connection.close() }
            return try referredNames(in: connection)
        }
        guard place.values.isThere, PlainFile.kind(copy) == .plain else { return [] }
        let found = try names(copy)
        return PlainFile.kind(storePath) == .nothing ? found : found.subtracting(try names(storePath))
    }

    /// Refuses the path of a missing store whose external values remain: the store was moved away without them, and a
    /// new store would own and remove them.
    func checkThatNothingIsLeft() throws {
        guard PlainFile.kind(storePath) == .nothing, !isShared else { return }
        let count = place.values.names().count
        guard count > 0 else { return }
        let values = count == 1 ? "an external value" : "\(count) external values"
        throw CoreDataError.make(
            516,
            "Cannot create the store \(storePath): a former store left \(values) in \(place.values.url.path). Move the folder "
                + "\(place.support.lastPathComponent) to that store, or delete it.",
            userInfo: [NSFilePathErrorKey: place.values.url.path])
    }

    /// True if another store in the folder would share the external data. Models and exports of the same name have
    /// none.
    var isShared: Bool {
        let store = URL(fileURLWithPath: storePath)
        let stem = store.deletingPathExtension().lastPathComponent
        let own = [""] + ["-wal", "-shm", "-journal"]
        let beside =
            (try? FileManager.default.contentsOfDirectory(atPath: store.deletingLastPathComponent().path)) ?? []
        return beside.contains { name in
            !own.contains { store.lastPathComponent + $0 == name }
                && !["-wal", "-shm", "-journal"].contains { name.hasSuffix($0) }
                && URL(fileURLWithPath: name).deletingPathExtension().lastPathComponent == stem
                && StoreHeader.mayBeStore(store.deletingLastPathComponent().appendingPathComponent(name).path)
        }
    }
}
