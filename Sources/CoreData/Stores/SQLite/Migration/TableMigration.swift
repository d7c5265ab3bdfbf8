import Foundation
import SQLiteAccess

/// Fills one table of the new version from a table of the old one.
struct TableMigration {
    let table: EntityTable
    let source: MigrationSource

    private var difference: ModelDifference { source.difference }
    private var old: TableLayout { source.old }
    private var new: TableLayout { source.new }

    /// The entities of the table that were there before, with what they were.
    private var pairs: [(old: NSEntityDescription, new: NSEntityDescription)] {
        table.entities.compactMap { entity in difference.source(of: entity).map { ($0, entity) } }
    }

    /// The table that the rows come from; all of them stand in one.
    private var oldTable: EntityTable? { pairs.first.map { old.entityTable(of: $0.old) } }

    /// Whether the table stays as it is, but for the numbers of its entities.
    var isUnchanged: Bool { surplusColumns?.isEmpty ?? false }

    /// The columns that no property has any more, of a table that stays as it is otherwise; `nil` for one that does not.
    var surplusColumns: [String]? {
        guard let oldTable, oldTable.name == table.name, pairs.count == oldTable.entities.count,
            pairs.count == table.entities.count
        else { return nil }
        let wanted = Set(table.columns.map(\.name))
        let kept = oldTable.columns.filter { wanted.contains($0.name) }
        let isSame =
            kept.count == table.columns.count
            && zip(kept, table.columns).allSatisfy { $0.name == $1.name && $0.declaredType == $1.declaredType }
        guard isSame, table.columns.allSatisfy({ (try? expression(for: $0)) == SQLName.quoted($0.name) }) else {
            return nil
        }
        return oldTable.columns.map(\.name).filter { !wanted.contains($0) }
    }

    /// What moves the rows: each with its arguments.
    func statements() throws -> [(sql: String, arguments: [SQLiteValue])] {
        guard let oldTable else { return [] }
        let name = SQLName.quoted(table.name)
        if source.staying.contains(table.name) {
            let number = source.renumbered("Z_ENT", among: oldTable.entities)
            return number == "Z_ENT" ? [] : [("UPDATE \(name) SET Z_ENT = \(number)", [])]
        }
        let columns = try table.columns.map { (SQLName.quoted($0.name), try expression(for: $0)) }
        let given = columns.filter { $0.1 != "NULL" }
        let names = (["Z_PK", "Z_ENT", "Z_OPT"] + given.map(\.0)).joined(separator: ", ")
        let values = (["Z_PK", source.renumbered("Z_ENT", among: pairs.map(\.old)), "Z_OPT"] + given.map(\.1))
            .joined(separator: ", ")
        let numbers = pairs.map { "\(old.number(of: $0.old))" }.joined(separator: ", ")
        return [
            (
                "INSERT INTO \(name) (\(names)) SELECT \(values) FROM \(source.placeOfOld(oldTable.name)) "
                    + "WHERE Z_ENT IN (\(numbers))", []
            )
        ]
    }

    // MARK: Columns

    /// What a column of the new table holds, in terms of a row of the old one.
    private func expression(for column: TableColumn) throws -> String {
        switch column.content {
        case .attribute(let attribute):
            if attribute is NSDerivedAttributeDescription, let copied = derived(attribute) { return copied }
            return try perEntity(column) { try value(of: attribute, in: $0) }
        case .element(let composite, let leaf):
            return try perEntity(column) { try value(of: leaf, of: composite, in: $0) }
        case .toOne(let relationship): return try perEntity(column) { reference(relationship, in: $0) }
        case .destinationEntity(let relationship):
            return try perEntity(column) { destinationNumber(relationship, in: $0) }
        case .position(let relationship): return try perEntity(column) { position(relationship, in: $0) }
        // Filled afterwards, from the pairs.
        case .owner(let relationship), .ownerPosition(let relationship): return owner(relationship, column)
        }
    }

    /// One expression where it is the same for all entities of the table that have the column, else one for each.
    private func perEntity(
        _ column: TableColumn, _ expression: (NSEntityDescription) throws -> String
    ) throws -> String {
        let having = pairs.filter { $0.new.isKindOf(entity: column.entity) }
        let parts = try having.map { (number: old.number(of: $0.old), text: try expression($0.new)) }
        guard let first = parts.first else { return "NULL" }
        let isOne = parts.allSatisfy { $0.text == first.text }
        // Rows of entities that do not have the column hold nothing in a column of the old table that was not theirs.
        let isPlain =
            first.text == "NULL" || first.text.hasPrefix("\"")
            || first.text.allSatisfy { $0 == "_" || $0.isLetter || $0.isNumber }
        if isOne, having.count == pairs.count || isPlain { return first.text }
        return "CASE Z_ENT " + parts.map { "WHEN \($0.number) THEN \($0.text)" }.joined(separator: " ") + " END"
    }

