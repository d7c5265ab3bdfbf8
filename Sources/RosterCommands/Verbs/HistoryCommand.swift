import CoreData
import Foundation

/// `history`: prints the commits of a store with author and time, or removes the oldest ones.
public struct HistoryCommand {
    /// A position in a history, as given on the command line.
    public enum Place: Sendable, Equatable {
        case number(Int64)
        case date(Date)

        /// Parses a transaction's number, or a date in ISO 8601.
        ///
        /// - Throws: ``CommandError`` of misuse for any other text.
        public init(_ text: String) throws {
            if let number = Int64(text), number >= 0 {
                self = .number(number)
            } else if let date = ISO8601Text.date(from: text) {
                self = .date(date)
            } else {
                throw CommandError.misuse(
                    "“\(text)” is neither a transaction number nor a date such as 2026-07-01T12:00:00Z")
            }
        }
    }

    /// Location of the store and its model.
    public var store: StoreLocation
    /// The first transaction to print; `nil` for the whole history.
    public var since: Place?
    /// Only transactions of this author; `nil` for all.
    public var author: String?
    /// Only changes of this entity; `nil` for all.
    public var entity: String?
    /// Format of the output.
    public var format: OutputFormat

    /// Creates the command; see the properties.
    public init(
        store: StoreLocation, since: Place? = nil, author: String? = nil, entity: String? = nil,
        format: OutputFormat = .table
    ) {
        self.store = store
        self.since = since
        self.author = author
        self.entity = entity
        self.format = format
    }

    /// Prints one line for each change, or with JSON for each transaction, oldest first.
    ///
    /// - Throws: ``CommandError``, or an error of the framework: 134091 for a store without history.
    public func run(in surroundings: CommandSurroundings) throws {
        let session = try StoreSession(store, for: .reading, in: surroundings)
        try session.perform {
            let request = try request(in: session)
            let result = try session.context.execute(request) as? NSPersistentHistoryResult
            let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
            let printer = HistoryPrinter(
                format: format, isOnServer: try StorePlace(store.store).isOnServer, surroundings: surroundings)
            try printer.print(transactions)
        }
        try surroundings.output.flush()
    }

    private func request(in session: StoreSession) throws -> NSPersistentHistoryChangeRequest {
        let request: NSPersistentHistoryChangeRequest
        var conditions: [NSPredicate] = []
        let path = entity == nil ? "" : "transaction."
        switch since {
        case .date(let date)?: request = .fetchHistory(after: date)
        case .number(let number)?:
            request = .fetchHistory(after: nil as NSPersistentHistoryToken?)
            conditions.append(NSPredicate(format: "%K > %lld", path + "transactionNumber", number))
        case nil: request = .fetchHistory(after: nil as NSPersistentHistoryToken?)
        }
        if let author { conditions.append(NSPredicate(format: "%K == %@", path + "author", author)) }
        if let entity {
            let names = Self.family(of: try session.entity(named: entity)).compactMap(\.name)
            conditions.append(NSPredicate(format: "changedEntity.name IN %@", names))
        }
        guard !conditions.isEmpty else { return request }
        let fetch = NSFetchRequest<NSFetchRequestResult>()
        fetch.entity =
            entity == nil
            ? NSPersistentHistoryTransaction.entityDescription(with: session.context)
            : NSPersistentHistoryChange.entityDescription(with: session.context)
        fetch.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: conditions)
        request.fetchRequest = fetch
        return request
    }

    private static func family(of entity: NSEntityDescription) -> [NSEntityDescription] {
        [entity] + entity.subentities.flatMap(family)
    }

    /// Removes the transactions before `place` and prints their number.
    ///
    /// - Throws: ``CommandError``, or an error of the framework.
    public static func delete(
        before place: Place, in store: StoreLocation, _ surroundings: CommandSurroundings
    ) throws {
        let session = try StoreSession(store, for: .writing, in: surroundings)
        let count = try session.perform { () throws -> Int in
            guard let request = try deletion(before: place, in: session) else { return 0 }
            request.resultType = .count
            return (try session.context.execute(request) as? NSPersistentHistoryResult)?.result as? Int ?? 0
        }
        try session.close()
        try SavedReport.telling(true) {
            try surroundings.output.write("removed \(count) \(count == 1 ? "transaction" : "transactions")\n")
            try surroundings.output.flush()
        }
    }

    /// `nil` if there is nothing to remove.
    private static func deletion(
        before place: Place, in session: StoreSession
    ) throws -> NSPersistentHistoryChangeRequest? {
        guard case .number(let number) = place else {
            guard case .date(let date) = place else { return nil }
            return .deleteHistory(before: date)
        }
        let fetch = NSFetchRequest<NSFetchRequestResult>()
        fetch.entity = NSPersistentHistoryTransaction.entityDescription(with: session.context)
        fetch.predicate = NSPredicate(format: "transactionNumber >= %lld", number)
        fetch.fetchLimit = 1
        let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
        request.resultType = .transactionsOnly
        let result = try session.context.execute(request) as? NSPersistentHistoryResult
        guard let first = (result?.result as? [NSPersistentHistoryTransaction])?.first else {
            throw CommandError.failure("the history has no transaction \(number) or later; nothing was deleted")
        }
        return .deleteHistory(before: first)
    }
}

