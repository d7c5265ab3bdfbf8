import SQLiteAccess

/// The statements that write rows of one entity, worked out once.
final class RowStatements {
    /// One slot that has columns. An object, because the writer takes one up for each value.
    final class Column {
        let slot: Int
        let property: NSPropertyDescription
        let coding: ValueCoding
        let name: String
        /// For a composite attribute: its values, each with its column.
        let elements: [(leaf: NSCompositeAttributeDescription.Leaf, coding: ValueCoding, name: String)]
        /// For a to-one relationship to an entity family.
        let entityName: String?
        /// For a to-one relationship whose inverse is ordered.
        let positionName: String?

        init(
            slot: Int, property: NSPropertyDescription, coding: ValueCoding, name: String,
            elements: [(leaf: NSCompositeAttributeDescription.Leaf, coding: ValueCoding, name: String)] = [],
            entityName: String?, positionName: String?
        ) {
            self.slot = slot
            self.property = property
            self.coding = coding
            self.name = name
            self.elements = elements
            self.entityName = entityName
            self.positionName = positionName
        }

        /// True if the slot's value alone fills the column, by its kind.
        var isPlain: Bool {
            switch coding {
            case .composite, .externalData, .transformable, .decimal: false
            default: entityName == nil && positionName == nil
            }
        }

        var names: [String] {
            let all = coding == .composite ? elements.map(\.name) : [name, entityName, positionName].compactMap(\.self)
            return all.map(SQLName.quoted)
        }

        /// The unquoted names of the columns that may refer to files.
        var externalNames: [String] {
            if coding == .composite { return elements.filter { $0.coding == .externalData }.map(\.name) }
            return coding == .externalData ? [name] : []
        }
    }

    let entity: NSEntityDescription
    let tableName: String
    /// The name, quoted.
    let table: String
    let number: Int64
    /// The columns that are written: those of derived attributes are kept by triggers.
    let columns: [Column]
    /// The slots of the columns if all are plain: what an insert goes by for every row, without taking columns up.
    let plainSlots: [Int]?
    let insertText: String
    /// The places of a row, without its key.
    private let insertPlaces: String
    /// A statement that inserts many rows takes two thirds of the time for each of them.
    static let rowsAtOnce = 32
    private static let mostPlaces = 1_000
    /// Reads the columns of external data; `nil` where the entity has none.
    let externalDataText: String?
    private let columnOfSlot: [Int: Int]
    private var updates: [[Int]: Update] = [:]

    /// An UPDATE of some of the columns.
    struct Update {
        let text: String
        let columns: [Column]
        /// Reads the changed columns of external data as they are; `nil` if there are none.
        let externalDataText: String?
    }

