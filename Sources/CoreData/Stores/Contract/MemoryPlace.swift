import Foundation

extension URL {
    /// `/dev/null`: an SQLite store at this URL is kept in memory, and each store that is added there is a new one.
    static let memoryPlace = URL(fileURLWithPath: "/dev/null", isDirectory: false)

    /// True if a store at this URL is kept in memory.
    var isMemoryPlace: Bool { isFileURL && standardizedFileURL.path == URL.memoryPlace.path }

    /// True if the URL names a PostgreSQL server.
    var isPostgreSQLPlace: Bool { scheme == "postgresql" || scheme == "postgres" }

    /// The URL without a password, for display. File URLs are returned unchanged.
    package var withoutPassword: URL {
        guard !isFileURL, var parts = URLComponents(url: self, resolvingAgainstBaseURL: false) else { return self }
        let hasSecret = parts.password != nil || (parts.queryItems ?? []).contains { $0.name.contains("password") }
        guard hasSecret else { return self }
        parts.password = nil
        parts.queryItems = parts.queryItems?.filter { !$0.name.contains("password") }
        if parts.queryItems?.isEmpty == true { parts.queryItems = nil }
        return parts.url ?? self
    }

    /// The URL for messages: the path of a file, or the URL of a server without its password.
    var placeName: String { isFileURL ? path : withoutPassword.absoluteString }
}

extension NSPersistentStore {
    /// The store's location, for messages.
    final var placeName: String { url?.placeName ?? "" }
}
