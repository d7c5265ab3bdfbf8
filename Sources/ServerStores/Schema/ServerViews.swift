import CoreData

/// Views for people and other programs, one for each entity: the rows of the entity and its subentities with the names
/// of the model, and a `timestamptz` for each date. A view reads with the rights of the querying role.
struct ServerViews {
    let layout: ServerLayout

    private func quoted(_ name: String) -> String { layout.dialect.quoted(name) }

    private static let prefix = "_view_"

    /// The views with their entities, sorted by entity number. The names are unquoted, and different from all tables,
    /// indexes and sequences of the store.
    private var views: [(entity: NSEntityDescription, name: String)] {
        var taken = Set(layout.tables.flatMap { [$0.name, $0.sequence] } + layout.joinTables.map(\.name))
        taken.formUnion(layout.constraints.keys)
        return layout.entities.map { ($0, ServerNames.claim(Self.prefix + ($0.name ?? ""), &taken)) }
    }

    var names: [String] { views.map(\.name) }

    func statements() -> [String] {
        views.flatMap { entity, name in
            let text = layout.tableText(name)
            let family = layout.entities.filter { $0.isKindOf(entity: entity) }.map { "\(layout.number(of: $0))" }
            let condition = "t.\(quoted(ServerStoreTables.entity)) IN (\(family.joined(separator: ", ")))"
            return [
                "CREATE VIEW \(text) WITH (security_invoker = true) AS SELECT "
                    + columns(of: entity).joined(separator: ", ") + " FROM \(layout.tableText(of: entity)) AS t WHERE "
                    + condition,
                "COMMENT ON VIEW \(text) IS "
                    + SQLText.literal("Rows of \(entity.name ?? "") with dates as timestamptz, for reading"),
            ]
        }
    }

    func removals() -> [String] { names.map { "DROP VIEW IF EXISTS \(layout.tableText($0))" } }

    private func columns(of entity: NSEntityDescription) -> [String] {
        let found = layout.serverTable(of: entity).columns.filter { column in
            guard entity.isKindOf(entity: column.entity) else { return false }
            switch column.content {
            case .attribute, .element, .toOne: return true
            case .text, .destinationEntity, .position: return false
            }
        }
        var taken = Set(found.map(\.name) + [ServerStoreTables.key])
        return ["t.\(quoted(ServerStoreTables.key))"]
            + found.flatMap { column -> [String] in
                let text = "t.\(quoted(column.name))"
                guard Self.isDate(column) else { return [text] }
                let name = ServerNames.claim("\(column.name)_time", &taken)
                return [text, "\(Self.time(text)) AS \(quoted(name))"]
            }
    }

    private static func isDate(_ column: ServerColumn) -> Bool {
        switch column.content {
        case .attribute(let attribute): attribute.attributeType == .dateAttributeType
        case .element(_, let leaf): leaf.attribute.attributeType == .dateAttributeType
        case .text, .toOne, .destinationEntity, .position: false
        }
    }

    /// SQL for a date column as the server's time type. NULL for a time outside the type's range, because an error
    /// would break the whole view.
    private static func time(_ column: String) -> String {
        let seconds = "\(column) + 978307200"
        return "CASE WHEN \(seconds) >= -210866803200 AND \(seconds) < 9224318016000 "
            + "THEN pg_catalog.to_timestamp(\(seconds)) END"
    }
}
