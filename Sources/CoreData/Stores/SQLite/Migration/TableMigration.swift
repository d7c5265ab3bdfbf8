import Foundation
import SQLiteAccess

/// Fills one table of the new version from a table of the old one.
struct TableMigration {
    let table: EntityTable
    let source: MigrationSource

    private var difference: ModelDifference { source.difference }
    private var old: TableLayout { source.old }
    private var new: TableLayout { source.new }

    /// An entity and its counterpart in the source model.
    typealias Pair = (old: NSEntityDescription, new: NSEntityDescription)

    /// The entities of the table that existed in the old version.
    var pairs: [Pair] {
        table.entities.compactMap { entity in difference.source(of: entity).map { ($0, entity) } }
    }

    /// The old table with the rows. All of them are in one table.
    var oldTable: EntityTable? { pairs.first.map { old.entityTable(of: $0.old) } }

    /// Returns the statements that move the rows, with their arguments.
    func statements() throws -> [(sql: String, arguments: [SQLiteValue])] {
        guard let oldTable else { return [] }
        let name = SQLName.quoted(table.name)
        if source.stays(table.name) {
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

    /// Returns the value of a column of the new table, in terms of the old row.
    private func expression(for column: TableColumn) throws -> String {
        let origins = try origins(of: column)
        guard let first = origins.first?.origin else { return "NULL" }
        let isOne = origins.allSatisfy { $0.origin == first }
        if isOne, first == .nothing || origins.count == pairs.count { return first.text }
        if isOne, case .column(let name) = first, losing(name, now: origins.map(\.pair)).isEmpty { return first.text }
        return "CASE Z_ENT "
            + origins.map { "WHEN \(old.number(of: $0.pair.old)) THEN \($0.origin.text)" }.joined(separator: " ")
            + " END"
    }

    /// Returns the source of a column of the new table for each entity that existed before and has the column now.
    func origins(of column: TableColumn) throws -> [(pair: Pair, origin: ColumnOrigin)] {
        let having = pairs.filter { $0.new.isKindOf(entity: column.entity) }
        switch column.content {
        case .attribute(let attribute):
            // A derived value is computed after the rows are moved. One with an older counterpart keeps its value.
            if attribute is NSDerivedAttributeDescription, difference.isNew(attribute) {
                return having.map { ($0, .nothing) }
            }
            return try having.map { ($0, try origin(of: attribute, in: $0.new)) }
        case .element(let composite, let leaf):
            return try having.map { ($0, try origin(of: leaf, of: composite, in: $0.new)) }
        case .toOne(let relationship): return having.map { ($0, reference(relationship, in: $0.new)) }
        case .destinationEntity(let relationship):
            return having.map { ($0, destinationNumber(relationship, in: $0.new)) }
        case .position(let relationship): return having.map { ($0, position(relationship, in: $0.new)) }
        // Columns without a source are filled afterwards from the pairs.
        case .owner(let relationship), .ownerPosition(let relationship):
            let origin = owner(relationship, column)
            return pairs.map { ($0, origin) }
        }
    }

    /// Returns the entities that had a column of the old table and lose it, because it moved to a subentity.
    func losing(_ name: String, now having: [Pair]) -> [Pair] {
        guard let column = oldTable?.columns.first(where: { $0.name == name }) else { return [] }
        return pairs.filter { pair in
            pair.old.isKindOf(entity: column.entity) && !having.contains { $0.new === pair.new }
        }
    }

    private func origin(of attribute: NSAttributeDescription, in entity: NSEntityDescription) throws -> ColumnOrigin {
        let initial = try MigrationSource.defaultValue(of: attribute).literal
        guard let found = difference.source(of: attribute, in: entity) as? NSAttributeDescription,
            let column = old.column(of: found, in: found.owningEntity ?? entity)
        else { return .constant(initial) }
        let moved = Self.converted(column, from: found, to: attribute)
        return found.isOptional && !attribute.isOptional && initial != "NULL" ? moved.orElse(initial) : moved
    }

    private static func converted(
        _ column: String, from source: NSAttributeDescription, to destination: NSAttributeDescription
    ) -> ColumnOrigin {
        let name = SQLName.quoted(column)
        // Values in external files are read afterwards; see `columnsThatLoseFiles`.
        return switch AttributeChange(from: source, to: destination) ?? .same {
        case .toReal: .computed("CAST(\(name) AS REAL)")
        case .toExternal: .computed("CASE WHEN \(name) IS NOT NULL THEN CAST(x'01' || \(name) AS BLOB) END")
        case .same, .toDecimal, .toInline: .column(column)
        }
    }

    private func origin(
        of leaf: NSCompositeAttributeDescription.Leaf, of composite: NSCompositeAttributeDescription,
        in entity: NSEntityDescription
    ) throws -> ColumnOrigin {
        guard let found = difference.source(of: composite, in: entity) as? NSCompositeAttributeDescription,
            let part = composite.source(of: leaf, in: found), let column = old.column(of: found, at: part.path)
        else { return .constant(try MigrationSource.defaultValue(of: leaf.attribute).literal) }
        return Self.converted(column, from: part.attribute, to: leaf.attribute)
    }

    // MARK: Relationships

    private func sourceReference(
        _ relationship: NSRelationshipDescription, in entity: NSEntityDescription
    ) -> (relationship: NSRelationshipDescription, column: String)? {
        guard let found = difference.source(of: relationship, in: entity) as? NSRelationshipDescription,
            !found.isToMany, let column = old.column(of: found, in: found.entity)
        else { return nil }
        return (found, column)
    }

    private func reference(
        _ relationship: NSRelationshipDescription, in entity: NSEntityDescription
    ) -> ColumnOrigin {
        guard let (found, column) = sourceReference(relationship, in: entity) else { return .nothing }
        let name = SQLName.quoted(column)
        guard let condition = source.keptRows(of: found, name) else { return .column(column) }
        return .computed("CASE WHEN \(condition) THEN \(name) END")
    }

    private func destinationNumber(
        _ relationship: NSRelationshipDescription, in entity: NSEntityDescription
    ) -> ColumnOrigin {
        guard let (found, column) = sourceReference(relationship, in: entity), let destination = found.destinationEntity
        else { return .nothing }
        if let number = old.entityColumn(of: found, in: found.entity) {
            let name = SQLName.quoted(number)
            let renumbered = source.renumbered(name, among: destination.family)
            return renumbered == name ? .column(number) : .computed(renumbered)
        }
        guard let now = difference.destination(of: destination) else { return .nothing }
        return .computed("CASE WHEN \(SQLName.quoted(column)) IS NOT NULL THEN \(new.number(of: now)) END")
    }

    /// Returns the positions of members in an ordered list; by key if it was not ordered before.
    private func position(
        _ relationship: NSRelationshipDescription, in entity: NSEntityDescription
    ) -> ColumnOrigin {
        guard let (found, column) = sourceReference(relationship, in: entity) else { return .nothing }
        if let place = old.positionColumn(of: found) { return .column(place) }
        let name = SQLName.quoted(column)
        return .computed(
            "CASE WHEN \(name) IS NOT NULL THEN (ROW_NUMBER() OVER (PARTITION BY \(name) ORDER BY Z_PK) + 1) * 1024 END"
        )
    }

    private func owner(_ relationship: NSRelationshipDescription, _ column: TableColumn) -> ColumnOrigin {
        // An unchanged one-way relationship keeps its column.
        guard let found = difference.source(of: relationship, in: relationship.entity) as? NSRelationshipDescription,
            found.isToMany, found.inverseRelationship == nil,
            case .foreignKey(let key, let order) = old.storage(of: found),
            let destination = found.destinationEntity, let now = difference.destination(of: destination),
            new.table(of: now) == table.name, difference.destination(of: found.entity) != nil
        else { return .nothing }
        if case .ownerPosition = column.content { return order.map { .column($0) } ?? .nothing }
        return .column(key)
    }

    /// Returns true if a column has owners, or their positions, that were stored differently before.
    func isFilledFromPairs(_ column: TableColumn) -> Bool {
        switch column.content {
        case .owner(let relationship), .ownerPosition(let relationship):
            owner(relationship, column) == .nothing && source.pairs(ofNew: relationship) != nil
        default: false
        }
    }

    /// Returns statements that set the owners of one-way relationships that were stored differently before.
    func statementsForOwners() -> [String] {
        table.columns.compactMap { column in
            guard case .owner(let relationship) = column.content, owner(relationship, column) == .nothing,
                let pairs = source.pairs(ofNew: relationship)
            else { return nil }
            let name = SQLName.quoted(table.name)
            let owners = SQLName.quoted(new.table(of: relationship.entity))
            return "UPDATE \(name) SET \(SQLName.quoted(column.name)) = (SELECT owner FROM (\(pairs)) AS p "
                + "WHERE p.member = \(name).Z_PK AND p.owner IN (SELECT Z_PK FROM \(owners)) LIMIT 1)"
        }
    }

    // MARK: Checks afterwards

    /// Returns true if rows of an entity may lack a value of an attribute: it is new without a default, or was optional.
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
