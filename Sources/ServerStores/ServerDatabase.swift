import CoreData
import Foundation

// The interface between this room and the module of a database. This room deals with rows and objects, and writes SQL
// with arrays, RETURNING and ON CONFLICT, for PostgreSQL and databases with its protocol. The module deals with the
// connection, the client library and its errors.

/// The types of columns.
package enum ServerType: String, Sendable {
    case boolean
    case smallint
    case integer
    case bigint
    case double = "double precision"
    case numeric
    case text
    case bytes = "bytea"
    case uuid
}

/// A bound value of a statement.
package enum ServerArgument: Sendable {
    case value(SQLValue, ServerType)
    case list([SQLValue], ServerType)
}

/// A statement for the server. Its parameters are `?`.
package struct ServerStatement: Sendable {
    package var text: String
    package var arguments: [ServerArgument]

    package init(_ text: String, _ arguments: [ServerArgument] = []) {
        self.text = text
        self.arguments = arguments
    }
}

/// The result of a statement.
package protocol ServerResult: AnyObject {
    var rowCount: Int { get }
    /// Returns the value at a row and a column; a boolean as an integer.
    func value(_ row: Int, _ column: Int) -> SQLValue
    /// Returns the integers of a column, one for each row; `nil` if the column has another type or a null.
    func integers(inColumn column: Int) -> [Int64]?
    /// The server's name for the completed command, such as `COMMIT`.
    var command: String { get }
}

extension ServerResult {
    /// The texts in the first column; other values are skipped.
    var texts: [String] {
        (0..<rowCount).compactMap { row in
            if case .text(let text) = value(row, 0) { text } else { nil }
        }
    }
}

/// An error of the server or the connection to it. Contains no credentials.
package struct ServerError: Error, Sendable, CustomStringConvertible {
    package enum Kind: Sendable {
        /// Another transaction interfered. The same work may succeed if repeated.
        case retry
        case uniqueViolation
        case referenceViolation
        /// The connection is lost. It is unknown if sent statements were run.
        case lost
        /// The user may not log in, or has no right to do this.
        case forbidden
        /// There is no such database or schema.
        case missing
        /// The caller cancelled the statement.
        case cancelled
        /// Another transaction has held a lock for longer than the timeout.
        case locked
        /// The server accepts no changes, for example because it is a replica.
        case unwritable
        /// It is unknown if a commit was done.
        case uncertain
        case other
    }

    package var kind: Kind
    /// SQLSTATE.
    package var state: String?
    package var message: String
    package var constraint: String?
    /// True if the connection is lost: the same read may succeed on a new one.
    var isOfServerAway = false
    /// The token of the transaction with an unknown outcome.
    package var token: UUID?

    package init(kind: Kind, state: String?, message: String, constraint: String? = nil) {
        self.kind = kind
        self.state = state
        self.message = message
        self.constraint = constraint
    }

    /// True if the statement needs a table or schema that does not exist.
    var isOfMissingTable: Bool { ["42P01", "3F000"].contains(state) }

    /// True if a name in the statement does not exist, which is different from a missing right.
    var saysThatTablesAreGone: Bool { kind != .forbidden && state?.hasPrefix("42") == true }

    package var description: String { message + (state.map { " [SQLSTATE \($0)]" } ?? "") }
}

/// A connection to the server. Used on one thread at a time. All members throw ``ServerError``.
package protocol ServerConnection: AnyObject {
    /// Runs the statements in order in one round trip, and stops at the first that fails.
    func run(_ statements: [ServerStatement]) throws -> [any ServerResult]

    /// Adds rows to a table in the server's fastest way.
    func copy(_ rows: [[SQLValue]], into table: String, columns: [(name: String, type: ServerType)]) throws

    /// Runs `body`. Its statements are cancelled soon after `isCancelled` returns true, which is called on this thread.
    func cancelling<Result>(when isCancelled: @escaping () -> Bool, _ body: () throws -> Result) rethrows -> Result

    /// Returns the number of messages from other connections since the last call. Sends nothing to the server.
    func takeMessages() throws -> Int

    /// Calls `wake` on `queue` when messages from others arrive, and not again before ``takeMessages()`` is called.
    func whenMessagesCome(on queue: DispatchQueue, _ wake: @escaping @Sendable () -> Void)

    var isInTransaction: Bool { get }
}

