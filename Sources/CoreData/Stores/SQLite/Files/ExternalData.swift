import Foundation
import Synchronization

/// Binary values of attributes that may be kept in files next to the store: one byte in front of the value says where.
struct ExternalData: Sendable {
    let storePath: String
    /// The folder of all its external data.
    let support: URL
    /// The folder of the files: `.<store name>_SUPPORT/_EXTERNAL_DATA` beside the store.
    let values: ExternalDataFolder
    /// The folder of the notes of saves that have not ended: see ``ExternalDataNote``.
    let notes: ExternalDataFolder

    /// Values of more bytes than this get a file. Apple's limit is not documented; about this is what people report.
    static let inlineLimit = 100 * 1024

    private static let inlineMark: UInt8 = 1
    private static let fileMark: UInt8 = 2

    /// True if values may be in files. A store in memory keeps all values in their columns.
    let keepsFiles: Bool
    private let isInPlace = FolderState()

    /// - Parameter path: the store's; values are beside the file that links lead to.
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

    /// Makes the folder where it is not there.
    func makeFolder() throws {
        if values.isThere { return }
        isInPlace.flag.store(false, ordering: .relaxed)
        try values.make()
    }

    /// Makes the file of a new value, with the permissions of the store's own file.
    func create(_ name: String, _ value: Data) throws {
        let permissions = PlainFile.permissions(storePath).map { $0 & 0o666 } ?? 0o644
        try DurableFile.create(values.place(name), value, permissions)
    }

    /// Makes the names of new files last. Once also that of the folder, and that of the one it stands in: without them a power
    /// failure would take all the files, synced or not.
    func syncFolder() throws {
        let folder = values.url
        try DurableFile.sync(folder: folder)
        if isInPlace.flag.load(ordering: .relaxed) { return }
        let support = folder.deletingLastPathComponent()
        try DurableFile.sync(folder: support)
        try DurableFile.sync(folder: support.deletingLastPathComponent())
        isInPlace.flag.store(true, ordering: .relaxed)
    }

    /// Whether the folder's own name was synced since it was found or made.
    private final class FolderState: Sendable {
        let flag = Atomic(false)
    }

    // MARK: The bytes of a column

    /// The value behind the bytes of the column; `nil` where its file cannot be read.
    func value(of stored: Data) -> Data? {
        guard let mark = stored.first else { return stored }
        switch mark {
        case Self.inlineMark: return Data(stored.dropFirst())
        case Self.fileMark:
            return Self.fileName(in: stored).flatMap(values.contents)
        default: return stored
        }
    }

    /// The length of the mark and the name; a zero follows.
    static let referenceLength = 37

    /// Returns true if the bytes say that their value is in a file.
    static func isReference(_ stored: Data) -> Bool { stored.first == fileMark }

    /// The name of the file that the bytes refer to, if they do.
    static func fileName(in stored: Data) -> String? {
        guard isReference(stored) else { return nil }
        let name = String(decoding: stored.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
        // The name is a UUID; anything else could lead out of the folder.
        return UUID(uuidString: name) == nil ? nil : name
    }

    /// The bytes of the column for a value that is stored in it.
    static func inline(_ value: Data) -> Data {
        var stored = Data(capacity: value.count + 1)
        stored.append(inlineMark)
        stored.append(value)
        return stored
    }

    /// The bytes of the column for a value that is stored in a file.
    static func reference(toFileNamed name: String) -> Data {
        var stored = Data([fileMark])
        stored.append(contentsOf: name.utf8)
        stored.append(0)
        return stored
    }
}