    private func value(of attribute: NSAttributeDescription, in entity: NSEntityDescription) throws -> String {
        let initial = try MigrationSource.defaultValue(of: attribute).literal
        guard let found = difference.source(of: attribute, in: entity) as? NSAttributeDescription,
            let column = old.column(of: found, in: found.owningEntity ?? entity)
        else { return initial }
        let moved = Self.converted(SQLName.quoted(column), from: found, to: attribute)
        return found.isOptional && !attribute.isOptional && initial != "NULL" ? "IFNULL(\(moved), \(initial))" : moved
    }

    private static func converted(
        _ column: String, from source: NSAttributeDescription, to destination: NSAttributeDescription
    ) -> String {
        // Values in external files are read afterwards; see `columnsThatLoseFiles`.
        switch AttributeChange(from: source, to: destination) ?? .same {
        case .toReal: "CAST(\(column) AS REAL)"
        case .toExternal: "CASE WHEN \(column) IS NOT NULL THEN CAST(x'01' || \(column) AS BLOB) END"
        case .same, .toDecimal, .toInline: column
        }
    }

    private func value(
        of leaf: NSCompositeAttributeDescription.Leaf, of composite: NSCompositeAttributeDescription,
        in entity: NSEntityDescription
    ) throws -> String {
        let initial = try MigrationSource.defaultValue(of: leaf.attribute).literal
        guard let found = difference.source(of: composite, in: entity) as? NSCompositeAttributeDescription,
            let column = old.column(of: found, at: leaf.path)
        else { return initial }
        return SQLName.quoted(column)
    }

    /// A derived value is worked out anew once the rows are there; one whose time was noted keeps it.
    private func derived(_ attribute: NSAttributeDescription) -> String? {
        guard let entity = attribute.owningEntity, difference.source(of: attribute, in: entity) == nil else {
            return nil
        }
        return "NULL"
    }

    // MARK: Relationships

    private func sourceReference(
        _ relationship: NSRelationshipDescription, in entity: NSEntityDescription
    ) -> (relationship: NSRelationshipDescription, column: String)? {
        guard let found = difference.source(of: relationship, in: entity) as? NSRelationshipDescription,
            !found.isToMany, let column = old.column(of: found, in: found.entity)
        else { return nil }
        return (found, SQLName.quoted(column))
    }

    private func reference(_ relationship: NSRelationshipDescription, in entity: NSEntityDescription) -> String {
        guard let (found, column) = sourceReference(relationship, in: entity) else { return "NULL" }
        guard let condition = source.keptRows(of: found, column) else { return column }
        return "CASE WHEN \(condition) THEN \(column) END"
    }

    private func destinationNumber(
        _ relationship: NSRelationshipDescription, in entity: NSEntityDescription
    ) -> String {
        guard let (found, column) = sourceReference(relationship, in: entity), let destination = found.destinationEntity
        else { return "NULL" }
        if let number = old.entityColumn(of: found, in: found.entity) {
            return source.renumbered(SQLName.quoted(number), among: destination.family)
        }
        guard let now = difference.destination(of: destination) else { return "NULL" }
        return "CASE WHEN \(column) IS NOT NULL THEN \(new.number(of: now)) END"
    }

    /// The places of members in an ordered list; where it was not ordered before, they stand in the order of their keys.
    private func position(_ relationship: NSRelationshipDescription, in entity: NSEntityDescription) -> String {
        guard let (found, column) = sourceReference(relationship, in: entity) else { return "NULL" }
        if let place = old.positionColumn(of: found) { return SQLName.quoted(place) }
        return
            "CASE WHEN \(column) IS NOT NULL THEN (ROW_NUMBER() OVER (PARTITION BY \(column) ORDER BY Z_PK) + 1) * 1024 END"
    }

    private func owner(_ relationship: NSRelationshipDescription, _ column: TableColumn) -> String {
        // A one-way relationship that stays as it is keeps its column.
        guard let found = difference.source(of: relationship, in: relationship.entity) as? NSRelationshipDescription,
            found.isToMany, found.inverseRelationship == nil,
            case .foreignKey(let key, let order) = old.storage(of: found),
            let destination = found.destinationEntity, let now = difference.destination(of: destination),
            new.table(of: now) == table.name, difference.destination(of: found.entity) != nil
        else { return "NULL" }
        if case .ownerPosition = column.content { return order.map(SQLName.quoted) ?? "NULL" }
        return SQLName.quoted(key)
    }

