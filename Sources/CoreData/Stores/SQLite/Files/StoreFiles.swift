import Foundation
import SQLiteAccess
import Glibc

/// Operations on a store's files while no coordinator has them open.
enum StoreFiles {
    static func metadata(at url: URL) throws -> [String: Any] {
        try withConnection(url, isReadOnly: true, options: nil) { try StoreMetadata.read(from: $0) }
    }

    static func setMetadata(_ metadata: [String: Any], at url: URL) throws {
        try withConnection(url, isReadOnly: false, options: nil) { connection in
            var metadata = metadata
            let before = try StoreMetadata.read(from: connection)
            for key in [NSStoreTypeKey, NSStoreUUIDKey] where metadata[key] == nil { metadata[key] = before[key] }
            let changed = metadata
            try connection.transaction { try StoreMetadata.write(changed, to: connection) }
        }
    }

    /// Returns the compressed model in the store; `nil` if there is none.
    static func cachedModelData(at url: URL, options: [AnyHashable: Any]?) throws -> Data? {
        try withConnection(url, isReadOnly: true, options: options) { connection in
            guard try connection.hasTable("Z_MODELCACHE"),
                case .blob(let data)? = try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")
            else { return nil }
            return data
        }
    }

    /// Infers the model from the store's tables, or from those of an SQLite file that is not a store.
    static func inferredModel(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel {
        try withConnection(url, isReadOnly: true, options: options) { connection in
            let hasPlainTables = try FileTables.areIn(connection)
            let metadata = hasPlainTables ? [:] : try StoreMetadata.read(from: connection)
            let (document, notes) =
                hasPlainTables
                ? try FileTables.document(of: connection) : try ModelInference.infer(connection, metadata: metadata)
            let model = NSManagedObjectModel()
            try ModelLoading.fill(model, inferred: document, store: url.path, metadata: metadata)
            model.isInferred = true
            model.inferenceNotes = notes
            return model
        }
    }

    /// Creates an empty file for a new database. A file that SQLite creates has 0644 less the umask, whatever it is
    /// made from. SQLite gives the log and its index the permissions of the database.
    ///
    /// - Parameter permissions: the permissions from the creation on; `nil` for 0666 less the umask.
    static func makeEmpty(at path: String, _ permissions: mode_t?) throws {
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, permissions ?? 0o666)
        guard descriptor >= 0 else { throw DurableFile.failure(errno, path) }
        if let permissions { fchmod(descriptor, permissions) }
        close(descriptor)
    }

    /// Removes the database and its side files if they are plain files; missing ones are ignored. Keeps the log of a
    /// store that was moved away.
    static func remove(at path: String) {
        guard SideFiles(path: path).orphan == nil else { return }
        removeCompanions(at: path)
        PlainFile.remove(path)
    }

    /// Removes the log, its index and the journal.
    static func removeCompanions(at path: String) {
        for suffix in SideFiles.suffixes { PlainFile.remove(path + suffix) }
    }

    /// Runs `body` with the store's file open.
    ///
    /// - Throws: 260 if there is none.
    static func withConnection<Result>(
        _ url: URL, isReadOnly: Bool, options: [AnyHashable: Any]?, _ body: (Connection) throws -> Result
    ) throws -> Result {
        let file = try StoreFile(url: url, options: StoreOptions(options), isReadOnly: isReadOnly)
        guard file.exists else {
            throw CoreDataError.make(
                260,
                file.isInMemory
                    ? "An in-memory store can be used only through its coordinator, not by its URL."
                    : "Cannot open the store \(file.path): the file does not exist.",
                userInfo: [NSFilePathErrorKey: file.path])
        }
        let connection = try file.open()
        defer { connection.close() }
        return try file.errors.translating(.reading) { try body(connection) }
    }
}
