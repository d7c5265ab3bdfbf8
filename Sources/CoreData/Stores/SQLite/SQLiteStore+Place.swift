import Foundation
import SQLiteAccess

// The location of the store's file: checks that the file at the URL is the open one, and switches to another.
extension SQLiteStore {
    private var openFiles: OpenFiles? { connection?.watch as? OpenFiles }

    func checkFile() throws {
        guard let connection else { return }
        try openFiles?.check(connection)
        // If the file was replaced, this opens the new one and checks it.
        if connection.access == .immutable { _ = try withSession { $0.connection.path } }
    }

    /// Calls `tell` after writes to the database file or its log; every commit writes to the log. `nil` for a store
    /// without a log, which is polled.
    func watchFiles(on queue: DispatchQueue, _ tell: @escaping @Sendable () -> Void) -> AnyObject? {
        guard let connection, connection.access != .immutable, openFiles?.hasLog == true else { return nil }
        return FileWatch([connection.path, connection.path + "-wal"], on: queue, tell)
    }

    var fileURL: URL? {
        guard let openFiles else { return url }
        return openFiles.place.map { URL(fileURLWithPath: $0) }
    }

    /// True if the files at the store's path are those that are open.
    var isInPlace: Bool {
        guard let connection, let openFiles else { return true }
        return openFiles.isInPlace(connection)
    }

    /// Checks that a newly opened file is still this store.
    ///
    /// - Throws: 134080 if the opened file is another store.
    func checkThatItIsThisStore(_ opened: Connection) throws {
        guard try StoreMetadata.read(from: opened)[NSStoreUUIDKey] as? String == identifier else {
            throw CoreDataError.make(
                134080, "Cannot continue with \(opened.path): it is another store.",
                userInfo: [NSFilePathErrorKey: opened.path])
        }
    }

    // MARK: Going on elsewhere

    /// Switches to the file at `newURL`, which must be this store, moved, or a copy of it.
    func goOn(with newURL: URL) throws {
        var file = try StoreFile(url: newURL, options: StoreOptions(options), isReadOnly: isReadOnly)
        file.model = persistentStoreCoordinator?.managedObjectModel
        guard file.exists else {
            throw CoreDataError.make(260, "Cannot open the store \(file.path): the file does not exist.")
        }
        try bringAlongLog(to: file)
        var reader = reader
        reader.willOpen(file)
        let opened = try file.open()
        do {
            try file.errors.translating(.opening) {
                try checkThatItIsThisStore(opened)
                session = try makeSession(opened, try creation(file))
            }
        } catch {
            opened.close()
            throw error
        }
        connection?.close()
        connection = opened
        self.reader = reader
        url = newURL
        changeTokens = ChangeToken(path: file.path, identifier: identifier ?? "")
    }

    /// Copies the log into the store's file if the file was moved without it. All connections of a process to a file
    /// share the index of one log, so the file is closed before it is opened at its new path.
    private func bringAlongLog(to file: StoreFile) throws {
        guard let connection, !isReadOnly, let stands = openFiles?.stands(at: file.path), stands.main, !stands.log
        else {
            return
        }
        guard !file.hasLog else {
            throw CoreDataError.make(
                134080,
                "Cannot continue with \(file.path): its folder has a log (-wal) of another store. Move the log away.",
                userInfo: [NSFilePathErrorKey: file.path])
        }
        try file.errors.translating(.opening) {
            guard case .integer(0)? = try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)").first?.first else {
                throw CoreDataError.make(
                    134090, "Cannot continue with \(file.path): another program is reading its log. Try again.",
                    userInfo: [NSFilePathErrorKey: file.path])
            }
        }
        session = nil
        connection.close()
        self.connection = nil
    }

    /// Copies the open store, wherever its file is now.
    func copyOpenContents(to destination: URL) throws {
        try SideFiles(path: destination.path).check()
        let from = fileURL ?? url
        let kept = from.flatMap { $0.isMemoryPlace ? nil : ExternalData(storePath: $0.path).values.keepFiles() }
        defer { withExtendedLifetime(kept) {} }
        try withSession { session in
            try SQLiteStoreErrors(path: destination.path).translating(.creating) {
                try StoreFiles.makeEmpty(at: destination.path, StoreMaking(like: from).permissions)
                let writer = try Connection(path: destination.path, access: .readWrite)
                defer { writer.close() }
                try session.connection.copy(to: writer)
                try writer.setPragma("journal_mode", to: "delete")
            }
            guard try !file().isInMemory else { return }
            // External values are at the old or at the new location.
            for folder in [url, from].compactMap({ $0 }) {
                try ExternalDataCopy(ofStoreAt: folder.path, toStoreAt: destination.path).run(replaces: false)
            }
        }
    }
}
