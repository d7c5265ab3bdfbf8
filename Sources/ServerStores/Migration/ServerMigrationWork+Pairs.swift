import CoreData
import Foundation

/// The migration of join tables.
extension ServerMigrationWork {
    private func source(_ relationship: NSRelationshipDescription?) -> NSRelationshipDescription? {
        guard let relationship else { return nil }
        return difference.source(of: relationship, in: relationship.entity) as? NSRelationshipDescription
    }

    /// Returns the old join table of the pairs, if there was one.
    private func oldTable(of table: ServerJoinTable) -> ServerJoinTable? {
        guard let source = source(table.relationship) else { return nil }
        return old.joinTables.first { $0.relationship === source || $0.relationship.inverseRelationship === source }
    }

    func oldName(of table: ServerJoinTable) -> String? { oldTable(of: table)?.name }

    func canStay(_ table: ServerJoinTable) -> Bool {
        guard let was = oldTable(of: table), was.relationship === source(table.relationship),
            was.relationship.inverseRelationship === source(table.relationship.inverseRelationship)
        else { return false }
        return was.name == table.name && was.owner == table.owner && was.destination == table.destination
            && was.order == table.order && was.inverseOrder == table.inverseOrder
    }

    /// Returns the condition that both rows of a pair exist.
    private func ends(_ table: ServerJoinTable, _ owner: String, _ member: String) -> String? {
        guard let destination = table.relationship.destinationEntity else { return nil }
        return "EXISTS (SELECT 1 FROM \(new.tableText(of: table.relationship.entity)) AS d WHERE d.\(key) = \(owner)) "
            + "AND EXISTS (SELECT 1 FROM \(new.tableText(of: destination)) AS d WHERE d.\(key) = \(member))"
    }

    func mend(_ table: ServerJoinTable) throws {
        guard let ends = ends(table, "p.\(quoted(table.owner))", "p.\(quoted(table.destination))") else { return }
        try run(["DELETE FROM \(new.tableText(table.name)) AS p WHERE NOT (\(ends))"])
    }

    /// Returns the pairs of all source relationships of a relationship of the new version: `owner`, `member`, `place`.
    private func pairs(ofNew relationship: NSRelationshipDescription?) -> String? {
        guard let relationship else { return nil }
        let parts = difference.sources(of: relationship).compactMap { pairs(of: $0) }
        return parts.isEmpty ? nil : parts.joined(separator: " UNION ALL ")
    }

    private func pairs(of relationship: NSRelationshipDescription) -> String? {
        guard relationship.isToMany else {
            guard let column = old.column(of: relationship, in: relationship.entity).map(quoted) else { return nil }
            return "SELECT o.\(key) AS owner, o.\(column) AS member, NULL::bigint AS place FROM "
                + "\(place(old.table(of: relationship.entity))) AS o WHERE o.\(column) IS NOT NULL"
        }
        let order = { (name: String?) in name.map { "o." + self.quoted($0) } ?? "NULL::bigint" }
        switch old.storage(of: relationship) {
        case .joinTable(let name, let owner, let member, let place):
            return "SELECT o.\(quoted(owner)) AS owner, o.\(quoted(member)) AS member, \(order(place)) AS place FROM "
                + "\(self.place(name)) AS o"
        case .foreignKey(let column, let place):
            guard let member = relationship.destinationEntity else { return nil }
            return "SELECT o.\(quoted(column)) AS owner, o.\(key) AS member, \(order(place)) AS place FROM "
                + "\(self.place(old.table(of: member))) AS o WHERE o.\(quoted(column)) IS NOT NULL"
        }
    }

    /// Fills the table from both ends, which have the same pairs, but each the order of one side only.
    func fill(_ table: ServerJoinTable) throws {
        let relationship = table.relationship
        let inverse = relationship.inverseRelationship
        let own = pairs(ofNew: relationship).map {
            "SELECT owner AS a, member AS b, place AS pb, NULL::bigint AS pa FROM (\($0)) AS x"
        }
        let far = pairs(ofNew: inverse === relationship ? nil : inverse).map {
            "SELECT member AS a, owner AS b, NULL::bigint AS pb, place AS pa FROM (\($0)) AS x"
        }
        let parts = [own, far].compactMap(\.self)
        guard !parts.isEmpty, let ends = ends(table, "q.a", "q.b") else { return }
        var columns = [quoted(table.owner), quoted(table.destination)]
        var values = ["q.a", "q.b"]
        if let order = table.order {
            columns.append(quoted(order))
            values.append("coalesce(max(q.pb), \(ServerTableMigration.place(within: "q.a", by: "q.b")))")
        }
        if let order = table.inverseOrder {
            columns.append(quoted(order))
            values.append("coalesce(max(q.pa), \(ServerTableMigration.place(within: "q.b", by: "q.a")))")
        }
        try run([
            "INSERT INTO \(new.tableText(table.name)) (\(columns.joined(separator: ", "))) "
                + "SELECT \(values.joined(separator: ", ")) FROM (\(parts.joined(separator: " UNION ALL "))) AS q "
                + "WHERE \(ends) GROUP BY q.a, q.b"
        ])
    }
}