/// Prints transactions in one of the formats.
private struct HistoryPrinter {
    let format: OutputFormat
    let isOnServer: Bool
    let surroundings: CommandSurroundings

    private var headings: [String] {
        ["transaction", "time", "author", "context", "process", "change", "object", "what"]
            + (isOnServer ? ["role", "host"] : [])
    }

    func print(_ transactions: [NSPersistentHistoryTransaction]) throws {
        switch format {
        case .json:
            for transaction in transactions { try surroundings.output.write(json(of: transaction).text + "\n") }
        case .csv, .tsv:
            let text: DelimitedText = format == .csv ? .csv : .tsv
            try surroundings.output.write(text.line(headings))
            for transaction in transactions {
                for row in rows(of: transaction) { try surroundings.output.write(text.line(row)) }
            }
        case .table:
            var table = TextTable(
                headings: headings, rightAligned: headings.map { $0 == "transaction" },
                style: surroundings.textStyle, output: surroundings.output)
            for transaction in transactions {
                for row in rows(of: transaction) { try table.row(row.map { $0 ?? "" }) }
            }
            try table.end()
        }
    }

    /// One row for each change; one row without a change for an empty transaction.
    private func rows(of transaction: NSPersistentHistoryTransaction) -> [[String?]] {
        let head = [
            String(transaction.transactionNumber), ISO8601Text.text(of: transaction.timestamp), transaction.author,
            transaction.contextName, Self.unlessEmpty(transaction.processID),
        ]
        let changes = transaction.changes ?? []
        let tail = isOnServer ? [transaction.role, transaction.host] : []
        guard !changes.isEmpty else { return [head + [nil, nil, nil] + tail] }
        return changes.map { change in
            let keys = change.updatedProperties.map { $0.map(\.name).sorted().joined(separator: ",") }
            let values = Self.tombstone(of: change)?.map { "\($0.key)=\(ValueText.text(of: $0.value))" }
            return head + [
                Self.name(of: change.changeType), Self.object(change), keys ?? values?.joined(separator: ","),
            ] + tail
        }
    }

    private func json(of transaction: NSPersistentHistoryTransaction) -> JSONValue {
        func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
        let changes = (transaction.changes ?? []).map { change -> JSONValue in
            var members: [(key: String, value: JSONValue)] = [
                ("change", .string(Self.name(of: change.changeType))),
                ("object", .string(change.changedObjectID.uriRepresentation().absoluteString)),
            ]
            if let properties = change.updatedProperties {
                members.append(("properties", .array(properties.map(\.name).sorted().map { .string($0) })))
            }
            if let tombstone = Self.tombstone(of: change) { members.append(("tombstone", .object(tombstone))) }
            return .object(members)
        }
        let signature = isOnServer ? [("role", text(transaction.role)), ("host", text(transaction.host))] : []
        return .object(
            [
                ("transaction", .integer(transaction.transactionNumber)),
                ("time", .string(ISO8601Text.text(of: transaction.timestamp))), ("author", text(transaction.author)),
                ("context", text(transaction.contextName)), ("process", text(Self.unlessEmpty(transaction.processID))),
                ("bundle", text(Self.unlessEmpty(transaction.bundleID))),
            ] + signature + [("changes", .array(changes))])
    }

    private static func tombstone(of change: NSPersistentHistoryChange) -> [(key: String, value: JSONValue)]? {
        guard let tombstone = change.tombstone else { return nil }
        let attributes = change.changedObjectID.entity.attributesByName
        return tombstone.compactMap { key, value -> (key: String, value: JSONValue)? in
            guard let name = key as? String, let attribute = attributes[name] else { return nil }
            return (name, ValueText.json(value is NSNull ? nil : value, of: attribute))
        }.sorted { $0.key < $1.key }
    }

    private static func object(_ change: NSPersistentHistoryChange) -> String {
        change.changedObjectID.uriRepresentation().pathComponents.suffix(2).joined(separator: "/")
    }

    private static func unlessEmpty(_ text: String) -> String? { text.isEmpty ? nil : text }

    private static func name(of type: NSPersistentHistoryChangeType) -> String {
        switch type {
        case .insert: "insert"
        case .update: "update"
        case .delete: "delete"
        @unknown default: "change"
        }
    }
}
