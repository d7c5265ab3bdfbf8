import CoreData
import Foundation

/// The version of the tables with which a session was opened.
struct ServerStoreVersion: Equatable {
    /// The UUID of the store.
    let identifier: String
    /// The number of the version; each migration increases it.
    let number: Int64
}

/// The history: one row for each transaction, and one for each row that it changed.
struct ServerHistory {
    let layout: ServerLayout

    private func table(_ name: String) -> String { layout.tableText(name) }

    /// Returns the channel for notifications of commits, which contains the store's UUID.
    static func channel(_ identifier: String) -> String { "coredata_" + identifier.lowercased() }

    // MARK: Writing

    /// Takes the next number, writes the transaction and its changes, requests a notification for the commit, and
    /// returns the number. One statement, the last of a transaction.
    ///
    /// - Parameters:
    ///   - token: identifies the transaction if its commit is not answered.
    ///   - version: the version of the tables that the writer knows. If they have another version or are of another
    ///     store, nothing is written and no number is returned.
    ///   - isGuarded: true if the statement must fail in that case.
    func recording(
        _ changes: StoreChangeSet, token: UUID, channel: String, tombstones: [NSManagedObjectID: String],
        version: ServerStoreVersion, isGuarded: Bool = false
    ) -> ServerStatement {
        let lists = lists(changes, tombstones)
        let rows = rows(at: "v.place", behind: "(SELECT count(*) FROM v)", of: "t.number", from: "t, ")
        let process = ProcessInfo.processInfo.processName
        let text = { (text: String?) in ServerArgument.value(text.map { .text($0) } ?? .null, .text) }
        let guarding =
            isGuarded ? " UNION ALL SELECT \(ServerSave.guardText), NULL FROM t HAVING count(*) = 0" : ""
        return ServerStatement(
            "WITH n AS (UPDATE \(table(ServerStoreTables.store)) SET changes = changes + 1 "
                + "WHERE model_number = ? AND uuid = ? RETURNING changes), "
                + "t AS (INSERT INTO \(table(ServerStoreTables.transactions)) "
                + "(number, at, author, context, bundle, process, token) "
                + "SELECT changes, extract(epoch FROM clock_timestamp())::float8 - 978307200, ?, ?, ?, ?, ? FROM n "
                + "RETURNING number), \(rows.known.map { $0 + ", " }.joined())"
                + "c AS (INSERT INTO \(table(ServerStoreTables.changes)) "
                + "(transaction, place, kind, entity, key, properties, tombstone) \(rows.select)) "
                + "SELECT number, pg_notify(?, number::text)::text FROM t" + guarding,
            [
                .value(.integer(version.number), .bigint), text(version.identifier),
                text(changes.author), text(changes.contextName),
                text(Bundle.main.bundleIdentifier ?? process), text(process), .value(.uuid(token), .uuid),
            ] + lists + [.value(.text(channel), .text)])
    }

    /// Adds changes to an open transaction, after its present ones.
    func appending(
        _ changes: StoreChangeSet, to number: Int64, tombstones: [NSManagedObjectID: String]
    ) -> ServerStatement {
        let table = table(ServerStoreTables.changes)
        let rows = rows(
            at: "h.place + v.place", behind: "h.place + (SELECT count(*) FROM v)", of: "h.number", from: "h, ")
        let last = "coalesce((SELECT max(c.place) FROM \(table) AS c WHERE c.transaction = n.number), 0)"
        let known = ["h AS (SELECT n.number, \(last) AS place FROM (SELECT ?) AS n(number))"] + rows.known
        return ServerStatement(
            "WITH \(known.joined(separator: ", ")) INSERT INTO \(table) "
                + "(transaction, place, kind, entity, key, properties, tombstone) " + rows.select,
            [.value(.integer(number), .bigint)] + lists(changes, tombstones))
    }

