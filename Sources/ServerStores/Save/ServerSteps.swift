import CoreData
import Foundation

/// The open transaction of a batch. Each step is written like a save, and all are one transaction of the history.
final class ServerSteps: BatchSteps {
    private let session: ServerSession
    private let engine: ServerEngine
    private let store: EngineStore
    private let connection: any ServerConnection
    private let author: String?
    private let contextName: String?
    private(set) var written: StagedTransaction?

    init(
        _ session: ServerSession, _ connection: any ServerConnection, _ engine: ServerEngine, author: String?,
        contextName: String?
    ) throws {
        self.session = session
        self.connection = connection
        self.engine = engine
        store = try engine.store
        self.author = author
        self.contextName = contextName
    }

    func write(_ changes: StoreChangeSet) throws {
        guard !changes.isEmpty else { return }
        try engine.translatingUniqueViolations(of: changes) {
            let tombstones = try session.tombstones(changes, store, connection)
            let number = try begin()
            var rest = changes
            if let copied = try copy(changes.inserted) { rest.inserted = copied }
            var save = ServerSave(rest, layout: session.layout, store: store, writings: session.writings)
            var statements = try save.makeStatements()
            let count = statements.count
            statements.append(session.history.appending(changes, to: number, tombstones: tombstones))
            if !session.layout.derivingTables.isEmpty { statements.append(ServerDerivedText.forgetting) }
            let results = try connection.run(statements)
            guard let refused = save.conflicts(results[..<count]).first else { return }
            throw ServerError(
                kind: .retry, state: nil, message: "another transaction changed '\(refused)' at the same time")
        }
    }

    /// Returns the number of the transaction, which begins with the first step.
    private func begin() throws -> Int64 {
        if let written { return written.number }
        var head = StoreChangeSet.empty
        head.author = author
        head.contextName = contextName
        let token = UUID()
        let results = try connection.run([
            session.history.recording(
                head, token: token, channel: session.channel, tombstones: [:], version: session.version)
        ])
        let number = try session.recordedNumber(results.first, connection)
        written = StagedTransaction(token: token, number: number, connection: connection)
        return number
    }

    // MARK: Many new rows

    /// The minimum number of rows for COPY.
    private static let leastCopied = 256

    /// Copies the new rows of each entity that has many.
    ///
    /// - Returns: the rows that are left; `nil` if none was copied.
    private func copy(_ rows: [IdentifiedRow]) throws -> [IdentifiedRow]? {
        guard rows.count >= Self.leastCopied else { return nil }
        let coding = ServerValueCoding(layout: session.layout, store: store)
        var rest: [IdentifiedRow] = []
        for (_, group) in Dictionary(grouping: rows, by: { ObjectIdentifier($0.id.entity) }) {
            let writing = session.writings[group[0].id.entity]
            guard group.count >= Self.leastCopied, !writing.hasPositions else {
                rest += group
                continue
            }
            var columns: [(name: String, type: ServerType)] = [
                (ServerStoreTables.key, .bigint), (ServerStoreTables.version, .bigint),
                (ServerStoreTables.entity, .integer),
            ]
            columns += writing.columns.map { ($0.name, $0.type) }
            let values = try group.map { row -> [SQLValue] in
                [.integer(row.id.savedKey), .integer(max(row.row.version, 1)), .integer(writing.number)]
                    + (try writing.columns.map { try coding.value($0, of: row.row) })
            }
            try connection.copy(values, into: writing.tableText, columns: columns)
        }
        return rest
    }

    func reserveIDs(_ count: Int, of entity: NSEntityDescription) throws -> [NSManagedObjectID] {
        let table = session.layout.serverTable(of: entity)
        let family = store.idFamily(of: entity)
        return try session.keys.take(Array(repeating: table, count: count), session.layout, connection)
            .map { NSManagedObjectID(family, reference: $0) }
    }
}

extension ServerEngine: BatchWriting {
    package func writeInSteps(
        author: String?, contextName: String?, _ body: (any BatchSteps) throws -> Void
    ) throws {
        try reading(from: nil) {
            try writing { session in
                try session.writeInSteps(self, author: author, contextName: contextName, body)
            }
        }
    }
}
