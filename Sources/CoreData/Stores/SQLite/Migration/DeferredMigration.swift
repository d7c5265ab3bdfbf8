import Foundation
import SQLiteAccess

/// The work that lightweight migrations of an SQLite store defer if the options say so.
///
/// Work is deferred if it takes long in a large store and does not change what fetches find. Tables of the old version
/// whose rows were moved keep their parked names. Columns that no property has any more remain in their table, which
/// then need not be rebuilt. Fetch indexes are not created, so that fetches are slower until they are. Derived values,
/// spatial indexes and unique indexes are never deferred.
///
/// The metadata records, under the option's name, that work is left, and lists the columns. The left tables and indexes
/// are found in the file. A listed column is dropped only if the layout does not have it.
struct DeferredMigration {
    struct Column: Equatable {
        let table: String
        let name: String
    }

    let connection: Connection
    let layout: TableLayout

    // MARK: Deferred work

    static func columns(in metadata: [String: Any]?) -> [Column] {
        (metadata?[DeferredWork.columnsKey] as? [[String]] ?? []).compactMap { pair in
            pair.count == 2 ? Column(table: pair[0], name: pair[1]) : nil
        }
    }

    /// Returns the tables of old versions whose rows were moved.
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

    /// Returns the metadata with the record of deferred work, or without it if none is left.
    func noting(_ columns: [Column], in metadata: [String: Any]) throws -> [String: Any] {
        var noted = DeferredWork.leftOut(of: metadata)
        let waits = try !columns.isEmpty || !Self.parkedTables(of: connection).isEmpty || !missingIndexes().isEmpty
        guard waits else { return noted }
        noted[NSPersistentStoreDeferredLightweightMigrationOptionKey] = true
        if !columns.isEmpty { noted[DeferredWork.columnsKey] = columns.map { [$0.table, $0.name] } }
        return noted
    }

    // MARK: Doing it

    static func dropParkedTables(of connection: Connection) throws {
        for table in try parkedTables(of: connection) { try connection.execute("DROP TABLE \(SQLName.quoted(table))") }
    }

    /// Drops a column, unless the model now has it. A column that indexes or triggers of other programs use is kept.
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

    /// Does one step in its own transaction: drops a table or a column, or creates all indexes.
    ///
    /// - Returns: the metadata after the step.
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
