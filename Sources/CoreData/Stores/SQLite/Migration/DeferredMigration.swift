import Foundation
import SQLiteAccess

/// What lightweight migrations of an SQLite store put off where the options ask for it, and how it is made up for.
///
/// Design. Put off is what takes long in a large store and changes nothing that a fetch finds. Tables of the old version
/// whose rows were moved stay under their parked names. Columns that no property has any more stay in their table, which
/// then need not be made anew. Fetch indexes are not made, so that fetches are slower until they are. Derived values,
/// spatial indexes and what makes values unique are never put off.
///
/// The metadata say that something waits, by the name of the option, and name the columns; which tables and indexes wait
/// stands in the file itself. What the metadata name is only dropped where the layout has no such column.
struct DeferredMigration {
    struct Column: Equatable {
        let table: String
        let name: String
    }

    let connection: Connection
    let layout: TableLayout

    // MARK: What waits

    static func columns(in metadata: [String: Any]?) -> [Column] {
        (metadata?[DeferredWork.columnsKey] as? [[String]] ?? []).compactMap { pair in
            pair.count == 2 ? Column(table: pair[0], name: pair[1]) : nil
        }
    }

    /// The tables of old versions whose rows were moved.
    static func parkedTables(of connection: Connection) throws -> [String] {
        let prefix = LightweightMigration.parkedName(of: "")
        return try connection.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid").compactMap {
            guard case .text(let name) = $0[0], name.hasPrefix(prefix) else { return nil }
            return name
        }
    }

    private func missingIndexes() throws -> [String] {
        let there = Set(
            try connection.rows("SELECT name FROM sqlite_master WHERE type = 'index'").compactMap { row -> String? in
                guard case .text(let name) = row[0] else { return nil }
                return name.uppercased()
            })
        return SchemaText(layout: layout).fetchIndexes().filter { !there.contains($0.name.uppercased()) }.map(\.text)
    }

    /// The metadata with what says that something waits, or without.
    func noting(_ columns: [Column], in metadata: [String: Any]) throws -> [String: Any] {
        var noted = DeferredWork.leftOut(of: metadata)
        let waits = try !columns.isEmpty || !Self.parkedTables(of: connection).isEmpty || !missingIndexes().isEmpty
        guard waits else { return noted }
        noted[NSPersistentStoreDeferredLightweightMigrationOptionKey] = true
        if !columns.isEmpty { noted[DeferredWork.columnsKey] = columns.map { [$0.table, $0.name] } }
        return noted
    }

    // MARK: Making up for it

    static func dropParkedTables(of connection: Connection) throws {
        for table in try parkedTables(of: connection) { try connection.execute("DROP TABLE \(SQLName.quoted(table))") }
    }

    /// Drops a column, unless the model has it by now. One that indexes or triggers of other programs look at stays.
    func drop(_ column: Column) throws {
        let isUsed = layout.tables.contains { table in
            table.name.uppercased() == column.table.uppercased()
                && table.columns.contains { $0.name.uppercased() == column.name.uppercased() }
        }
        let isOurs = layout.tables.contains { $0.name.uppercased() == column.table.uppercased() }
        guard !isUsed, isOurs else { return }
        try leavingWhatIsRefused(
            "ALTER TABLE \(SQLName.quoted(column.table)) DROP COLUMN \(SQLName.quoted(column.name))")
    }

    private func leavingWhatIsRefused(_ statement: String) throws {
        do {
            try connection.execute(statement)
        } catch let error as SQLiteError where error.kind == .statement {
            return
        }
    }

    /// One step, in a transaction of its own: a table, a column, or all indexes.
    ///
    /// - Returns: what the store says of itself then.
    func step() throws -> [String: Any] {
        try connection.transaction(.exclusive) {
            let metadata = try StoreMetadata.read(from: connection)
            var columns = Self.columns(in: metadata)
            if let table = try Self.parkedTables(of: connection).first {
                try connection.execute("DROP TABLE \(SQLName.quoted(table))")
            } else if !columns.isEmpty {
                try drop(columns.removeFirst())
            } else {
                for index in try missingIndexes() { try leavingWhatIsRefused(index) }
                let done = DeferredWork.leftOut(of: metadata)
                if done.count < metadata.count { try StoreMetadata.write(done, to: connection) }
                return done
            }
            let noted = try noting(columns, in: metadata)
            try StoreMetadata.write(noted, to: connection)
            return noted
        }
    }
}
