import SQLiteAccess

/// Reads the destinations of to-many relationships, for many owners with one statement.
struct ToManyQueries {
    let connection: Connection
    let context: DecodingContext
    let ids: ObjectIDCache
    let texts: ToManyTexts

    private var layout: TableLayout { context.layout }

    /// For each of `owners` its destinations: in the relationship's order if it has one, else by their keys.
    /// The destinations from each of `owners`, in the same order.
    func destinations(
        of relationship: NSRelationshipDescription, inOrderOf owners: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        var result: [[NSManagedObjectID]] = Array(repeating: [], count: owners.count)
        guard let destination = relationship.destinationEntity, layout.contains(destination) else { return result }
        var wanted = WantedKeys(owners)
        try RowLookup.forEachBatch(of: wanted.keys) { batch, places in
            let text = texts.text(relationship, places: places, destination: destination)
            try connection.withStatement(text) { statement in
                for place in 0..<places { try statement.bind(batch[min(place, batch.count - 1)], at: place + 1) }
                // The rows of an owner follow each other.
                var owner: Int64?
                var members: [NSManagedObjectID] = []
                func finish() {
                    if let owner { wanted.forEachPlace(of: owner) { result[$0] = members } }
                    members = []
                }
                while try statement.step() {
                    guard
                        let member = ids.newID(
                            ofEntityNumbered: statement.integer(at: 2), in: layout, reference: statement.integer(at: 1))
                    else { continue }
                    let key = statement.integer(at: 0)
                    if owner != key {
                        finish()
                        owner = key
                    }
                    // A foreign join table may name a pair twice.
                    if members.last != member { members.append(member) }
                }
                finish()
            }
        }
        return result
    }
}

/// The statements that read destinations, written once for each relationship and number of owners.
final class ToManyTexts {
    private struct Shape: Hashable {
        let relationship: ObjectIdentifier
        let places: Int
    }

    private let layout: TableLayout
    private var known: [Shape: String] = [:]

    init(layout: TableLayout) { self.layout = layout }

    func text(_ relationship: NSRelationshipDescription, places: Int, destination: NSEntityDescription) -> String {
        let shape = Shape(relationship: ObjectIdentifier(relationship), places: places)
        if let text = known[shape] { return text }
        let made = write(relationship, "(\(RowLookup.placeholders(places)))", destination)
        known[shape] = made
        return made
    }

    /// In the order of owners first: an index on the foreign key gives the rows so, and none is sorted.
    private func write(
        _ relationship: NSRelationshipDescription, _ list: String, _ destination: NSEntityDescription
    ) -> String {
        let table = SQLName.quoted(layout.table(of: destination))
        switch layout.storage(of: relationship) {
        case .foreignKey(let column, let orderColumn):
            let owner = SQLName.quoted(column)
            let order = orderColumn.map { "\(SQLName.quoted($0)), " } ?? ""
            return "SELECT \(owner), Z_PK, Z_ENT FROM \(table) WHERE \(owner) IN \(list) "
                + "ORDER BY \(owner), \(order)Z_PK"
        case .joinTable(let join, let ownerColumn, let destinationColumn, let orderColumn):
            let owner = "j." + SQLName.quoted(ownerColumn)
            let order = orderColumn.map { "j.\(SQLName.quoted($0)), " } ?? ""
            return "SELECT \(owner), d.Z_PK, d.Z_ENT FROM \(SQLName.quoted(join)) AS j JOIN \(table) AS d "
                + "ON d.Z_PK = j.\(SQLName.quoted(destinationColumn)) WHERE \(owner) IN \(list) "
                + "ORDER BY \(owner), \(order)d.Z_PK"
        }
    }
}
