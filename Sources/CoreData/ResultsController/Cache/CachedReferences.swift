import Foundation

/// The rows of lists on disk if a store identifies its rows by references: their numbers are valid for one launch, so
/// the file holds their texts.
struct CachedReferences {
    let store: any RowStore

    /// The reference texts of those rows whose number is valid for one launch only; `nil` if the store has no text for
    /// such a row yet.
    func texts(of contents: ListContents, _ packed: [RowToken: RowToken]) -> [(row: RowToken, text: String)]? {
        guard let table = store.reference.references else { return [] }
        let entities = entities
        var texts: [(row: RowToken, text: String)] = []
        for row in contents.rows.elements(in: 0..<contents.rowCount) {
            let row = packed[row] ?? row
            guard let key = RowIdentities.key(of: row) else { return nil }
            guard key.reference >= ReferenceTable.firstAssigned else { continue }
            guard Int(key.entity) < entities.count,
                let text = table.string(of: key.reference, root: entities[Int(key.entity)].rootName ?? "")
            else { return nil }
            texts.append((row, text))
        }
        return texts
    }

    /// The rows of a list with the numbers of this launch; `nil` if a forged file names a row that does not exist.
    func rows(of list: CachedList) -> SharedElements<RowToken>? {
        guard store.reference.references != nil else { return list.references.isEmpty ? list.rows : nil }
        guard let coordinator = store.persistentStoreCoordinator else { return nil }
        let rows = coordinator.withLock { () -> [RowToken]? in
            let entities = entities
            var rows: [RowToken] = []
            rows.reserveCapacity(list.rows.count)
            for place in 0..<list.rows.count {
                guard let row = current(list.rows.buffer[place], list, entities) else { return nil }
                rows.append(row)
            }
            return rows
        }
        guard let rows, Set(rows).count == rows.count else { return nil }
        return SharedElements(rows)
    }

    private func current(_ row: RowToken, _ list: CachedList, _ entities: [NSEntityDescription]) -> RowToken? {
        guard let key = RowIdentities.key(of: row), Int(key.entity) < entities.count else { return nil }
        guard key.reference >= ReferenceTable.firstAssigned else { return row }
        guard let text = list.references[row.code],
            let number = store.number(ofURIText: text, entities[Int(key.entity)])
        else { return nil }
        return RowIdentities.token(of: RowKey(entity: key.entity, reference: number))
    }

    private var entities: [NSEntityDescription] {
        store.persistentStoreCoordinator?.managedObjectModel.entitiesInLayoutOrder ?? []
    }
}
