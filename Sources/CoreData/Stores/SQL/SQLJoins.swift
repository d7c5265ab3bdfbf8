/// The table of an entity, and the tables of to-one relationships that a statement joins to it.
///
/// Each relationship path is joined once. The joins are LEFT joins: a row with an empty relationship stays, and the
/// columns of the destination are NULL, as the values are `nil` in memory.
struct SQLJoins {
    /// Generates the names `t0`, `t1` …, unique in a whole statement with its subqueries.
    final class Aliases {
        private var count = 0
        func next() -> String {
            defer { count += 1 }
            return "t\(count)"
        }
    }

    let entity: NSEntityDescription
    /// The name of the entity's own table in the statement.
    let alias: String
    let schema: any SQLSchema
    let aliases: Aliases
    private var joined: [(path: [ObjectIdentifier], alias: String)] = []
    private var text = ""

    /// Creates the joins of a whole statement; the entity's table is `t0`.
    init(entity: NSEntityDescription, schema: any SQLSchema) {
        self.init(entity: entity, schema: schema, aliases: Aliases())
    }

    /// Creates the joins of a subquery.
    init(entity: NSEntityDescription, schema: any SQLSchema, aliases: Aliases) {
        self.entity = entity
        self.schema = schema
        self.aliases = aliases
        self.alias = aliases.next()
    }

    /// True if no other table is joined.
    var isAlone: Bool { joined.isEmpty }

    /// The tables and joins of the FROM clause.
    var from: SQLFragment { SQLFragment("\(schema.tableText(schema.table(of: entity))) AS \(alias)\(text)") }

    /// Returns the table name at the end of the to-one path `relationships`, adding missing joins.
    mutating func alias(following relationships: [NSRelationshipDescription]) -> String? {
        var path: [ObjectIdentifier] = []
        var current = alias
        var source = entity
        for relationship in relationships {
            path.append(ObjectIdentifier(relationship))
            guard let destination = relationship.destinationEntity else { return nil }
            if let known = joined.first(where: { $0.path == path }) {
                current = known.alias
            } else {
                guard let column = schema.column(of: relationship, in: source) else { return nil }
                let next = aliases.next()
                let table = schema.tableText(schema.table(of: destination))
                text +=
                    " LEFT JOIN \(table) AS \(next) ON \(next).\(schema.keyText) = \(current).\(schema.dialect.quoted(column))"
                joined.append((path, next))
                current = next
            }
            source = destination
        }
        return current
    }

    /// Returns the column of `property` at the end of `relationships`; `nil` if the table has none.
    mutating func column(
        of property: NSPropertyDescription, following relationships: [NSRelationshipDescription]
    ) -> String? {
        let source = relationships.last?.destinationEntity ?? entity
        guard let column = schema.column(of: property, in: source), let table = alias(following: relationships) else {
            return nil
        }
        return "\(table).\(schema.dialect.quoted(column))"
    }

    /// Returns the column of a composite attribute's value at the end of `relationships`; `nil` if the table has none.
    mutating func column(
        of composite: NSCompositeAttributeDescription, at path: [String],
        following relationships: [NSRelationshipDescription]
    ) -> String? {
        guard let column = schema.column(of: composite, at: path), let table = alias(following: relationships) else {
            return nil
        }
        return "\(table).\(schema.dialect.quoted(column))"
    }

    /// Returns the condition on the entity column of the entity's own table; `nil` if it holds for every row.
    func entityCondition(includingSubentities: Bool) -> SQLFragment? {
        guard schema.sharesTable(entity) else { return nil }
        if includingSubentities && entity.superentity == nil { return nil }
        let numbers = schema.entityNumbers(of: entity, includingSubentities: includingSubentities)
        let column = "\(alias).\(schema.dialect.quoted(schema.dialect.entity))"
        if numbers.count == 1 { return SQLFragment("\(column) = \(numbers[0])") }
        return SQLFragment("\(column) IN (\(numbers.map(String.init).joined(separator: ", ")))")
    }
}
