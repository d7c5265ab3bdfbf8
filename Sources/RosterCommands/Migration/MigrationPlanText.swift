import CoreData
import Foundation

/// A migration step as lines for people.
struct MigrationPlanText {
    let plan: MigrationPlan
    /// True to include tables and statements.
    let isWhole: Bool
    let type: NSPersistentStore.StoreType

    /// One line for each change.
    var lines: [String] {
        let step = plan.step
        let way =
            (step.isInferred ? "inferred, " : "by a mapping model, ")
            + (step.isInPlace ? "in place" : "into a new file")
        let head = "\(plan.number). \(step.source.name) → \(step.destination.name), \(way)"
        return [head] + plan.entities.map { "   " + text(of: $0) } + (isWhole ? fileLines : [])
    }

    // MARK: Entities

    private func text(of entity: MigrationPlan.EntityChange) -> String {
        switch entity.kind {
        case .added: "+ \(entity.name)"
        case .removed: "− \(entity.name)\(Self.count(entity.records, "record"))"
        case .changed: Self.changed(entity)
        }
    }

    private static func changed(_ entity: MigrationPlan.EntityChange) -> String {
        var parts = entity.properties.map { property in
            switch property.kind {
            case .added: "+ \(property.name)"
            case .renamed: "\(property.formerName ?? "") → \(property.name)"
            case .changed: "~ \(property.name)"
            case .removed: "− \(property.name)"
            }
        }
        if let policy = entity.policy { parts.append("by \(policy)") }
        let former = entity.formerName ?? entity.name
        let name = former == entity.name ? former : "\(former) → \(entity.name)"
        return "~ \(name)\(count(entity.records, "record"))"
            + (parts.isEmpty ? "" : ": " + parts.joined(separator: ", "))
    }

    private static func count(_ number: Int?, _ word: String) -> String {
        guard let number else { return "" }
        return number == 1 ? " (1 \(word))" : " (\(number) \(word)s)"
    }

    // MARK: The file

    private var fileLines: [String] {
        guard let file = plan.file else {
            return [
                type == .postgreSQL
                    ? "   no SQL: a mapping model cannot migrate a store on a server"
                    : "   no SQL: the whole file is rewritten"
            ]
        }
        let tables = file.tables.filter { $0.work != .kept }.map { "     " + text(of: $0) }
        let heading =
            plan.step.isInPlace ? "   SQL:" : "   SQL of the new file, to which the records are copied one by one:"
        return (tables.isEmpty ? [] : ["   tables:"] + tables)
            + [heading] + file.statements.map { "     \($0);" }
    }

    private func text(of table: LightweightMigrationPlan.Table) -> String {
        let rows = Self.count(plan.rows(of: table), "row")
        let former = table.formerName ?? table.name
        let name = former == table.name ? former : "\(former) → \(table.name)"
        let head =
            switch table.work {
            case .kept: "= \(name)\(rows)"
            case .altered: "~ \(name)\(rows), altered in place"
            case .moved: "~ \(name)\(rows), rebuilt, rows are copied"
            case .made: "+ \(name)"
            case .dropped: "− \(name)\(rows)"
            }
        let columns = table.columns.map { column in
            switch column.change {
            case .added: "+ \(column.name) \(column.type)"
            case .renamed: "\(column.formerName ?? "") → \(column.name)"
            case .rewritten: "~ \(column.name) \(column.type)"
            case .dropped: "− \(column.name)"
            }
        }
        return head + (columns.isEmpty ? "" : ": " + columns.joined(separator: ", "))
    }
}
