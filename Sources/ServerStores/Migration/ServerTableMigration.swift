import CoreData
import Foundation

/// The sources of the rows of one table of the new version.
struct ServerTableMigration {
    let table: ServerTable
    let old: ServerLayout
    let new: ServerLayout
    let difference: ModelDifference
    /// The entities of the table that had rows, with their counterparts in the old version.
    let kept: [(new: NSEntityDescription, old: NSEntityDescription)]
    /// The old table with the rows. All of them are in one table.
    let from: ServerTable?

    init(_ table: ServerTable, old: ServerLayout, new: ServerLayout, difference: ModelDifference) {
        self.table = table
        self.old = old
        self.new = new
        self.difference = difference
        kept = table.entities.compactMap { entity in difference.source(of: entity).map { (entity, $0) } }
        from = kept.first.map { old.serverTable(of: $0.old) }
    }

    /// An SQL expression for a row `o` of the old table, with its arguments.
    struct Expression {
        var text: String
        var arguments: [ServerArgument] = []
    }

    private func quoted(_ name: String) -> String { new.dialect.quoted(name) }
    private var entity: String { quoted(ServerStoreTables.entity) }

    // MARK: In-place changes

    /// True if the old table can become the new one by adding and dropping columns only: common columns are the same,
    /// and no index of a kept column is dropped.
    func canStay(_ oldText: ServerSchemaText, _ newText: ServerSchemaText) throws -> Bool {
        guard let from, from.name == table.name, from.sequence == table.sequence else { return false }
        // The table cannot stay if some of its rows move to other tables.
        let heirs = from.entities.compactMap(difference.destination(of:))
        guard heirs.allSatisfy({ heir in table.entities.contains { $0 === heir } }) else { return false }
        let before = Dictionary(from.columns.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for column in table.columns {
            guard let was = before[column.name] else { continue }
            guard was.type == column.type, try expression(for: column).text == "o." + quoted(column.name) else {
                return false
            }
        }
        let staying = Set(newText.indexes(table))
        let gone = goneColumns.map { quoted($0) }
        return oldText.indexes(from).allSatisfy { index in
            staying.contains(index) || gone.contains { index.contains($0) }
        }
    }

    /// The columns that a kept table loses.
    var goneColumns: [String] {
        let names = Set(table.columns.map(\.name))
        return from?.columns.map(\.name).filter { !names.contains($0) } ?? []
    }

    /// The columns that a kept table gains.
    var comingColumns: [ServerColumn] {
        let names = Set(from?.columns.map(\.name) ?? [])
        return table.columns.filter { !names.contains($0.name) }
    }

    /// The numbers of the entities whose rows are deleted.
    var goneEntities: [Int64] {
        from?.entities.filter { difference.destination(of: $0) == nil }.map(old.number(of:)) ?? []
    }

    // MARK: Values

    /// Returns one expression for all entities of the table if they are the same, otherwise one for each.
    func expression(for column: ServerColumn) throws -> Expression {
        let parts = try kept.map { pair in
            let isThere = pair.new.isKindOf(entity: column.entity)
            return (old.number(of: pair.old), isThere ? try value(column, pair.new, pair.old) : nil)
        }
        let having = parts.compactMap(\.1)
        guard let first = having.first else { return Expression(text: "NULL::\(column.type.rawValue)") }
        let isOne = having.allSatisfy { $0.text == first.text && $0.arguments.isEmpty }
        // In another entity's column of the old table, rows of an entity without it have NULL.
        if isOne, having.count == parts.count || first.text.hasPrefix("o.") { return first }
        var result = Expression(text: "CASE o.\(entity)")
        for case (let number, let part?) in parts {
            result.text += " WHEN \(number) THEN \(part.text)"
            result.arguments += part.arguments
        }
        result.text += " END"
        return result
    }

    private func value(
        _ column: ServerColumn, _ entity: NSEntityDescription, _ owner: NSEntityDescription
    ) throws -> Expression {
        func source(_ property: NSPropertyDescription) -> NSPropertyDescription? {
            difference.source(of: entity.propertiesByName[property.name] ?? property, in: entity)
        }
        switch column.content {
        // A derived value is computed after the rows are moved. One with an older counterpart keeps its value.
        case .attribute(let attribute as NSDerivedAttributeDescription) where source(attribute) == nil:
            return argument(.null, column)
        case .text(let text, let functions):
            let found = source(text) as? NSAttributeDescription
            return moved(found.flatMap { old.column(of: $0, by: functions) }, column)
        case .attribute(let attribute):
            let initial = try startingValue(of: attribute, in: entity)
            guard let found = source(attribute) as? NSAttributeDescription,
                let name = old.column(of: found, in: owner)
            else { return argument(initial, column) }
            let moved = converted(name, to: column)
            guard found.isOptional, !attribute.isOptional, initial != .null else { return moved }
            return Expression(text: "coalesce(\(moved.text), ?)", arguments: [.value(initial, column.type)])
        case .element(let composite, let leaf):
            if let found = source(composite) as? NSCompositeAttributeDescription,
                let part = composite.source(of: leaf, in: found), let name = old.column(of: found, at: part.path)
            {
                return converted(name, to: column)
            }
            guard let value = leaf.attribute.defaultValue,
                let slot = AttributeCoercion.slotValue(value, for: leaf.attribute)
            else { return argument(.null, column) }
            return argument(try ServerValueCoding.encoded(slot, leaf.attribute), column)
        case .toOne(let toOne):
            return moved(source(toOne).flatMap { old.column(of: $0, in: owner) }, column)
        case .destinationEntity(let toOne):
            // If there was no such column, it is filled from the referenced rows.
            let found = source(toOne) as? NSRelationshipDescription
            return moved(found.flatMap { old.entityColumn(of: $0, in: owner) }, column)
        case .position(let toOne):
            guard let found = source(toOne) as? NSRelationshipDescription, !found.isToMany,
                let owner = old.column(of: found, in: owner)
            else { return argument(.null, column) }
            if let name = old.positionColumn(of: found) { return moved(name, column) }
            // A list that becomes ordered is ordered by key.
            let place = Self.place(within: "o.\(quoted(owner))", by: "o.\(quoted(ServerStoreTables.key))")
            return Expression(text: "CASE WHEN o.\(quoted(owner)) IS NOT NULL THEN \(place) END")
        }
    }

    /// Returns the position of a row in a list that was not ordered before.
    static func place(within owner: String, by key: String) -> String {
        "(row_number() OVER (PARTITION BY \(owner) ORDER BY \(key)) * \(OrderingKeys.step) "
            + "+ \(OrderingKeys.first - OrderingKeys.step))"
    }

    private func moved(_ name: String?, _ column: ServerColumn) -> Expression {
        name.map { Expression(text: "o.\(quoted($0))") } ?? argument(.null, column)
    }

    private func argument(_ value: SQLValue, _ column: ServerColumn) -> Expression {
        value == .null
            ? Expression(text: "NULL::\(column.type.rawValue)")
            : Expression(text: "?", arguments: [.value(value, column.type)])
    }

    private func converted(_ name: String, to column: ServerColumn) -> Expression {
        let text = "o.\(quoted(name))"
        let type = from?.columns.first { $0.name == name }?.type
        if type == column.type { return Expression(text: text) }
        // The server casts a Boolean to integer only.
        return Expression(
            text: type == .boolean ? "(\(text)::int4)::\(column.type.rawValue)" : "(\(text))::\(column.type.rawValue)")
    }

    private func startingValue(of attribute: NSAttributeDescription, in entity: NSEntityDescription) throws -> SQLValue
    {
        guard case .attribute(let slot)? = entity.layout.place(of: attribute.name) else { return .null }
        return try ServerValueCoding.encoded(entity.layout.traits.startingRow.value(slot), attribute)
    }
}