    /// Returns the rows of the history: the changes of the save, then other rows whose derived values changed with it.
    private func rows(
        at place: String, behind count: String, of number: String, from source: String
    ) -> (known: [String], select: String) {
        let told = "SELECT \(number), \(place), v.kind, v.entity, v.key, v.properties, v.tombstone FROM \(source)"
        let lists = "unnest(?, ?, ?, ?, ?) WITH ORDINALITY AS v(kind, entity, key, properties, tombstone, place)"
        guard !layout.derivingTables.isEmpty else { return ([], told + lists) }
        return (
            [
                "v AS MATERIALIZED (SELECT * FROM \(lists))",
                "d AS (SELECT entity, key, '[' || string_agg(DISTINCT property, ',') || ']' AS properties "
                    + "FROM (\(ServerDerivedText.touched)) AS d GROUP BY entity, key)",
            ],
            told + "v UNION ALL SELECT \(number), \(count) + row_number() OVER (ORDER BY d.entity, d.key), "
                + "\(StoreTransaction.Kind.update.rawValue), d.entity, d.key, d.properties, NULL FROM \(source)d "
                + "WHERE NOT EXISTS (SELECT 1 FROM v WHERE v.entity = d.entity AND v.key = d.key)"
        )
    }

    private func lists(
        _ changes: StoreChangeSet, _ tombstones: [NSManagedObjectID: String]
    ) -> [ServerArgument] {
        var kinds: [SQLValue] = []
        var entities: [SQLValue] = []
        var keys: [SQLValue] = []
        var properties: [SQLValue] = []
        var values: [SQLValue] = []
        func add(_ kind: StoreTransaction.Kind, _ id: NSManagedObjectID, _ names: [String]) {
            kinds.append(.integer(Int64(kind.rawValue)))
            entities.append(.integer(layout.number(of: id.entity)))
            keys.append(.integer(id.savedKey))
            properties.append(names.isEmpty ? .null : .text(Self.json(names)))
            values.append(tombstones[id].map { .text($0) } ?? .null)
        }
        for row in changes.inserted { add(.insert, row.id, []) }
        for row in changes.updated { add(.update, row.id, names(of: row)) }
        for row in changes.deleted { add(.delete, row.id, []) }
        return [
            .list(kinds, .smallint), .list(entities, .integer), .list(keys, .bigint), .list(properties, .text),
            .list(values, .text),
        ]
    }

    private func names(of row: StoreRowChange) -> [String] {
        let layout = row.id.entity.layout
        return row.changedSlots.map { layout.slots[$0].name }
            + row.changedToMany.map { layout.toManyRelationships[$0].name }
    }

    /// Returns a text in JSON.
    static func jsonText(_ text: String) -> String { String(json([text]).dropFirst().dropLast()) }

    private static func json(_ names: [String]) -> String {
        let data = try? JSONSerialization.data(withJSONObject: names)
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }

    // MARK: Preserved values of deleted rows

    private static func preserved(_ entity: NSEntityDescription) -> [NSAttributeDescription] {
        entity.properties.compactMap { $0 as? NSAttributeDescription }
            .filter { $0.preservesValueInHistoryOnDeletion && !$0.isTransient }
    }

    /// Returns the deleted rows with values to preserve, which are read before the deletion.
    static func withTombstones(_ changes: StoreChangeSet) -> [NSManagedObjectID] {
        changes.deleted.map(\.id).filter { !preserved($0.entity).isEmpty }
    }

