import SQLiteAccess

/// The statements that write rows of one entity, worked out once.
final class RowStatements {
    /// One slot that has columns.
    struct Column {
        let slot: Int
        let property: NSPropertyDescription
        let coding: ValueCoding
        let name: String
        /// For a to-one relationship to an entity family.
        let entityName: String?
        /// For a to-one relationship whose inverse is ordered.
        let positionName: String?

        var names: [String] { [name, entityName, positionName].compactMap(\.self).map(SQLName.quoted) }
    }

    let entity: NSEntityDescription
    let table: String
    let number: Int64
    /// The columns that are written: those of derived attributes are kept by triggers.
    let columns: [Column]
    let insertText: String
    private let columnOfSlot: [Int: Int]
    private var updates: [[Int]: Update] = [:]

    /// An UPDATE of some of the columns.
    struct Update {
        let text: String
        let columns: [Column]
    }

    init(entity: NSEntityDescription, layout: TableLayout) {
        self.entity = entity
        self.table = SQLName.quoted(layout.table(of: entity))
        self.number = layout.number(of: entity)
        var columns: [Column] = []
        for (slot, property) in entity.layout.slots.enumerated() where !(property is NSDerivedAttributeDescription) {
            guard let name = layout.column(of: property, in: entity) else { continue }
            let toOne = property as? NSRelationshipDescription
            let coding = (property as? NSAttributeDescription).flatMap { ValueCoding($0) } ?? .reference
            columns.append(
                Column(
                    slot: slot, property: property, coding: coding, name: name,
                    entityName: toOne.flatMap { layout.entityColumn(of: $0, in: entity) },
                    positionName: toOne.flatMap { layout.positionColumn(of: $0) }))
        }
        self.columns = columns
        let names = ["Z_PK", "Z_ENT", "Z_OPT"] + columns.flatMap(\.names)
        let places = ["?", "\(number)", "1"] + Array(repeating: "?", count: names.count - 3)
        self.insertText =
            "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(places.joined(separator: ", ")))"
        self.columnOfSlot = Dictionary(
            columns.enumerated().map { ($0.element.slot, $0.offset) }, uniquingKeysWith: { first, _ in first })
    }

    /// The statement that writes `slots` (ascending) and the version, if the row still has its base version.
    func update(of slots: [Int]) -> Update {
        if let known = updates[slots] { return known }
        let changed = slots.compactMap { columnOfSlot[$0].map { columns[$0] } }
        let terms = changed.flatMap(\.names).map { "\($0) = ?" } + ["Z_OPT = ?"]
        let made = Update(
            text: "UPDATE \(table) SET \(terms.joined(separator: ", ")) WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?",
            columns: changed)
        updates[slots] = made
        return made
    }

    var deleteText: String { "DELETE FROM \(table) WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?" }
    var versionText: String { "SELECT IFNULL(Z_OPT, 0) FROM \(table) WHERE Z_PK = ? AND Z_ENT = \(number)" }
}