    init(entity: NSEntityDescription, layout: TableLayout) {
        self.entity = entity
        self.tableName = layout.table(of: entity)
        self.table = SQLName.quoted(tableName)
        self.number = layout.number(of: entity)
        var columns: [Column] = []
        for (slot, property) in entity.layout.slots.enumerated() where !(property is NSDerivedAttributeDescription) {
            if let composite = property as? NSCompositeAttributeDescription {
                columns += Self.column(composite, slot: slot, layout: layout)
                continue
            }
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
        self.plainSlots = columns.allSatisfy(\.isPlain) ? columns.map(\.slot) : nil
        self.externalDataText = Self.externalDataText(columns, table: table)
        let names = ["Z_PK", "Z_ENT", "Z_OPT"] + columns.flatMap(\.names)
        // Columns of other entities, and derived ones, would not stay empty where the file has a default for them.
        let others = (layout.columnsWithDefault[tableName] ?? []).map(SQLName.quoted).filter { !names.contains($0) }
        let places =
            ["\(number)", "1"] + Array(repeating: "?", count: names.count - 3)
            + Array(repeating: "NULL", count: others.count)
        self.insertPlaces = places.joined(separator: ", ")
        self.insertText =
            "INSERT INTO \(table) (\((names + others).joined(separator: ", "))) VALUES (?, \(insertPlaces))"
        self.columnOfSlot = Dictionary(
            columns.enumerated().map { ($0.element.slot, $0.offset) }, uniquingKeysWith: { first, _ in first })
    }

    private static func column(
        _ composite: NSCompositeAttributeDescription, slot: Int, layout: TableLayout
    ) -> [Column] {
        let elements = composite.leaves.compactMap { leaf in
            ValueCoding(leaf.attribute).flatMap { coding in
                layout.column(of: composite, at: leaf.path).map { (leaf: leaf, coding: coding, name: $0) }
            }
        }
        guard let first = elements.first else { return [] }
        return [
            Column(
                slot: slot, property: composite, coding: .composite, name: first.name, elements: elements,
                entityName: nil, positionName: nil)
        ]
    }

    /// The statement that writes `slots` (ascending) and the version, if the row still has its base version.
    func update(of slots: [Int]) -> Update {
        if let known = updates[slots] { return known }
        let changed = slots.compactMap { columnOfSlot[$0].map { columns[$0] } }
        let terms = changed.flatMap(\.names).map { "\($0) = ?" } + ["Z_OPT = ?"]
        let made = Update(
            text: "UPDATE \(table) SET \(terms.joined(separator: ", ")) WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?",
            columns: changed, externalDataText: Self.externalDataText(changed, table: table))
        updates[slots] = made
        return made
    }

    private static func externalDataText(_ columns: [Column], table: String) -> String? {
        let names = columns.flatMap(\.externalNames).map(SQLName.quoted)
        return names.isEmpty ? nil : "SELECT \(names.joined(separator: ", ")) FROM \(table) WHERE Z_PK = ?"
    }

    /// Inserts ``rowsAtOnce`` rows; `nil` where the columns are not plain, or so many that it would gain nothing.
    var insertManyText: String? { manyText(otherKeys: "?") }

    /// The same for keys that follow on each other and on all that there are: only that of the first row has a place. SQLite
    /// gives the others theirs, which takes a seventh less time than to look up whether each is free. For tables without triggers.
    var appendManyText: String? { manyText(otherKeys: "NULL").map(Self.withoutJournal) }

    /// As ``insertManyText``, for tables without triggers.
    var insertSetText: String? { insertManyText.map(Self.withoutJournal) }

    /// A statement of many rows that may fail keeps a copy of each page that it changes, to take its first rows back: with an
    /// index that takes longer than all the rest. Who writes here takes the whole transaction back. Not where triggers have
    /// a say of their own in conflicts, which this would overrule.
    private static func withoutJournal(_ text: String) -> String {
        "INSERT OR FAIL" + text.dropFirst("INSERT".count)
    }

    private func manyText(otherKeys: String) -> String? {
        // A plain column has one place; the key, the entity and the version are three more.
        guard plainSlots != nil, (columns.count + 3) * Self.rowsAtOnce <= Self.mostPlaces else { return nil }
        let others = repeatElement(", (\(otherKeys), \(insertPlaces))", count: Self.rowsAtOnce - 1)
        return insertText + others.joined()
    }

    var deleteText: String { "DELETE FROM \(table) WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?" }
    var setVersionText: String { "UPDATE \(table) SET Z_OPT = ? WHERE Z_PK = ?" }
    var lastKeyText: String { "SELECT MAX(Z_PK) FROM \(table)" }
    var versionText: String { "SELECT IFNULL(Z_OPT, 0) FROM \(table) WHERE Z_PK = ? AND Z_ENT = \(number)" }

    /// Counts the triggers of a table by its name.
    static let triggerCountText =
        "SELECT COUNT(*) FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE"

    /// What follows an insertion of `count` rows: a trigger that another program made can leave rows out, and put
    /// others between.
    ///
    /// - Parameter id: that of the last row.
    @inline(__always)
    func checkInserted(_ count: Int, upTo id: NSManagedObjectID, _ connection: Connection) throws {
        guard connection.changes == count, connection.lastInsertedRowID == id.savedKey else {
            throw CoreDataError.make(
                134030,
                "Cannot save \(entity.name ?? ""): not every row up to that of '\(id)' was inserted as it is. "
                    + "Look for triggers of the table \(tableName).")
        }
    }
}
