import Foundation
import SQLiteAccess

/// The files of external values that a migration leaves without a value: those of entities and attributes that are gone.
struct MigratedFiles {
    let connection: Connection
    let path: String
    let difference: ModelDifference

    /// True if there can be any. If not, no table is read for them.
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

    /// The files that the values of a version refer to. Reads the tables with such values.
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

    /// Removes files, once the migration is committed, and that is on the disk: where it cannot be brought there, they stay.
    func remove(_ names: Set<String>) {
        guard !names.isEmpty, DurableFile.syncCommits(toStoreAt: path) else { return }
        let values = ExternalData(storePath: path).values
        for name in names { values.remove(name) }
    }
}
