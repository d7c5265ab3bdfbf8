import SQLiteAccess

/// Writes the changes of relationships in join tables, or in a column without an inverse.
struct ToManyWriter {
    let connection: Connection
    let layout: TableLayout

    /// Adds and removes pairs. Done for all changes before any order is written, because the other end may report the
    /// pairs of an ordered list.
    func writePairs(of change: StoreToManyChange) throws {
        guard let storage = storage(of: change) else { return }
        let owner = key(change.owner)
        for destination in change.removed { try storage.remove(owner, key(destination)) }
        for destination in change.added { try storage.add(owner, key(destination)) }
    }

    func writeOrder(of change: StoreToManyChange) throws {
        guard let order = change.order, let storage = storage(of: change) else { return }
        try storage.setOrder(of: key(change.owner), order.map(key))
    }

    private func key(_ id: NSManagedObjectID) -> Int64 {
        guard let key = id.rowKey else { preconditionFailure("A save got a temporary ID: \(id)") }
        return key.reference
    }

    /// Returns `nil` for a relationship that is stored as a to-one column of its inverse.
    private func storage(of change: StoreToManyChange) -> (any PairStorage)? {
        let relationship = change.relationship
        switch layout.storage(of: relationship) {
        case .joinTable(let table, let ownerColumn, let destinationColumn, let orderColumn):
            return Pairs(
                connection: connection, table: table, owner: ownerColumn, destination: destinationColumn,
                position: orderColumn, isReflexive: relationship.inverseRelationship === relationship)
        case .foreignKey(let column, let orderColumn):
            guard relationship.inverseRelationship == nil, let entity = relationship.destinationEntity else {
                return nil
            }
            return OwnerColumn(
                connection: connection, table: layout.table(of: entity), column: column, position: orderColumn)
        }
    }
}

/// Storage for pairs of owner and destination.
private protocol PairStorage {
    func add(_ owner: Int64, _ destination: Int64) throws
    func remove(_ owner: Int64, _ destination: Int64) throws
    func setOrder(of owner: Int64, _ order: [Int64]) throws
}

/// The pairs of a join table, seen from one end.
private struct Pairs: PairStorage {
    let connection: Connection
    let table: String
    let owner: String
    let destination: String
    let position: String?
    let isReflexive: Bool

    private var names: (table: String, owner: String, destination: String) {
        (SQLName.quoted(table), SQLName.quoted(owner), SQLName.quoted(destination))
    }

    /// Adds a pair if it does not exist, because both ends of a relationship report a new pair.
    func add(_ ownerKey: Int64, _ destinationKey: Int64) throws {
        let text = "INSERT OR IGNORE INTO \(names.table) (\(names.owner), \(names.destination)) VALUES (?, ?)"
        try connection.execute(text, [.integer(ownerKey), .integer(destinationKey)])
        if isReflexive { try connection.execute(text, [.integer(destinationKey), .integer(ownerKey)]) }
    }

    func remove(_ ownerKey: Int64, _ destinationKey: Int64) throws {
        let text = "DELETE FROM \(names.table) WHERE \(names.owner) = ? AND \(names.destination) = ?"
        try connection.execute(text, [.integer(ownerKey), .integer(destinationKey)])
        if isReflexive { try connection.execute(text, [.integer(destinationKey), .integer(ownerKey)]) }
    }

    func setOrder(of ownerKey: Int64, _ order: [Int64]) throws {
        guard let position = position.map(SQLName.quoted) else { return }
        var current: [Int64: Int64] = [:]
        let select = "SELECT \(names.destination), \(position) FROM \(names.table) WHERE \(names.owner) = ?"
        try connection.withStatement(select) { statement in
            try statement.bind(ownerKey, at: 1)
            while try statement.step() {
                if !statement.isNull(at: 1) { current[statement.integer(at: 0)] = statement.integer(at: 1) }
            }
        }
        let update = "UPDATE \(names.table) SET \(position) = ? WHERE \(names.owner) = ? AND \(names.destination) = ?"
        for (key, place) in zip(order, OrderingKeys.assign(order.map { current[$0] })) where current[key] != place {
            try connection.execute(update, [.integer(place), .integer(ownerKey), .integer(key)])
        }
    }
}

/// A column in the destination's table with the owner of a to-many relationship without an inverse.
private struct OwnerColumn: PairStorage {
    let connection: Connection
    let table: String
    let column: String
    let position: String?

    private var names: (table: String, column: String) { (SQLName.quoted(table), SQLName.quoted(column)) }

    func add(_ owner: Int64, _ destination: Int64) throws {
        try connection.execute(
            "UPDATE \(names.table) SET \(names.column) = ? WHERE Z_PK = ?", [.integer(owner), .integer(destination)])
    }

    func remove(_ owner: Int64, _ destination: Int64) throws {
        let place = position.map { ", \(SQLName.quoted($0)) = NULL" } ?? ""
        try connection.execute(
            "UPDATE \(names.table) SET \(names.column) = NULL\(place) WHERE Z_PK = ? AND \(names.column) = ?",
            [.integer(destination), .integer(owner)])
    }

    func setOrder(of owner: Int64, _ order: [Int64]) throws {
        guard let position = position.map(SQLName.quoted) else { return }
        for (index, key) in order.enumerated() {
            try connection.execute(
                "UPDATE \(names.table) SET \(position) = ? WHERE Z_PK = ?",
                [.integer(OrderingKeys.key(at: index)), .integer(key)])
        }
    }
}

/// Removes references to a deleted row from join tables and from columns without an inverse.
struct PairRemoval {
    let connection: Connection
    let layout: TableLayout

    func removePairs(of entity: NSEntityDescription, key: Int64) throws {
        for (_, table) in layout.joinTables {
            for end in [table.first, table.second] where entity.isKindOf(entity: end.relationship.entity) {
                try connection.execute(
                    "DELETE FROM \(SQLName.quoted(table.name)) WHERE \(SQLName.quoted(end.column)) = ?", [.integer(key)]
                )
            }
        }
        for table in layout.tables {
            for column in table.columns {
                guard case .owner(let relationship) = column.content, entity.isKindOf(entity: relationship.entity)
                else {
                    continue
                }
                let name = SQLName.quoted(column.name)
                try connection.execute(
                    "UPDATE \(SQLName.quoted(table.name)) SET \(name) = NULL WHERE \(name) = ?", [.integer(key)])
            }
        }
    }
}
