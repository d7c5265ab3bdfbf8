import Foundation
import SQLiteAccess

/// Runs lightweight migrations of an SQLite store on a copy of its empty tables in memory, and reports what they would
/// do to the store. An addition to Apple's API.
///
/// The store is read once, by the initialiser. It is not written, except that opening it rolls back an unfinished
/// transaction of a writer that died. No row is read, so missing required values are not found. Use it on one thread at
/// a time.
public final class LightweightMigrationRehearsal {
    private let path: String
    private let file: StoreFile
    private var connection: Connection
    private var model: NSManagedObjectModel
    private var metadata: [String: Any]

    /// Creates a rehearsal for the store at `url` and copies its empty tables.
    ///
    /// - Parameters:
    ///   - url: the URL of the store's file.
    ///   - model: the version of the model with which the store was written.
    /// - Throws: 260 if there is no file, 259 if it is not an SQLite store.
    public init(storeAt url: URL, model: NSManagedObjectModel) throws {
        path = url.path
        file = try StoreFile(url: .memoryPlace, options: StoreOptions(nil), isReadOnly: false)
        let made = try file.open()
        do {
            metadata = try StoreFiles.withConnection(url, isReadOnly: true, options: nil) { store in
                try store.reading {
                    try Self.copyTables(from: store, to: made)
                    return try StoreMetadata.read(from: store)
                }
            }
        } catch {
            made.close()
            throw error
        }
        connection = made
        self.model = model
    }

    deinit { connection.close() }

    /// Returns what a migration in place to another version would do. The next call continues from that version.
    ///
    /// - Throws: 134190 if no mapping can be inferred, 134060 if a part of the store cannot be read.
    public func migrate(to model: NSManagedObjectModel) throws -> LightweightMigrationPlan {
        let creation = try StoreCreation(
            file: file, model: model, configuration: NSPersistentStore.defaultConfigurationName)
        return try errors.translating(.migrating) {
            let migration = try LightweightMigration(
                connection, metadata: metadata, from: self.model, creation, path: path, defers: false)
            let tables = try migration.plannedTables()
            let statements = try recording { metadata = try migration.run(metadata) }
            self.model = model
            return LightweightMigrationPlan(tables: tables, statements: statements)
        }
    }

    /// Returns the statements that create the new file of a migration by a manager, which copies objects. The next call
    /// continues from that version.
    ///
    /// - Throws: 134060 for a model that cannot be stored.
    public func migrateByManager(to model: NSManagedObjectModel) throws -> LightweightMigrationPlan {
        let creation = try StoreCreation(
            file: file, model: model, configuration: NSPersistentStore.defaultConfigurationName)
        let kept = try creation.keptModel()
        let made = try file.open()
        connection.close()
        connection = made
        return try errors.translating(.creating) {
            let statements = try recording { try creation.create(on: connection, keeping: kept) }
            metadata = try StoreMetadata.read(from: connection)
            self.model = model
            return LightweightMigrationPlan(tables: [], statements: statements)
        }
    }

    private var errors: SQLiteStoreErrors { SQLiteStoreErrors(path: path, timeout: 0) }

    /// Returns the statements that `body` runs.
    private func recording(_ body: () throws -> Void) throws -> [String] {
        var statements: [String] = []
        connection.didExecute = { statements.append(Self.text($0, $1)) }
        defer { connection.didExecute = nil }
        try body()
        return statements
    }

    /// The longest binary value, in bytes, that is included in a statement.
    private static let longestBlob = 32

    /// Returns a statement with its arguments. Statements with arguments have no question marks in texts.
    private static func text(_ sql: String, _ arguments: [SQLiteValue]) -> String {
        guard !arguments.isEmpty else { return sql }
        let parts = sql.split(separator: "?", omittingEmptySubsequences: false)
        guard parts.count == arguments.count + 1 else { return sql }
        return zip(parts, arguments).reduce(into: "") { text, pair in
            if case .blob(let data) = pair.1, data.count > longestBlob {
                text += pair.0 + "?"
            } else {
                text += pair.0 + pair.1.literal
            }
        } + parts[parts.count - 1]
    }

    // MARK: The copy

    /// Creates the tables of a store with only the rows that a migration reads.
    private static func copyTables(from store: Connection, to copy: Connection) throws {
        let entries = try store.rows(
            "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!' "
                + "ORDER BY type <> 'table', rowid"
        ).compactMap { row -> (type: String, name: String, sql: String)? in
            guard case .text(let type) = row[0], case .text(let name) = row[1], case .text(let sql) = row[2] else {
                return nil
            }
            return (type, name, sql)
        }
        let virtual = entries.filter { $0.sql.uppercased().hasPrefix("CREATE VIRTUAL TABLE") }.map(\.name)
        // SQLite creates these tables itself for an R-tree.
        let made = Set(virtual.flatMap { name in ["node", "rowid", "parent"].map { "\(name)_\($0)" } })
        for entry in entries where !made.contains(entry.name) {
            let isOwn =
                entry.type == "table" && ["A", "Z"].contains(entry.name.prefix(1)) && !virtual.contains(entry.name)
            if isOwn {
                // A virtual table of another program creates its own tables, whatever their names.
                let there = try copy.rows("SELECT 1 FROM sqlite_master WHERE name = ?", [.text(entry.name)])
                guard there.isEmpty else { continue }
                try copy.execute(entry.sql)
            } else {
                // Objects that need another program's module or collation are not part of the plan.
                try? copy.execute(entry.sql)
            }
        }
        for table in ["Z_METADATA", "Z_PRIMARYKEY"] {
            for row in try store.rows("SELECT * FROM \(table)") {
                let places = row.map { _ in "?" }.joined(separator: ", ")
                try copy.execute("INSERT INTO \(table) VALUES (\(places))", row)
            }
        }
    }
}
