import Foundation
import SQLiteAccess
import Glibc

// A store is destroyed by emptying its file, so that its name goes on to be a file's. It is emptied while SQLite's exclusive
// lock is held, and only once SQLite has read there that it is a store: whatever else stands at a path stays as it is.

/// Empties the file of a store, and removes what belongs to it.
struct StoreDestruction {
    let file: StoreFile
    /// True if it is destroyed even if others have it open or it is damaged.
    let isForced: Bool

    /// Leaves an empty file alone, and makes one if there is no file.
    ///
    /// - Throws: 259 for what is no SQLite store or damaged, 134080 for a folder, 513 for want of permission, 134090 where others
    ///   have it open.
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
                "Cannot destroy the store \(file.path): it is damaged, and cannot be told from another program's database. "
                    + "NSPersistentStoreForceDestroyOption destroys it all the same.",
                underlying: error, userInfo: [NSFilePathErrorKey: file.path])
        }
    }

    /// A log or a journal without its store belongs to one that was moved away: no other file may take its place. Without a
    /// folder to put it in, nothing is made.
    private func makeEmptyFile() {
        guard ["-wal", "-journal"].allSatisfy({ PlainFile.kind(file.path + $0) == .nothing }) else { return }
        try? StoreFiles.makeEmpty(at: file.path, nil)
    }

    private static func isDamage(_ error: NSError) -> Bool {
        SQLiteStoreErrors.kind(of: error) == .corrupt
    }

    /// - Parameter isOpenHereAlone: whether other connections of this process, and of no other, have the file open. They go on
    ///   with it; another file takes its name.
    private func empty(isOpenHereAlone: Bool) throws {
        let connection = try file.open()
        defer { connection.close() }
        try file.errors.translating(.destroying) {
            guard try connection.integer("SELECT COUNT(*) FROM sqlite_master") != 0 else { return }
            try checkThatItIsAStore(connection)
            let folder = SupportFolder(ofStoreAt: file.path)
            let names = try folder.names(referredToIn: connection)
            if isOpenHereAlone {
                // A save of another connection ends first.
                try connection.execute(TransactionMode.immediate.rawValue)
                defer { connection.rollBack() }
                try replaceByEmptyFile()
                StoreFiles.removeCompanions(at: file.path)
                return folder.remove(names)
            }
            // Emptied would be the main file alone, and the log played into it. Fails while others have the store open.
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
                "Cannot destroy the store \(file.path): it is an SQLite database, but no Core Data store (it has no table "
                    + "Z_PRIMARYKEY).", userInfo: [NSFilePathErrorKey: file.path])
        }
    }

    /// Another file takes the name: a process that has the old one open goes on with that, and no log is played into
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

/// The folder of a store's external data, as far as its files are the store's own: all stores whose names differ in their
/// extension only share one.
struct SupportFolder {
    private var storePath: String { place.storePath }
    private let place: ExternalData

    init(ofStoreAt path: String) { place = ExternalData(storePath: path) }

    /// The names of the files that rows of the store refer to. Cost: reads the store once, if there are files.
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

    /// Removes these files, or all where no other store can have any in the folder.
    func remove(_ names: [String]) {
        if isShared { removeFiles(names) } else { removeAll() }
    }

    /// Removes all files of external data, and the folder if nothing else is in it. Does nothing in a folder that may be
    /// another store's too.
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
    /// - Parameter withParts: whether their unfinished copies go, too.
    func removeFiles(_ names: some Sequence<String>, withParts: Bool = false) {
        for name in names {
            place.values.remove(name)
            if withParts { place.values.remove(name + ExternalDataCopy.partEnding) }
        }
        if PlainFile.kind(storePath) == .nothing { place.values.removeIfEmpty() }
    }

    /// The names of the files that rows of a copy refer to, which was to be put in the store's place, and no row of the store.
    func namesOfCopy(_ copy: String) throws -> Set<String> {
        // Beside the log or journal of a killed program, too.
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

    /// Refuses a place for a new store where no store is, but external values of one: it was moved away without them, and a new
    /// one would have them, and remove them with itself.
    func checkThatNothingIsLeft() throws {
        guard PlainFile.kind(storePath) == .nothing, !isShared else { return }
        let count = place.values.names().count
        guard count > 0 else { return }
        let values = count == 1 ? "an external value" : "\(count) external values"
        throw CoreDataError.make(
            516,
            "Cannot make the store \(storePath): there is none, but \(values) of one in \(place.values.url.path). Move the folder "
                + "\(place.support.lastPathComponent) to where the store is now, or delete it.",
            userInfo: [NSFilePathErrorKey: place.values.url.path])
    }

    /// True if a store beside this one would have its external data in the same folder. Models and exports of the same name have
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
