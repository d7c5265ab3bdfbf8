import CoreData

/// The SQL of the path from a derived attribute's rows to its source: the tables `t0`, `t1` …
struct ServerDerivedPath {
    let derivation: ServerDerivation
    let layout: ServerLayout

    private var hops: [NSRelationshipDescription] { derivation.hops }
    private var key: String { layout.keyText }
    private func quoted(_ name: String) -> String { layout.dialect.quoted(name) }

    typealias Children = DerivedPath.Children

    func entity(_ level: Int) -> NSEntityDescription {
        level == 0 ? derivation.entity : hops[level - 1].destinationEntity ?? derivation.entity
    }

    /// The name of the table after `level` relationships, unquoted.
    func table(_ level: Int) -> String { layout.table(of: entity(level)) }
    func tableText(_ level: Int) -> String { layout.tableText(table(level)) }

    /// All tables of the path including join tables. Unquoted.
    var tables: [String] {
        (0...hops.count).map(table) + hops.indices.filter { hops[$0].isToMany }.map { children($0).table }
    }

    /// The column of the attribute. Quoted, like all that follow.
    var column: String { quoted(layout.column(of: derivation.attribute, in: derivation.entity) ?? "") }

    /// The column at the end of the path and its type; `nil` for a count.
    var end: (column: String, type: ServerType)? {
        switch derivation.source {
        case .count, .now: return nil
        case .text(let text, let functions):
            return layout.column(of: text, by: functions).map { (quoted($0), .text) }
        case .value(let attribute), .sum(let attribute):
            guard let type = ServerType(attribute) else { return nil }
            return layout.column(of: attribute, in: entity(hops.count)).map { (quoted($0), type) }
        }
    }

    /// Returns the column of a to-one hop in the table before it.
    func column(ofHop hop: Int) -> String { quoted(layout.column(of: hops[hop], in: entity(hop)) ?? "") }

    func children(_ hop: Int) -> Children {
        switch layout.storage(of: hops[hop]) {
        case .foreignKey(let column, _):
            return Children(table: table(hop + 1), owner: quoted(column), destination: nil)
        case .joinTable(let table, let owner, let destination, _):
            return Children(table: table, owner: quoted(owner), destination: quoted(destination))
        }
    }

    /// Returns a condition that selects the rows of the derived attribute's entity; empty if the table has no rows of
    /// other entities.
    func ownRows(_ alias: String) -> String {
        guard layout.sharesTable(derivation.entity) else { return "" }
        let numbers = layout.entityNumbers(of: derivation.entity, includingSubentities: true).map { "\($0)" }
        return " AND \(alias).\(quoted(ServerStoreTables.entity)) IN (\(numbers.joined(separator: ", ")))"
    }

    /// Returns the tables of a hop from `near`, each with its join condition.
    private func step(_ hop: Int, from near: String) -> [(table: String, on: String)] {
        let far = "t\(hop + 1)"
        guard hops[hop].isToMany else {
            return [("\(tableText(hop + 1)) AS \(far)", "\(far).\(key) = \(near).\(column(ofHop: hop))")]
        }
        let children = children(hop)
        guard let destination = children.destination else {
            return [("\(tableText(hop + 1)) AS \(far)", "\(far).\(children.owner) = \(near).\(key)")]
        }
        return [
            ("\(layout.tableText(children.table)) AS p\(hop)", "p\(hop).\(children.owner) = \(near).\(key)"),
            ("\(tableText(hop + 1)) AS \(far)", "\(far).\(key) = p\(hop).\(destination)"),
        ]
    }

    /// Returns the keys of the attribute's rows whose path reaches rows of a level with keys in the array `keys`.
    func rows(leadingTo keys: String, at level: Int) -> String {
        let steps = (0..<level).flatMap { step($0, from: "t\($0)") }
        let joins = steps.map { " JOIN \($0.table) ON \($0.on)" }.joined()
        return "SELECT DISTINCT t0.\(key) FROM \(tableText(0)) AS t0\(joins) WHERE t\(level).\(key) = ANY(\(keys))"
    }

    /// Returns the value of the row with the alias `row`.
    func value(of row: String) -> String {
        let type = ServerType(derivation.attribute) ?? .text
        guard !hops.isEmpty else {
            return converted(end.map { "\(row).\($0.column)" } ?? "NULL", end?.type ?? type, type)
        }
        let steps = hops.indices.flatMap { step($0, from: $0 == 0 ? row : "t\($0)") }
        let tables = steps.map(\.table).joined(separator: ", ")
        let conditions = steps.map(\.on).joined(separator: " AND ")
        return "(SELECT \(result(type)) FROM \(tables) WHERE \(conditions))"
    }

    private func result(_ type: ServerType) -> String {
        let last = "t\(hops.count)"
        let value = end.map { "\(last).\($0.column)" } ?? "NULL"
        let from = end?.type ?? type
        switch derivation.source {
        case .count: return converted("count(*)", .bigint, type)
        case .sum where from == .double:
            // Added in the order of keys, as memory and the file store do. The sum of reals depends on the order.
            return converted("coalesce(sum(\(value) ORDER BY \(last).\(key)), 0) + 0", .double, type)
        case .sum: return converted("coalesce(sum(\(Self.exact(value, from))), 0)", .numeric, type)
        case .value, .text, .now: return converted(value, from, type)
        }
    }

    /// Converts an integer, Boolean or decimal to a decimal.
    static func exact(_ value: String, _ type: ServerType) -> String {
        type == .boolean ? "(\(value))::int4::numeric" : "(\(value))::numeric"
    }

    /// Converts a value to the type of another column. A real that becomes an integer loses its fraction, and is
    /// clamped if it is too large, as in the file store.
    func converted(_ value: String, _ from: ServerType, _ to: ServerType) -> String {
        if from == to { return value }
        switch (from, to) {
        case (.boolean, _): return converted("(\(value))::int4", .integer, to)
        case (_, .boolean): return "(\(value)) <> 0"
        case (.double, .bigint):
            return "(CASE WHEN \(value) >= 9.2e18 THEN LEAST(trunc((\(value))::numeric), 9223372036854775807)::bigint "
                + "WHEN \(value) <= -9.2e18 THEN GREATEST(trunc((\(value))::numeric), -9223372036854775808)::bigint "
                + "ELSE trunc(\(value))::bigint END)"
        case (.double, .numeric):
            return "(CASE WHEN abs(\(value)) <= 1.7976931348623157e308 THEN (\(value))::text::numeric END)"
        case (.numeric, .bigint): return Self.whole(value)
        default: return "(\(value))::\(to.rawValue)"
        }
    }

    /// Converts a decimal to an integer.
    static func whole(_ value: String) -> String {
        "LEAST(GREATEST(trunc(\(value)), -9223372036854775808), 9223372036854775807)::bigint"
    }
}
