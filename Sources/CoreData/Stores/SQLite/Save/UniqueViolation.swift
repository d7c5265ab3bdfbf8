import Foundation
import SQLiteAccess

/// Finds the object of a save that violates a uniqueness constraint. SQLite only names the columns.
struct UniqueViolation {
    let error: SQLiteError
    let changes: StoreChangeSet
    let layout: TableLayout

    func cocoaError(store: NSPersistentStore) -> NSError {
        let path = store.url?.path ?? ""
        guard let (entity, names) = constraint() else {
            return SQLiteStoreErrors(path: path).make(error, .saving)
        }
        let updated = changes.updated.compactMap { change in
            change.row.map { IdentifiedRow(id: change.id, row: $0) }
        }
        let rows = (changes.inserted + updated).filter { $0.id.entity.isKindOf(entity: entity) }
        var reason = "another \(entity.name ?? "") already has the same \(names.joined(separator: " and "))"
        if rows.count == 1, let values = description(of: names, in: rows[0]) { reason += " (\(values))" }
        return CoreDataError.make(
            133021, "Cannot save to the store \(path): \(reason).", underlying: error,
            userInfo: [
                "NSSQLiteErrorDomain": Int(error.extendedCode), "constraint": names, "entity": entity.name ?? "",
                "candidates": rows.map(\.id),
            ])
    }

    /// Returns the entity and properties of the constraint with the columns in `UNIQUE constraint failed: T.A, T.B`.
    private func constraint() -> (NSEntityDescription, [String])? {
        guard let list = error.message.components(separatedBy: "failed: ").last else { return nil }
        let failed = Set(list.components(separatedBy: ", ").map { $0.uppercased() })
        for entity in layout.entities {
            let table = layout.table(of: entity)
            for names in entity.uniquenessConstraintNames {
                let columns = names.compactMap { name in
                    entity.propertiesByName[name].flatMap { layout.column(of: $0, in: entity) }
                }
                if Set(columns.map { "\(table).\($0)".uppercased() }) == failed { return (entity, names) }
            }
        }
        return nil
    }

    private func description(of names: [String], in row: IdentifiedRow) -> String? {
        let layout = row.id.entity.layout
        let values = names.compactMap { name -> String? in
            guard case .attribute(let slot)? = layout.place(of: name) else { return nil }
            switch row.row.value(slot) {
            case .text(let text): return text
            case .integer(let number): return "\(number)"
            case .real(let number): return "\(number)"
            case .uuid(let uuid): return uuid.uuidString
            default: return nil
            }
        }
        return values.count == names.count ? values.joined(separator: ", ") : nil
    }
}
