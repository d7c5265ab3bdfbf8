import Foundation

/// Location of a store and its model, as given on the command line.
public struct StoreLocation: Sendable {
    /// A path, a file URL, or the URL of a store on a server.
    public let store: String
    /// Path of a model; `nil` for the model that the store contains.
    public let model: String?

    /// Creates a location without checking it.
    public init(store: String, model: String? = nil) {
        self.store = store
        self.model = model
    }

    /// The store's URL: a file, or a database on a server.
    /// - Throws: ``CommandError`` of misuse for a URL of another kind.
    public func storeURL() throws -> URL { try StorePlace(store).url }

    static func fileURL(_ text: String) throws -> URL {
        guard !text.isEmpty else { throw CommandError.misuse("the path of the store is empty") }
        guard text.contains("://") || text.hasPrefix("file:") else { return URL(fileURLWithPath: text) }
        guard let url = URL(string: text), url.isFileURL else {
            throw CommandError.misuse("“\(text)” is not a store: give a path, a file URL or a postgresql:// URL")
        }
        return url
    }
}
