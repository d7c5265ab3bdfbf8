import CoreData
import Foundation

/// A store by its URL: a file of any type, or tables on a server.
public struct StorePlace: Sendable {
    /// The store's URL, with its password if it has one.
    public let url: URL
    /// Type of a new store; `nil` to detect it by the file's name.
    private let newType: NSPersistentStore.StoreType?

    /// The store at `url`.
    public init(url: URL) { self.init(url: url, newType: nil) }

    init(url: URL, newType: NSPersistentStore.StoreType?) {
        self.url = url
        self.newType = newType
    }

    /// - Parameter text: a path, a file URL or the URL of a server.
    /// - Throws: ``CommandError`` of misuse for other URLs.
    public init(_ text: String) throws {
        guard text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") else {
            self.init(url: try StoreLocation.fileURL(text))
            return
        }
        // The message omits the text, which may contain a password.
        guard let url = URL(string: text) else {
            throw CommandError.misuse(
                "invalid server URL: write postgresql://USER@HOST/DATABASE?schema=NAME, with special characters as %XX"
            )
        }
        self.init(url: url)
    }

    /// True if the store is in tables of a server.
    public var isOnServer: Bool { !url.isFileURL }

    /// Name of the store in messages: its path, or its URL without a password.
    public var name: String {
        guard isOnServer else { return url.path }
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) else { return "the server" }
        parts.password = nil
        parts.queryItems = parts.queryItems?.filter { !$0.name.contains("password") }
        if parts.queryItems?.isEmpty == true { parts.queryItems = nil }
        return parts.string ?? "the server"
    }

    /// Name short enough for a heading.
    public var shortName: String {
        guard isOnServer else { return url.lastPathComponent }
        let items = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        let schema = items.first { $0.name == "schema" }?.value ?? "public"
        return "\(url.path.drop { $0 == "/" }).\(schema)"
    }

    /// Type of the store, existing or new: by the scheme of its URL, the first bytes of its file, or its file's
    /// extension.
    public var type: NSPersistentStore.StoreType {
        if isOnServer { return .postgreSQL }
        if let beginning {
            if beginning.starts(with: "SQLite format 3".utf8) { return .sqlite }
            if beginning.starts(with: "<?xml".utf8) { return .xml }
            if ["RosterBinary1", "bplist"].contains(where: { beginning.starts(with: $0.utf8) }) {
                return .binary
            }
            return .sqlite
        }
        if let newType { return newType }
        switch url.pathExtension.lowercased() {
        case "xml": return .xml
        case "binary", "plist": return .binary
        default: return .sqlite
        }
    }

    private var beginning: [UInt8]? {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        return Self.isPlainFile(url.path) ? StoreHeader.start(of: url.path) : []
    }

    /// True if `path` is a plain file. Opening a pipe would wait for its writer.
    static func isPlainFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Throws if there cannot be a store at this place. A server is asked when the store is opened.
    /// - Throws: ``CommandError``.
    public func checkThatItIsThere() throws {
        guard !isOnServer else { return }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
            throw CommandError.failure("no store at \(url.path)")
        }
        if isFolder.boolValue { throw CommandError.failure("\(url.path) is a folder, not a store") }
    }

    /// Throws if something is at this place already.
    /// - Throws: ``CommandError``; an error of the framework if the server cannot be asked.
    public func checkThatItIsFree() throws {
        guard isOnServer else {
            guard !FileManager.default.fileExists(atPath: url.path) else {
                throw CommandError.failure("\(url.path) already exists")
            }
            if let store = OutputPlace.owner(of: FileWriting.target(of: url.path)) {
                throw CommandError.failure(
                    "cannot write \(url.path): it belongs to the store \(store). Name another file")
            }
            return
        }
        do {
            _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url)
        } catch let error as CocoaError where error.code.rawValue == 260 { return }
        throw CommandError.failure("a store already exists at \(name)")
    }
}
