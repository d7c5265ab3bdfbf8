import CoreData
import Foundation

// The edge between this room and the module of one database. What is here knows rows and objects, and writes SQL with arrays,
// RETURNING and ON CONFLICT, which is PostgreSQL's and that of what speaks its protocol. What is there knows the connection,
// its library and its errors.

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

/// What is bound to a `?` of a statement.
package enum ServerArgument: Sendable {
    case value(SQLValue, ServerType)
    case list([SQLValue], ServerType)
}

/// One statement for the server. Its places are `?`, as everywhere here.
package struct ServerStatement: Sendable {
    package var text: String
    package var arguments: [ServerArgument]

    package init(_ text: String, _ arguments: [ServerArgument] = []) {
        self.text = text
        self.arguments = arguments
    }
}

/// What a statement gave.
package protocol ServerResult: AnyObject {
    var rowCount: Int { get }
    /// Booleans are whole numbers.
    func value(_ row: Int, _ column: Int) -> SQLValue
    /// The whole numbers of a column, one for each row; `nil` where the column is of another type, or has a null.
    func integers(inColumn column: Int) -> [Int64]?
    /// What the server says it has done, such as `COMMIT`.
    var command: String { get }
}

extension ServerResult {
    /// The texts of the first column, without what is none.
    var texts: [String] {
        (0..<rowCount).compactMap { row in
            if case .text(let text) = value(row, 0) { text } else { nil }
        }
    }
}

/// Why the server, or the way to it, refused something. Holds no credentials.
package struct ServerError: Error, Sendable, CustomStringConvertible {
    package enum Kind: Sendable {
        /// Another transaction came in between: the same may work when it is done again.
        case retry
        case uniqueViolation
        case referenceViolation
        /// The connection is of no more use; nothing that was sent is known to be done.
        case lost
        /// The user is not let in, or has no right to do this.
        case forbidden
        /// There is no such database or schema.
        case missing
        /// The caller had the statement given up.
        case cancelled
        /// Another transaction has held a lock for longer than is waited for one.
        case locked
        /// The server takes no changes, as a replica.
        case unwritable
        /// It is not known whether a commit was done.
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
    /// That of the transaction of which nothing is known.
    package var token: UUID?

    package init(kind: Kind, state: String?, message: String, constraint: String? = nil) {
        self.kind = kind
        self.state = state
        self.message = message
        self.constraint = constraint
    }

    /// Whether the statement asks for a table or schema that is not there.
    var isOfMissingTable: Bool { ["42P01", "3F000"].contains(state) }

    /// Whether a name of the statement is not there; a right that is missing is something else.
    var saysThatTablesAreGone: Bool { kind != .forbidden && state?.hasPrefix("42") == true }

    package var description: String { message + (state.map { " [SQLSTATE \($0)]" } ?? "") }
}

/// A connection to the server. Used on one thread at a time. All members throw ``ServerError``.
package protocol ServerConnection: AnyObject {
    /// Runs the statements one after the other, in one round trip; none behind the first that fails.
    func run(_ statements: [ServerStatement]) throws -> [any ServerResult]

    /// Adds rows to a table by the quickest way that the server has.
    func copy(_ rows: [[SQLValue]], into table: String, columns: [(name: String, type: ServerType)]) throws

    /// Runs `body`, in which a statement is given up soon after `isCancelled` says so. It is asked on this thread.
    func cancelling<Result>(when isCancelled: @escaping () -> Bool, _ body: () throws -> Result) rethrows -> Result

    /// How many messages of other connections came since the last call. Asks nothing of the server.
    func takeMessages() throws -> Int

    /// Has `wake` called on `queue` when messages of others have come; then not again before ``takeMessages()`` was called.
    func whenMessagesCome(on queue: DispatchQueue, _ wake: @escaping @Sendable () -> Void)

    var isInTransaction: Bool { get }
}

/// A kind of database: made by the module that knows it.
package protocol ServerDatabase: StoreEngineType {
    init()

    var dialect: SQLDialect { get }

    /// A new connection.
    ///
    /// - Throws: ``ServerError``: also where the server is too old, or keeps texts in another encoding.
    func connect(to place: ServerPlace) throws -> any ServerConnection
}

extension ServerDatabase {
    package static var engine: any StoreEngine.Type { ServerEngine.self }
}

/// Where a store is: the URL without what only this framework reads of it.
package struct ServerPlace: Sendable {
    /// With password, where the URL has one.
    package let url: URL
    /// The schema in which the tables are.
    package let schema: String
    /// Milliseconds to wait for a lock; 0 for ever.
    package let lockTimeout: Int
    /// Whether the store's user follows what others commit.
    package let isFollowed: Bool
    /// What the URL has the server set for the whole session.
    package let sessionSettings: String
    /// Into how many partitions the tables of a new store are divided; 1 for none.
    let partitions: Int
    /// The way to a replica from which may be read what it has already.
    let replicaURL: URL?

    /// The parameters of the URL that are not the connection's.
    package static let ownParameters: Set<String> = ["schema", "partitions", "replica"]
    private static let mostPartitions = 1024

    /// So many bytes the name of a schema may have.
    private static let longestName = 63
    /// Seconds to wait for a lock where the options do not say.
    private static let waiting = 30.0

    /// - Throws: 134080 for a schema whose name the server would cut or not understand.
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
        // Not even a moment is the least that the server knows; 0 is for ever there.
        lockTimeout =
            seconds == .infinity
            ? 0 : min(max(Int(exactly: (min(seconds, 1e6) * 1000).rounded()) ?? 30_000, 1), Int(Int32.max))
        guard schema.utf8.count <= Self.longestName, !schema.unicodeScalars.contains("\0") else {
            throw CoreDataError.make(
                134080,
                "Cannot open the store \(name): the name of its schema has more than \(Self.longestName) bytes, or a zero "
                    + "character; choose another.")
        }
        guard !schema.isEmpty else {
            throw CoreDataError.make(
                134080,
                "Cannot open the store \(name): schema= has no name; give one, or leave it out for the schema public.")
        }
        guard (1...Self.mostPartitions).contains(partitions) else {
            throw CoreDataError.make(
                134080,
                "Cannot open the store \(name): partitions=\(divided) is none of the numbers from 1 to "
                    + "\(Self.mostPartitions).")
        }
        guard replica == nil || replicaURL != nil else {
            throw CoreDataError.make(134080, "Cannot open the store \(name): replica= wants a host, or host:port.")
        }
    }

    /// The same URL at another host: `host`, `host:port`, or `/folder:port` for a socket.
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

    /// The URL as errors say it.
    var name: String { url.withoutPassword.absoluteString }
}
