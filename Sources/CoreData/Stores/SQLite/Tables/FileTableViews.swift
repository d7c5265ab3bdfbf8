import Foundation
import ModelFiles
import SQLiteAccess

extension NSManagedObjectModel {
    /// True if the model shows the tables of a file that is not a store.
    package var showsPlainTables: Bool { isInferred && entities.contains { $0.userInfo?[FileTables.Key.table] != nil } }
}

/// Gives a connection to a file that is not a store the tables of a store, as temporary views.
struct FileTableViews {
    let model: NSManagedObjectModel

    /// - Throws: an `SQLiteError`.
    func install(on connection: Connection) throws {
        let numbering = EntityNumbering(freshFor: model.entities)
        let layout = try TableLayout(numbering: numbering)
        try connection.setPragma("temp_store", to: "MEMORY")
        for table in layout.tables {
            guard let source = text(FileTables.Key.table, table.root.userInfo),
                let key = text(FileTables.Key.key, table.root.userInfo)
            else { continue }
            var columns = ["\(key) AS Z_PK", "\(layout.number(of: table.root)) AS Z_ENT", "1 AS Z_OPT"]
            for column in table.columns {
                guard let value = text(FileTables.Key.value, column.property.userInfo) else { continue }
                columns.append("\(value) AS \(SQLText.enclosed(column.name, in: "\""))")
            }
            try connection.execute(
                "CREATE TEMP VIEW \(SQLText.enclosed(table.name, in: "\"")) AS SELECT \(columns.joined(separator: ", ")) "
                    + "FROM main.\(SQLText.enclosed(source, in: "\"")) AS t")
        }
        try connection.execute(
            "CREATE TEMP TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)"
        )
        for (entity, number) in numbering.entries {
            try connection.execute(
                "INSERT INTO temp.Z_PRIMARYKEY VALUES (?, ?, 0, 0)", [.integer(number), .text(entity.name ?? "")])
        }
        try connection.execute(
            "CREATE TEMP TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)")
        try connection.execute(
            "INSERT INTO temp.Z_METADATA VALUES (1, ?, NULL)", [.text(Self.identifier(of: connection.path).uuidString)])
    }

    private func text(_ key: String, _ userInfo: [AnyHashable: Any]?) -> String? { userInfo?[key] as? String }

    /// The same for one path in every process, as the IDs of records need it.
    private static func identifier(of path: String) -> UUID {
        var hash = SHA256()
        hash.update(Array(path.utf8))
        let bytes = hash.finalize()
        // SAFETY: a hash has more than the 16 bytes of a UUID.
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
