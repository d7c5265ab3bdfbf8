import Foundation
import SQLiteAccess

/// Finds damage in the file of a store.
struct StoreCheck {
    /// A finding and the statements that repair it.
    struct Entry {
        let finding: PersistentStoreFinding
        let repair: [String]

        init(_ kind: PersistentStoreFinding.Kind, _ message: String, repair: [String] = []) {
            finding = PersistentStoreFinding(kind: kind, message: message, isRepairable: !repair.isEmpty)
            self.repair = repair
        }
    }

    let session: SQLiteSession

    var connection: Connection { session.connection }
    var layout: TableLayout { session.layout }

    /// Checks the whole file in one read transaction. If the database is damaged, nothing else is checked, because its
    /// contents mean nothing.
    func entries() throws -> [Entry] {
        try connection.reading {
            let damage = try integrity()
            guard damage.isEmpty else { return damage }
            var entries = layout.unreadable.findings.map { Entry(.schema, $0) }
            entries += try entities() + counters() + versions()
            entries += try ValueTypeCheck(connection: connection, layout: layout).entries()
            entries += try ReferenceCheck(connection: connection, layout: layout).entries()
            entries += try ExternalDataCheck(session: session).entries()
            if session.hasHistory { entries += try HistoryCheck(connection: connection, layout: layout).entries() }
            return entries
        }
    }

    private func integrity() throws -> [Entry] {
        let lines = try connection.rows("PRAGMA integrity_check(20)").compactMap { row -> String? in
            guard case .text(let line)? = row.first, line != "ok" else { return nil }
            return line
        }
        // SQLite names the index if only an index is damaged. The rows are then intact.
        let onlyIndexes = lines.allSatisfy { $0.contains("missing from index") || $0.contains("entries in index") }
        return lines.map { Entry(.integrity, $0, repair: onlyIndexes ? ["REINDEX"] : []) }
    }

    private func entities() throws -> [Entry] {
        try layout.tables.compactMap { table in
            let numbers = table.entities.map { "\(layout.number(of: $0))" }.joined(separator: ", ")
            let found = try RowCount(
                connection, "\(SQLName.quoted(table.name)) WHERE Z_ENT IS NULL OR Z_ENT NOT IN (\(numbers))",
                key: "Z_PK")
            guard let found else { return nil }
            return Entry(
                .entity, "\(found) of the table \(table.name): the entity (Z_ENT) does not belong to the table")
        }
    }

    /// 2³² below the maximum. No counter gets that far by counting, and one that is there would soon overflow.
    private static let greatest = Int64.max - 1 << 32

    /// Finds rows that cannot be saved again, because their version cannot grow.
    private func versions() throws -> [Entry] {
        try layout.tables.compactMap { table in
            let name = SQLName.quoted(table.name)
            let condition = "typeof(Z_OPT) = 'integer' AND Z_OPT > \(Self.greatest)"
            guard let found = try RowCount(connection, "\(name) WHERE \(condition)", key: "Z_PK") else { return nil }
            return Entry(
                .counter, "\(found) of the table \(table.name): the version (Z_OPT) is the last possible one",
                repair: ["UPDATE \(name) SET Z_OPT = 1 WHERE \(condition)"])
        }
    }

    private func counters() throws -> [Entry] {
        var counters = layout.tables.map { (table: $0.name, number: layout.number(of: $0.root)) }
        if session.hasHistory {
            counters += [
                ("ACHANGE", HistoryTables.change), ("ATRANSACTION", HistoryTables.transaction),
                ("ATRANSACTIONSTRING", HistoryTables.transactionString),
            ]
        }
        return try counters.compactMap { table, number in
            let name = SQLName.quoted(table)
            let last = try connection.integer("SELECT IFNULL(MAX(Z_PK), 0) FROM \(name)") ?? 0
            let counter = try connection.integer(
                "SELECT IFNULL(Z_MAX, 0) FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(number)])
            // Apple's framework adds the counters of a history with its first transaction.
            if counter == nil, last == 0, number >= HistoryTables.change { return nil }
            guard let counter else { return Entry(.counter, "the table \(table) has no key counter") }
            let isAtItsEnd = counter > Self.greatest && last <= Self.greatest
            guard counter < last || isAtItsEnd else { return nil }
            let end = isAtItsEnd ? ", the last possible key" : ""
            return Entry(
                .counter, "the key counter of the table \(table) is \(counter)\(end), but its last key is \(last)",
                repair: ["UPDATE Z_PRIMARYKEY SET Z_MAX = \(last) WHERE Z_ENT = \(number)"])
        }
    }
}

/// The number of rows that match a condition, and the first of them: `3 rows (the first is 12)`.
struct RowCount: CustomStringConvertible {
    let count: Int64
    let first: Int64

    /// `nil` if no row matches.
    ///
    /// - Parameter source: the text after FROM.
    init?(_ connection: Connection, _ source: String, key: String) throws {
        let row = try connection.rows("SELECT COUNT(*), MIN(\(key)) FROM \(source)").first
        guard case .integer(let count)? = row?.first, count > 0 else { return nil }
        self.count = count
        if case .integer(let first)? = row?.last { self.first = first } else { first = 0 }
    }

    var description: String { count == 1 ? "row \(first)" : "\(count) rows (the first is \(first))" }
}

extension SQLiteStore: CheckableStore {
    func findings() throws -> [PersistentStoreFinding] { try checking { $0.map(\.finding) } }

    func repair() throws -> [PersistentStoreFinding] {
        guard !isReadOnly else {
            throw CoreDataError.make(513, "Cannot repair the store \(url?.path ?? ""): it was opened read-only.")
        }
        return try checking(inTransaction: true) { entries in
            let connection = openSession?.connection
            var done: Set<String> = []
            for statement in entries.flatMap(\.repair) where done.insert(statement).inserted {
                try connection?.execute(statement)
            }
            return entries.map(\.finding).filter(\.isRepairable)
        }
    }

    private func checking(
        inTransaction: Bool = false, _ body: ([StoreCheck.Entry]) throws -> [PersistentStoreFinding]
    ) throws -> [PersistentStoreFinding] {
        guard let session = openSession else {
            throw CoreDataError.make(134070, "The store \(url?.path ?? "") is closed.")
        }
        let check = StoreCheck(session: session)
        return try SQLiteStoreErrors(path: session.connection.path).translating(inTransaction ? .saving : .reading) {
            guard inTransaction else { return try body(try check.entries()) }
            return try session.connection.transaction { try body(try check.entries()) }
        }
    }
}
