import SQLiteAccess

/// Reads the destinations of to-many relationships, for many owners with one statement.
struct ToManyQueries {
    let connection: Connection
    let context: DecodingContext
    let ids: ObjectIDCache

    private var layout: TableLayout { context.layout }

    /// For each of `owners` its destinations: in the relationship's order if it has one, else by their keys.
    func destinations(
        of relationship: NSRelationshipDescription, from owners: [NSManagedObjectID]
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        var byKey: [Int64: NSManagedObjectID] = [:]
        var result: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        for owner in owners {
            result[owner] = []
            if let key = owner.rowKey { byKey[key.reference] = owner }
        }
        guard let destination = relationship.destinationEntity, layout.contains(destination) else { return result }
        let query = query(relationship, destination: destination)
        try RowLookup.forEachBatch(of: byKey.keys.sorted()) { batch, places in
            let sql = query.replacing(places: places)
            try connection.withStatement(sql) { statement in
                for place in 0..<places { try statement.bind(batch[min(place, batch.count - 1)], at: place + 1) }
                while try statement.step() {
                    guard let owner = byKey[statement.integer(at: 0)],
                        let entity = layout.entity(numbered: statement.integer(at: 2))
                    else { continue }
                    result[owner]?.append(ids.id(entity: entity, reference: statement.integer(at: 1)))
                }
            }
        }
        return result
    }

    /// A statement whose list of owners is still open.
    private struct OpenQuery {
        let head: String
        let tail: String
        func replacing(places: Int) -> String { head + "(\(RowLookup.placeholders(places)))" + tail }
    }

    private func query(_ relationship: NSRelationshipDescription, destination: NSEntityDescription) -> OpenQuery {
        let table = SQLName.quoted(layout.table(of: destination))
        switch layout.storage(of: relationship) {
        case .foreignKey(let column, let orderColumn):
            let owner = SQLName.quoted(column)
            let order = orderColumn.map { "\(SQLName.quoted($0)), " } ?? ""
            return OpenQuery(
                head: "SELECT \(owner), Z_PK, Z_ENT FROM \(table) WHERE \(owner) IN ",
                tail: " ORDER BY \(order)Z_PK")
        case .joinTable(let join, let ownerColumn, let destinationColumn, let orderColumn):
            let owner = "j." + SQLName.quoted(ownerColumn)
            let order = orderColumn.map { "j.\(SQLName.quoted($0)), " } ?? ""
            return OpenQuery(
                head: "SELECT \(owner), d.Z_PK, d.Z_ENT FROM \(SQLName.quoted(join)) AS j JOIN \(table) AS d "
                    + "ON d.Z_PK = j.\(SQLName.quoted(destinationColumn)) WHERE \(owner) IN ",
                tail: " ORDER BY \(order)d.Z_PK")
        }
    }
}