    static func tombstone(_ row: RowSnapshot, of entity: NSEntityDescription) -> String {
        var values: [String: String] = [:]
        for attribute in preserved(entity) {
            guard case .attribute(let slot)? = entity.layout.place(of: attribute.name),
                let value = try? ServerValueCoding.encoded(row.value(slot), attribute)
            else { continue }
            switch value {
            case .integer(let number): values[attribute.name] = "\(number)"
            case .real(let number): values[attribute.name] = "\(number)"
            case .text(let text): values[attribute.name] = text
            case .blob(let data): values[attribute.name] = data.base64EncodedString()
            case .uuid(let uuid): values[attribute.name] = uuid.uuidString
            case .decimal(let decimal): values[attribute.name] = "\(decimal)"
            case .null, .list: break
            }
        }
        let data = try? JSONSerialization.data(withJSONObject: values, options: .sortedKeys)
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    private static func values(_ tombstone: String, of entity: NSEntityDescription) -> [String: SlotValue] {
        let parsed = (try? JSONSerialization.jsonObject(with: Data(tombstone.utf8))) as? [String: String] ?? [:]
        var values: [String: SlotValue] = [:]
        for attribute in preserved(entity) {
            guard let text = parsed[attribute.name] else {
                values[attribute.name] = .null
                continue
            }
            let value: SQLValue? =
                switch ServerType(attribute) {
                case .smallint, .integer, .bigint, .boolean: Int64(text).map { .integer($0) }
                case .double: Double(text).map { .real($0) }
                case .text: .text(text)
                case .bytes: Data(base64Encoded: text).map { .blob($0) }
                case .uuid: UUID(uuidString: text).map { .uuid($0) }
                case .numeric: Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")).map { .decimal($0) }
                case nil: nil
                }
            values[attribute.name] = value.map { ServerValueCoding.decoded($0, attribute) } ?? .null
        }
        return values
    }

    // MARK: Reading

    func transactions(
        after number: Int64, own: TransactionNumbers, withChanges: Bool, _ connection: any ServerConnection
    ) throws -> [StoreTransaction] {
        transactions(try connection.run(reading(after: number, withChanges: withChanges)), own: own)
    }

    /// Reads the transactions and the first and last numbers in one round trip.
    func news(
        after number: Int64, own: TransactionNumbers, _ connection: any ServerConnection
    ) throws -> HistoryNews {
        let results = try connection.run(reading(after: number, withChanges: true) + [lastNumbers])
        var news = HistoryNews(transactions: transactions(Array(results.dropLast()), own: own), lastRemoved: 0)
        guard let numbers = results.last, numbers.rowCount == 1 else { return news }
        if case .integer(let newest) = numbers.value(0, 0) { news.newest = newest }
        if case .integer(let removed) = numbers.value(0, 1) { news.lastRemoved = removed }
        return news
    }

    private func reading(after number: Int64, withChanges: Bool) -> [ServerStatement] {
        let argument = ServerArgument.value(.integer(number), .bigint)
        var statements = [
            ServerStatement(
                // Stores of earlier versions have no columns for the role and the host.
                "SELECT number, at, author, context, bundle, process, pg_catalog.to_jsonb(t) ->> 'role', "
                    + "pg_catalog.to_jsonb(t) ->> 'host' FROM \(table(ServerStoreTables.transactions)) AS t "
                    + "WHERE number > ? ORDER BY number", [argument])
        ]
        if withChanges {
            // Selects by equal numbers instead of a range. Without statistics the server expects a range to match a
            // third of the table and scans all of it.
            statements.append(
                ServerStatement(
                    "SELECT transaction, place, kind, entity, key, properties, tombstone FROM "
                        + "\(table(ServerStoreTables.changes)) WHERE transaction = ANY(ARRAY(SELECT number FROM "
                        + "\(table(ServerStoreTables.transactions)) WHERE number > ?)) ORDER BY transaction, place",
                    [argument]))
        }
        return statements
    }

    private func transactions(_ results: [any ServerResult], own: TransactionNumbers) -> [StoreTransaction] {
        let changes = results.count > 1 ? changes(results[1]) : [:]
        let rows = results[0]
        return (0..<rows.rowCount).compactMap { row in
            guard case .integer(let number) = rows.value(row, 0), case .real(let time) = rows.value(row, 1) else {
                return nil
            }
            func text(_ column: Int) -> String? {
                if case .text(let text) = rows.value(row, column) { text } else { nil }
            }
            return StoreTransaction(
                number: number, timestamp: Date(timeIntervalSinceReferenceDate: time), author: text(2),
                contextName: text(3), bundleID: text(4), processID: text(5), isOwn: own.contains(number),
                changes: changes[number] ?? [], role: text(6), host: text(7))
        }
    }

    private func changes(_ result: any ServerResult) -> [Int64: [StoreTransaction.Change]] {
        var changes: [Int64: [StoreTransaction.Change]] = [:]
        for row in 0..<result.rowCount {
            guard case .integer(let transaction) = result.value(row, 0),
                case .integer(let place) = result.value(row, 1), case .integer(let kindNumber) = result.value(row, 2),
                case .integer(let entityNumber) = result.value(row, 3), case .integer(let key) = result.value(row, 4),
                let kind = StoreTransaction.Kind(rawValue: Int(kindNumber)),
                let entity = layout.entity(numbered: entityNumber)
            else { continue }
            var names: [String] = []
            if case .text(let json) = result.value(row, 5) {
                names = (try? JSONSerialization.jsonObject(with: Data(json.utf8))) as? [String] ?? []
            }
            var tombstone: [String: SlotValue] = [:]
            if case .text(let json) = result.value(row, 6) { tombstone = Self.values(json, of: entity) }
            changes[transaction, default: []].append(
                StoreTransaction.Change(
                    // Unique in the history, because no transaction has 2³² changes.
                    number: transaction << 32 | place,
                    key: RowKey(entity: UInt32(entity.layout.index), reference: key), kind: kind,
                    changedProperties: names, tombstone: tombstone))
        }
        return changes
    }

    // MARK: Numbers

    var lastNumber: ServerStatement { ServerStatement("SELECT changes FROM \(table(ServerStoreTables.store))") }

    private var lastNumbers: ServerStatement {
        ServerStatement("SELECT changes, removed FROM \(table(ServerStoreTables.store))")
    }

    var lastRemovedNumber: ServerStatement { ServerStatement("SELECT removed FROM \(table(ServerStoreTables.store))") }

    func firstNumber(after date: Date) -> ServerStatement {
        ServerStatement(
            "SELECT min(number) FROM \(table(ServerStoreTables.transactions)) WHERE at > ?",
            [.value(.real(date.timeIntervalSinceReferenceDate), .double)])
    }

    /// The number of the last transaction, and the version of the tables.
    var state: ServerStatement {
        ServerStatement("SELECT changes, model_number, uuid FROM \(table(ServerStoreTables.store))")
    }

    /// Looks for a transaction by its token, and for the last removed number.
    func search(for token: UUID) -> ServerStatement {
        ServerStatement(
            "SELECT (SELECT number FROM \(table(ServerStoreTables.transactions)) WHERE token = ? AND process IS NOT NULL), "
                + "removed FROM "
                + table(ServerStoreTables.store), [.value(.uuid(token), .uuid)])
    }

    /// Invalidates the token of a transaction that is not in the history: an empty transaction without a process takes
    /// it. The server may still have the statements of the abandoned transaction and be waiting for a lock. When they
    /// reach the history, the token is taken and the transaction fails as a whole. Run with the store's row locked.
    func voiding(_ token: UUID, _ version: ServerStoreVersion) -> ServerStatement {
        ServerStatement(
            "WITH n AS (UPDATE \(table(ServerStoreTables.store)) SET changes = changes + 1 "
                + "WHERE model_number = ? AND uuid = ? AND NOT EXISTS (SELECT 1 FROM "
                + "\(table(ServerStoreTables.transactions)) WHERE token = ?) RETURNING changes) "
                + "INSERT INTO \(table(ServerStoreTables.transactions)) (number, at, token) "
                + "SELECT changes, extract(epoch FROM clock_timestamp())::float8 - 978307200, ? FROM n",
            [
                .value(.integer(version.number), .bigint), .value(.text(version.identifier), .text),
                .value(.uuid(token), .uuid), .value(.uuid(token), .uuid),
            ])
    }

    /// Returns one statement (so one transaction) whose result is the number of removed transactions. Transactions
    /// that invalidate a token are kept for a day, because the server may still have the abandoned statements.
    func removal(before number: Int64) -> ServerStatement {
        let yesterday = "extract(epoch FROM clock_timestamp())::float8 - 978307200 - 86400"
        let argument = ServerArgument.value(.integer(number), .bigint)
        return ServerStatement(
            "WITH c AS (DELETE FROM \(table(ServerStoreTables.changes)) WHERE transaction < ?), "
                + "t AS (DELETE FROM \(table(ServerStoreTables.transactions)) WHERE number < ? "
                + "AND (process IS NOT NULL OR at < \(yesterday)) RETURNING number), "
                + "s AS (UPDATE \(table(ServerStoreTables.store)) SET removed = "
                + "greatest(removed, (SELECT max(number) FROM t))) SELECT count(*) FROM t", [argument, argument])
    }
}
