import Foundation
import ModelFiles
import SQLiteAccess

/// The rows of the old version, as SQL that fills the tables of the new one.
final class MigrationSource {
    let old: TableLayout
    let new: TableLayout
    let difference: ModelDifference
    /// The tables that keep their rows, by old name, with their present names. All other tables of the old version have
    /// parked names. Set only after the contents of every table are planned. The tables have the old column names until
    /// all rows of other tables are moved.
    var staying: [String: String] = [:]

    init(old: TableLayout, new: TableLayout, difference: ModelDifference) {
        self.old = old
        self.new = new
        self.difference = difference
    }

    /// Returns the quoted name of a table of the old version while rows are moved.
    func placeOfOld(_ table: String) -> String {
        SQLName.quoted(staying[table] ?? LightweightMigration.parkedName(of: table))
    }

    /// Returns true if a table of the new version keeps its rows.
    func stays(_ table: String) -> Bool { staying.values.contains(table) }

    /// Returns the table of an entity of the old version.
    func oldTable(of entity: NSEntityDescription) -> String { old.table(of: entity) }

    /// Returns `CASE … END` from the old entity numbers to the new ones; NULL for removed entities.
    func renumbered(_ column: String, among entities: [NSEntityDescription]) -> String {
        let pairs = entities.compactMap { entity in
            difference.destination(of: entity).map { (old.number(of: entity), new.number(of: $0)) }
        }
        // Unchanged numbers need no rewriting, unless the column may have a removed entity.
        if pairs.count == entities.count, pairs.allSatisfy({ $0.0 == $0.1 }) { return column }
        if pairs.isEmpty { return "NULL" }
        return "CASE \(column) " + pairs.map { "WHEN \($0.0) THEN \($0.1)" }.joined(separator: " ") + " END"
    }

    // MARK: Relationships

    /// Returns the pairs of a relationship of the old version: `owner`, `member`, and `place` (or NULL).
    func pairs(of relationship: NSRelationshipDescription) -> String {
        guard relationship.isToMany else {
            let column = SQLName.quoted(old.column(of: relationship, in: relationship.entity) ?? "NULL")
            return "SELECT Z_PK AS owner, \(column) AS member, NULL AS place FROM "
                + "\(placeOfOld(oldTable(of: relationship.entity))) WHERE \(column) IS NOT NULL"
        }
        switch old.storage(of: relationship) {
        case .foreignKey(let column, let order):
            guard let destination = relationship.destinationEntity else { return Self.noPairs }
            let column = SQLName.quoted(column)
            return "SELECT \(column) AS owner, Z_PK AS member, \(order.map(SQLName.quoted) ?? "NULL") AS place FROM "
                + "\(placeOfOld(oldTable(of: destination))) WHERE \(column) IS NOT NULL"
        case .joinTable(let table, let owner, let member, let order):
            return "SELECT \(SQLName.quoted(owner)) AS owner, \(SQLName.quoted(member)) AS member, "
                + "\(order.map(SQLName.quoted) ?? "NULL") AS place FROM \(placeOfOld(table))"
        }
    }

    static let noPairs = "SELECT NULL AS owner, NULL AS member, NULL AS place WHERE 0"

    /// Returns the pairs of all source relationships of a relationship of the new version.
    func pairs(ofNew relationship: NSRelationshipDescription) -> String? {
        let parts = difference.sources(of: relationship).compactMap { pairs(of: $0) }
        return parts.isEmpty ? nil : parts.joined(separator: " UNION ALL ")
    }

    /// Returns a condition that keeps references to rows that still exist; `nil` if all do.
    func keptRows(of relationship: NSRelationshipDescription, _ column: String) -> String? {
        guard let destination = relationship.destinationEntity else { return nil }
        let family = destination.family
        let kept = family.filter { difference.destination(of: $0) != nil }
        guard kept.count < family.count else { return nil }
        let numbers = kept.map { "\(old.number(of: $0))" }.joined(separator: ", ")
        return "\(column) IN (SELECT Z_PK FROM \(placeOfOld(oldTable(of: destination))) WHERE Z_ENT IN (\(numbers)))"
    }

    // MARK: Defaults

    /// Returns the default value of an attribute as stored in its column.
    static func defaultValue(of attribute: NSAttributeDescription) throws -> SQLiteValue {
        guard let value = attribute.defaultValue, let slot = AttributeCoercion.slotValue(value, for: attribute) else {
            return .null
        }
        switch slot {
        case .null, .reference: return .null
        case .integer(let number): return .integer(number)
        case .real(let number): return .real(number)
        case .text(let text): return .text(text)
        case .data(let data):
            return .blob(attribute.allowsExternalBinaryDataStorage ? ExternalData.inline(data) : data)
        case .uuid(let uuid): return .blob(uuid.bytes)
        case .decimal(let number): return DecimalCoding.value(of: number)
        case .object(let object):
            return try TransformableCoding.data(from: object, attribute: attribute).map { .blob($0) } ?? .null
        }
    }
}

extension SQLiteValue {
    /// The value as an SQL literal.
    var literal: String {
        switch self {
        case .null: "NULL"
        case .integer(let number): "\(number)"
        case .real(let number):
            number.isFinite ? "\(number)" : number.isNaN ? "NULL" : number < 0 ? "-9e999" : "9e999"
        // SQLite ends a statement at a zero character.
        case .text(let text) where text.utf8.contains(0):
            "CAST(\(SQLiteValue.blob(Data(text.utf8)).literal) AS TEXT)"
        case .text(let text): SQLText.literal(text)
        case .blob(let data): "x'" + data.map { String(format: "%02x", $0) }.joined() + "'"
        }
    }
}