    /// What names the owners of one-way relationships that were kept otherwise before.
    func statementsForOwners() -> [String] {
        table.columns.compactMap { column in
            guard case .owner(let relationship) = column.content, owner(relationship, column) == "NULL",
                let pairs = source.pairs(ofNew: relationship)
            else { return nil }
            let name = SQLName.quoted(table.name)
            let owners = SQLName.quoted(new.table(of: relationship.entity))
            return "UPDATE \(name) SET \(SQLName.quoted(column.name)) = (SELECT owner FROM (\(pairs)) AS p "
                + "WHERE p.member = \(name).Z_PK AND p.owner IN (SELECT Z_PK FROM \(owners)) LIMIT 1)"
        }
    }

    // MARK: What is looked at afterwards

    /// Whether rows of an entity may lack a value of an attribute: it is new without a default, or was optional.
    func mayLack(_ attribute: NSAttributeDescription, in entity: NSEntityDescription) -> Bool {
        guard attribute.defaultValue == nil else { return false }
        guard let found = difference.source(of: attribute, in: entity) as? NSAttributeDescription else { return true }
        return found.isOptional
    }

    var columnsThatLoseFiles: [String] {
        table.columns.compactMap { column in
            guard case .attribute(let attribute) = column.content else { return nil }
            let loses = pairs.contains { pair in
                guard pair.new.isKindOf(entity: column.entity),
                    let found = difference.source(of: attribute, in: pair.new) as? NSAttributeDescription
                else { return false }
                return AttributeChange(from: found, to: attribute) == .toInline
            }
            return loses ? column.name : nil
        }
    }
}

/// Fills one table of pairs of the new version.
struct JoinMigration {
    let table: JoinTable
    let source: MigrationSource

    private var relationship: NSRelationshipDescription { table.first.relationship }

    /// Whether the table stands there already under its name, with the same columns for the same relationship.
    var isUnchanged: Bool {
        guard let found = was, found.isToMany, found.inverseRelationship?.isToMany == true,
            let kept = source.old.joinTables.first(where: { table in
                table.table.first.relationship === found || table.table.second.relationship === found
            })?.table
        else { return false }
        return kept.name == table.name && kept.columns == table.columns && kept.first.relationship === found
            && source.difference.removed.isEmpty
    }

    private var was: NSRelationshipDescription? {
        source.difference.source(of: relationship, in: relationship.entity) as? NSRelationshipDescription
    }

    func statements() -> [String] {
        let (first, second) = (table.first, table.second)
        let inverse = second.relationship
        var seen: Set<String> = []
        // The same pairs are told by both ends, which differ in what they know of the order.
        let own = source.pairs(ofNew: relationship).map {
            "SELECT owner AS a, member AS b, place AS pb, NULL AS pa FROM (\($0))"
        }
        let far = source.pairs(ofNew: inverse).map {
            "SELECT member AS a, owner AS b, NULL AS pb, place AS pa FROM (\($0))"
        }
        let parts = (table.isReflexive ? [own] : [own, far]).compactMap(\.self).filter { seen.insert($0).inserted }
        guard !parts.isEmpty else { return [] }
        let firstTable = SQLName.quoted(source.new.table(of: first.relationship.entity))
        let secondTable = SQLName.quoted(
            source.new.table(of: table.isReflexive ? first.relationship.entity : inverse.entity))
        var names = [SQLName.quoted(first.column), SQLName.quoted(second.column)]
        var values = ["a", "b"]
        if let place = first.positionColumn {
            names.append(SQLName.quoted(place))
            values.append("IFNULL(MAX(pa), (ROW_NUMBER() OVER (PARTITION BY b ORDER BY a) + 1) * 1024)")
        }
        if let place = second.positionColumn {
            names.append(SQLName.quoted(place))
            values.append("IFNULL(MAX(pb), (ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) + 1) * 1024)")
        }
        return [
            "INSERT INTO \(SQLName.quoted(table.name)) (\(names.joined(separator: ", "))) "
                + "SELECT \(values.joined(separator: ", ")) FROM (\(parts.joined(separator: " UNION ALL "))) "
                + "WHERE a IN (SELECT Z_PK FROM \(firstTable)) AND b IN (SELECT Z_PK FROM \(secondTable)) GROUP BY a, b"
        ]
    }
}
