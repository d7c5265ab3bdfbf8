import CoreData

extension MigrationPlan {
    /// The plan for programs.
    var json: JSONValue {
        .object([
            ("step", .integer(number)), ("from", .string(step.source.name)), ("to", .string(step.destination.name)),
            ("way", .string(step.isInferred ? "inferred" : "mapping model")),
            ("file", .string(step.isInPlace ? "same" : "new")), ("entities", .array(entities.map(Self.json))),
            ("tables", file.map { .array($0.tables.map(json)) } ?? .null),
            ("sql", file.map { .array($0.statements.map { .string($0) }) } ?? .null),
        ])
    }

    private static func json(_ entity: EntityChange) -> JSONValue {
        .object([
            ("change", .string(entity.kind.rawValue)), ("entity", .string(entity.name)),
            ("former", text(entity.formerName)), ("records", number(entity.records)),
            (
                "properties",
                .array(
                    entity.properties.map { property in
                        .object([
                            ("change", .string(property.kind.rawValue)), ("property", .string(property.name)),
                            ("former", text(property.formerName)),
                        ])
                    })
            ), ("policy", text(entity.policy)),
        ])
    }

    private func json(_ table: LightweightMigrationPlan.Table) -> JSONValue {
        .object([
            ("change", .string(table.work.rawValue)), ("table", .string(table.name)),
            ("former", Self.text(table.formerName)), ("rows", Self.number(rows(of: table))),
            (
                "columns",
                .array(
                    table.columns.map { column in
                        .object([
                            ("change", .string(column.change.rawValue)), ("column", .string(column.name)),
                            ("former", Self.text(column.formerName)), ("type", .string(column.type)),
                        ])
                    })
            ),
        ])
    }

    private static func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    private static func number(_ value: Int?) -> JSONValue { value.map { .integer($0) } ?? .null }
}
