import Foundation
import SQLiteAccess

/// Finds missing and unused files of external values.
struct ExternalDataCheck {
    let session: SQLiteSession

    private var files: ExternalData { session.context.externalData }

    func entries() throws -> [StoreCheck.Entry] {
        var used: Set<String> = []
        var entries: [StoreCheck.Entry] = []
        for table in session.layout.tables {
            for column in table.columns where column.attribute?.allowsExternalBinaryDataStorage == true {
                if let entry = try missingFiles(of: column, in: table, &used) { entries.append(entry) }
            }
        }
        // An unreadable column may refer to any file.
        guard session.layout.unreadable.isEmpty else { return entries }
        let unused = files.values.names().filter { !used.contains($0) }.sorted()
        if let first = unused.first {
            let count = unused.count == 1 ? "the file \(first)" : "\(unused.count) files (the first is \(first))"
            entries.append(.init(.externalData, "\(count) in \(files.values.url.path): not used by any value"))
        }
        return entries
    }

    private func missingFiles(
        of column: TableColumn, in table: EntityTable, _ used: inout Set<String>
    ) throws -> StoreCheck.Entry? {
        let name = SQLName.quoted(column.name)
        let sql = "SELECT Z_PK, \(name) FROM \(SQLName.quoted(table.name)) WHERE substr(\(name), 1, 1) = x'02'"
        var count = 0
        var first: (key: Int64, file: String)?
        for row in try session.connection.rows(sql) {
            guard row.count == 2, case .integer(let key) = row[0], case .blob(let stored) = row[1],
                let file = ExternalData.fileName(in: stored)
            else { continue }
            used.insert(file)
            guard files.values.contents(file) == nil else { continue }
            count += 1
            if first == nil { first = (key, file) }
        }
        guard let first else { return nil }
        let rows = count == 1 ? "row \(first.key)" : "\(count) rows (the first is \(first.key))"
        return .init(
            .externalData,
            "\(rows) of the table \(table.name): the file \(first.file) of “\(column.attribute?.name ?? "")” is missing or unreadable"
        )
    }
}
