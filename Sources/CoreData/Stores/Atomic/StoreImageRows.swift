import Foundation
import ModelFiles

/// Conversion between a store's rows and the contents of its file.
struct StoreImageRows {
    let store: NSPersistentStore
    let entities: [NSEntityDescription]
    /// Returns a property's name as spelled in the file.
    var fold: (String) -> String = { $0 }

    private var path: String { store.url?.path ?? "" }

    // MARK: Out of the file

    /// Converts the content of a file to rows.
    ///
    /// - Throws: 259 if the file does not match the model, or refers to rows that do not exist.
    func rows(of image: StoreImage, entity find: (String) -> NSEntityDescription?) throws -> [AtomicRow] {
        var ids: [Int64: NSManagedObjectID] = [:]
        for record in image.records {
            guard let entity = find(record.entity), record.number > 0, ids[record.number] == nil else {
                throw damaged(
                    "its row \(record.number) of \(record.entity) has no entity in the model, or is duplicate")
            }
            ids[record.number] = NSManagedObjectID(entity: entity, reference: record.number, store: store)
        }
        return try image.records.compactMap { record in
            try ids[record.number].map { try row(record, $0, ids) }
        }
    }

    private func row(
        _ record: StoreImage.Record, _ id: NSManagedObjectID, _ ids: [Int64: NSManagedObjectID]
    ) throws -> AtomicRow {
        let layout = id.entity.layout
        var row = AtomicRow(id: id, values: [])
        func destinations(_ property: NSPropertyDescription) throws -> [NSManagedObjectID] {
            let relationship = property as? NSRelationshipDescription
            let wanted = relationship?.destinationEntity
            return try (record.destinations[fold(property.name)] ?? []).compactMap { number in
                // Files of earlier versions contain references to deleted rows.
                if ids[number] == nil, relationship?.mayDangle == true { return nil }
                guard let id = ids[number], wanted.map({ id.entity.isKindOf(entity: $0) }) ?? false else {
                    throw damaged(
                        "'\(property.name)' of its row \(record.number) refers to \(number), which is not a row of the destination"
                    )
                }
                return id
            }
        }
        for property in layout.slots {
            guard let attribute = property as? NSAttributeDescription else {
                row.values.append(try destinations(property).first.map(SlotValue.reference) ?? .null)
                continue
            }
            guard let slot = StoredValue.slot(of: attribute, in: record.values, fold: fold) else {
                throw damaged("'\(attribute.name)' of its row \(record.number) has a value of the wrong type")
            }
            row.values.append(slot)
        }
        for (number, relationship) in layout.toManyRelationships.enumerated() {
            let members = try destinations(relationship)
            if !members.isEmpty { row.lists[number] = members }
        }
        return row
    }

    private func damaged(_ reason: String) -> NSError {
        CoreDataError.make(
            259, "Cannot open the store \(path): \(reason).", userInfo: [NSFilePathErrorKey: path])
    }

    // MARK: Into the file

    /// Returns all rows of the tables, without references to deleted rows.
    func records(_ rows: any StoreOperations) throws -> [StoreImage.Record] {
        var records: [StoreImage.Record] = []
        for root in entities where !entities.contains(where: { $0 === root.superentity }) {
            var query = StoreQuery(entity: root)
            query.keepsUncoded = true
            let found = try rows.fetch(query)
            var groups: [UInt32: [(NSManagedObjectID, RowSnapshot)]] = [:]
            for (key, row) in zip(found.keys, found.rows) {
                groups[key.entity, default: []].append((rows.objectID(for: key), row))
            }
            for group in groups.values { records += try self.records(group, rows) }
        }
        let known = Set(records.map(\.number))
        for root in entities where root.relationshipsByName.values.contains(where: \.mayDangle) {
            for index in records.indices where records[index].entity == root.name {
                for relationship in root.relationshipsByName.values where relationship.mayDangle {
                    records[index].destinations[relationship.name]?.removeAll { !known.contains($0) }
                }
            }
        }
        return records.sorted { $0.number < $1.number }
    }

    private func records(
        _ group: [(id: NSManagedObjectID, row: RowSnapshot)], _ rows: any StoreOperations
    ) throws -> [StoreImage.Record] {
        guard let layout = group.first?.id.entity.layout else { return [] }
        var records = try group.map { id, row in
            var record = StoreImage.Record(entity: id.entity.name ?? "", number: id.savedKey)
            for (slot, property) in layout.slots.enumerated() where !property.isTransient {
                if let attribute = property as? NSAttributeDescription {
                    try StoredValue.add(row.value(slot), of: attribute, to: &record.values)
                } else if case .reference(let destination) = row.value(slot) {
                    record.destinations[property.name] = [destination.savedKey]
                }
            }
            return record
        }
        for relationship in layout.toManyRelationships where !relationship.isTransient {
            let lists = try rows.destinations(of: relationship, inOrderOf: group.map(\.id))
            for (index, list) in lists.enumerated() where !list.isEmpty {
                records[index].destinations[relationship.name] = list.map(\.savedKey)
            }
        }
        return records
    }
}
