import Foundation
import SQLiteAccess

/// Runs lightweight migrations of an SQLite store on a copy of its empty tables in memory, and tells what they would do to the
/// store. An addition to Apple's API.
///
/// The store is read once, when the rehearsal is made, and not written, but that opening it takes back what a writer that died
/// left half done. No row is read: whether all rows have what the
/// new version requires is not found out. Use it on one thread at a time.
public final class LightweightMigrationRehearsal {
    private let path: String
    private let file: StoreFile
    private var connection: Connection
    private var model: NSManagedObjectModel
    private var metadata: [String: Any]

    /// A rehearsal of migrations of the store at `url`, whose empty tables are copied at once.
    ///
    /// - Parameters:
    ///   - url: where the file of the store is.
    ///   - model: the version of the model that the store was written with.
    /// - Throws: 260 where there is no file, 259 where it is no SQLite store.
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

    /// What a migration in place to another version would do. The next call goes on from there.
    ///
    /// - Throws: 134190 where the version cannot be inferred, 134060 where the store has a part that cannot be read.
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

    /// What makes the new file into which a migration manager migrates the store, object by object. The next call goes on from
    /// there.
    ///
    /// - Throws: 134060 for a model that cannot be kept in a store.
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

    /// The statements that are run by `body`.
    private func recording(_ body: () throws -> Void) throws -> [String] {
        var statements: [String] = []
        connection.didExecute = { statements.append(Self.text($0, $1)) }
        defer { connection.didExecute = nil }
        try body()
        return statements
    }

    /// No longer one is worth reading.
    private static let longestBlob = 32

    /// A statement with its arguments. None of those with arguments has a question mark in a text.
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

    /// Makes the tables of a store without their rows, but for those by which a migration goes.
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
        // Those that an R-tree makes for itself.
        let made = Set(virtual.flatMap { name in ["node", "rowid", "parent"].map { "\(name)_\($0)" } })
        for entry in entries where !made.contains(entry.name) {
            let isOwn =
                entry.type == "table" && ["A", "Z"].contains(entry.name.prefix(1)) && !virtual.contains(entry.name)
            if isOwn {
                // A virtual table of another program makes tables of its own, whatever they are called.
                let there = try copy.rows("SELECT 1 FROM sqlite_master WHERE name = ?", [.text(entry.name)])
                guard there.isEmpty else { continue }
                try copy.execute(entry.sql)
            } else {
                // What wants a module or an order of texts that only its own program has is no part of the plan.
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