/// A type of database, implemented by its module.
package protocol ServerDatabase: StoreEngineType {
    init()

    var dialect: SQLDialect { get }

    /// Opens a new connection.
    ///
    /// - Throws: ``ServerError``, also if the server is too old or uses another text encoding.
    func connect(to place: ServerPlace) throws -> any ServerConnection
}

extension ServerDatabase {
    package static var engine: any StoreEngine.Type { ServerEngine.self }
}

/// The location of a store: its URL with the parameters that only this framework reads.
package struct ServerPlace: Sendable {
    /// The URL of the database, with the password if it has one.
    package let url: URL
    /// The schema of the tables.
    package let schema: String
    /// Milliseconds to wait for a lock; 0 to wait for ever.
    package let lockTimeout: Int
    /// True if the store's user follows commits of others.
    package let isFollowed: Bool
    /// The server settings in the URL, which apply to the whole session.
    package let sessionSettings: String
    /// The number of partitions of the tables of a new store; 1 for none.
    let partitions: Int
    /// The URL of a replica for reading.
    let replicaURL: URL?

    /// The parameters of the URL that are not for the connection.
    package static let ownParameters: Set<String> = ["schema", "partitions", "replica"]
    private static let mostPartitions = 1024

    /// The maximum length of a schema name, in bytes.
    private static let longestName = 63
    /// The default number of seconds to wait for a lock.
    private static let waiting = 30.0

    /// - Throws: 134080 for a schema name that the server would truncate or reject.
    init(_ url: URL, options: StoreOptions) throws {
        self.url = url
        let items = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        schema = items.first { $0.name == "schema" }.map { $0.value ?? "" } ?? "public"
        sessionSettings = items.first { $0.name == "options" }?.value ?? ""
        let divided = items.first { $0.name == "partitions" }?.value ?? "1"
        partitions = Int(divided) ?? 0
        let replica = items.first { $0.name == "replica" }?.value
        replicaURL = replica.flatMap { Self.url(url, at: $0) }
        isFollowed = options.postsRemoteChanges
        let seconds = options.timeout ?? Self.waiting
        // The minimum is 1, because the server takes 0 as waiting for ever.
        lockTimeout =
            seconds == .infinity
            ? 0 : min(max(Int(exactly: (min(seconds, 1e6) * 1000).rounded()) ?? 30_000, 1), Int(Int32.max))
        guard schema.utf8.count <= Self.longestName, !schema.unicodeScalars.contains("\0") else {
            throw CoreDataError.make(
                134080,
                "Cannot open the store \(name): the name of its schema has more than \(Self.longestName) bytes or a zero "
                    + "character. Choose another name.")
        }
        guard !schema.isEmpty else {
            throw CoreDataError.make(
                134080,
                "Cannot open the store \(name): schema= has no name. Give one, or omit schema= for the schema public.")
        }
        guard (1...Self.mostPartitions).contains(partitions) else {
            throw CoreDataError.make(
                134080,
                "Cannot open the store \(name): partitions=\(divided) must be a number from 1 to "
                    + "\(Self.mostPartitions).")
        }
        guard replica == nil || replicaURL != nil else {
            throw CoreDataError.make(134080, "Cannot open the store \(name): replica= must be a host or host:port.")
        }
    }

    /// Returns the URL with another host: `host`, `host:port`, or `/folder:port` for a socket.
    private static func url(_ url: URL, at place: String) -> URL? {
        guard !place.isEmpty, var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) else { return nil }
        var (host, port) = (place, "")
        if let colon = place.lastIndex(of: ":"), Int(place[place.index(after: colon)...]) != nil {
            (host, port) = (String(place[..<colon]), String(place[place.index(after: colon)...]))
        }
        let others = ["host", "hostaddr", "port", "target_session_attrs", "load_balance_hosts", "replica"]
        var items = (parts.queryItems ?? []).filter { !others.contains($0.name) }
        items.append(URLQueryItem(name: "host", value: host))
        if !port.isEmpty { items.append(URLQueryItem(name: "port", value: port)) }
        parts.queryItems = items
        return parts.url
    }

    /// The URL for error messages.
    var name: String { url.withoutPassword.absoluteString }
}
