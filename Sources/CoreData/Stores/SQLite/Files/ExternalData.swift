import Foundation
import Synchronization

/// Binary values that may be stored in files next to the store. The first byte in the column shows where the value is.
struct ExternalData: Sendable {
    let storePath: String
    /// The folder of all external data of the store.
    let support: URL
    /// The folder of the files: `.<store name>_SUPPORT/_EXTERNAL_DATA` next to the store.
    let values: ExternalDataFolder
    /// The folder for the notes of unfinished saves: see ``ExternalDataNote``.
    let notes: ExternalDataFolder

    /// Maximum size in bytes of a value that is stored in the row; longer values are stored in files. Apple's limit is
    /// not documented; people report about this one.
    static let inlineLimit = 100 * 1024

    private static let inlineMark: UInt8 = 1
    private static let fileMark: UInt8 = 2

    /// True if values may be in files. A store in memory keeps all values in their columns.
    let keepsFiles: Bool
    private let isInPlace = FolderState()

    /// - Parameter path: the store's path. If it is a link, the values are next to the link's target.
    init(storePath path: String) {
        keepsFiles = path != URL.memoryPlace.path
        storePath = keepsFiles ? FileWriting.target(of: path) : path
        support = Self.supportFolder(ofStoreAt: storePath)
        values = ExternalDataFolder("_EXTERNAL_DATA", in: support)
        notes = ExternalDataFolder("_PENDING_EXTERNAL_DATA", in: support)
    }

    private static func supportFolder(ofStoreAt path: String) -> URL {
        let store = URL(fileURLWithPath: path)
        let name = store.deletingPathExtension().lastPathComponent
        return store.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
    }

    // MARK: The folder

    /// Creates the folder if it does not exist.
    func makeFolder() throws {
        if values.isThere { return }
        isInPlace.flag.store(false, ordering: .relaxed)
        try values.make()
    }

    /// Creates the file of a new value with the permissions of the store's file.
    func create(_ name: String, _ value: Data) throws {
        let permissions = PlainFile.permissions(storePath).map { $0 & 0o666 } ?? 0o644
        try DurableFile.create(values.place(name), value, permissions)
    }

    /// Syncs the names of new files. The first time it also syncs the folder's parents, because without their names a
    /// power failure would lose all files, synced or not.
    func syncFolder() throws {
        let folder = values.url
        try DurableFile.sync(folder: folder)
        if isInPlace.flag.load(ordering: .relaxed) { return }
        let support = folder.deletingLastPathComponent()
        try DurableFile.sync(folder: support)
        try DurableFile.sync(folder: support.deletingLastPathComponent())
        isInPlace.flag.store(true, ordering: .relaxed)
    }

    /// True if the folder's own name was synced since it was found or created.
    private final class FolderState: Sendable {
        let flag = Atomic(false)
    }

    // MARK: The bytes of a column

    /// Returns the value for the bytes in the column; `nil` if its file cannot be read.
    func value(of stored: Data) -> Data? {
        guard let mark = stored.first else { return stored }
        switch mark {
        case Self.inlineMark: return Data(stored.dropFirst())
        case Self.fileMark:
            return Self.fileName(in: stored).flatMap(values.contents)
        default: return stored
        }
    }

    /// The length of the mark and the name, which are followed by a zero byte.
    static let referenceLength = 37

    /// Returns true if the bytes refer to a file.
    static func isReference(_ stored: Data) -> Bool { stored.first == fileMark }

    /// Returns the name of the file that the bytes refer to, if any.
    static func fileName(in stored: Data) -> String? {
        guard isReference(stored) else { return nil }
        let name = String(decoding: stored.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
        // The name is a UUID. Any other name could be a path out of the folder.
        return UUID(uuidString: name) == nil ? nil : name
    }

    /// Returns the column's bytes for a value stored in the column.
    static func inline(_ value: Data) -> Data {
        var stored = Data(capacity: value.count + 1)
        stored.append(inlineMark)
        stored.append(value)
        return stored
    }

    /// Returns the column's bytes for a value stored in a file.
    static func reference(toFileNamed name: String) -> Data {
        var stored = Data([fileMark])
        stored.append(contentsOf: name.utf8)
        stored.append(0)
        return stored
    }
}
