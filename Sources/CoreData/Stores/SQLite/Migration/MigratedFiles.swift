import Foundation
import SQLiteAccess

/// The external files that a migration makes unused: those of removed entities and attributes.
struct MigratedFiles {
    let connection: Connection
    let path: String
    let difference: ModelDifference

    /// True if there may be any. If false, no table has to be read.
    var mayBeLeft: Bool {
        if difference.removed.contains(where: { !Self.externalNames(of: $0).isEmpty }) { return true }
        return difference.pairs.contains { source, destination in
            guard let source else { return false }
            let kept = destination.attributesByName.values.filter(\.allowsExternalBinaryDataStorage).compactMap {
                difference.source(of: $0, in: destination)?.name
            }
            return Self.externalNames(of: source).contains { !kept.contains($0) }
        }
    }

    private static func externalNames(of entity: NSEntityDescription) -> [String] {
        entity.attributesByName.values.filter(\.allowsExternalBinaryDataStorage).map(\.name)
    }

    /// Returns the files that the values of a version refer to. Reads the tables with external values.
    func names(in layout: TableLayout) throws -> Set<String> {
        var names: Set<String> = []
        for table in layout.tables {
            for column in table.columns where column.attribute?.allowsExternalBinaryDataStorage == true {
                let value = SQLName.quoted(column.name)
                let rows = try connection.rows(
                    "SELECT \(value) FROM \(SQLName.quoted(table.name)) WHERE substr(\(value), 1, 1) = x'02'")
                for row in rows {
                    if case .blob(let stored) = row[0], let name = ExternalData.fileName(in: stored) {
                        names.insert(name)
                    }
                }
            }
        }
        return names
    }

    /// Removes files after the migration is committed and synced. If it cannot be synced, the files stay.
    func remove(_ names: Set<String>) {
        guard !names.isEmpty, DurableFile.syncCommits(toStoreAt: path) else { return }
        let values = ExternalData(storePath: path).values
        for name in names { values.remove(name) }
    }
}
