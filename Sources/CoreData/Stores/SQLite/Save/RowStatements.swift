import SQLiteAccess

/// The cached statements that write rows of one entity.
final class RowStatements {
    /// A slot with columns. A class, because the writer accesses one for each value.
    final class Column {
        let slot: Int
        let property: NSPropertyDescription
        let coding: ValueCoding
        let name: String
        /// The values of a composite attribute with their columns.
        let elements: [(leaf: NSCompositeAttributeDescription.Leaf, coding: ValueCoding, name: String)]
        /// The entity column of a to-one relationship to several entities.
        let entityName: String?
        /// The position column of a to-one relationship whose inverse is ordered.
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

        /// True if one column is enough and its value needs no conversion.
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
    /// The quoted name.
    let table: String
    let number: Int64
    /// The columns to write, without derived attributes, which triggers update.
    let columns: [Column]
    /// The slots of the columns if all are plain. An insert then needs no access to `columns`.
    let plainSlots: [Int]?
    let insertText: String
    /// The parameters of a row without its key.
    private let insertPlaces: String
    /// The rows per statement. Inserting many rows in a statement takes two thirds of the time per row.
    static let rowsAtOnce = 32
    private static let mostPlaces = 1_000
    /// Reads the columns of external data; `nil` if the entity has none.
    let externalDataText: String?
    private let columnOfSlot: [Int: Int]
    private var updates: [[Int]: Update] = [:]

    /// An UPDATE of some of the columns.
    struct Update {
        let text: String
        let columns: [Column]
        /// Reads the present values of changed external data columns; `nil` if there are none.
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
        // Columns of other entities and derived columns are set to NULL if the file has a default for them.
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

    /// Returns the statement that writes `slots` (ascending) and the version, if the row still has its base version.
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

    /// Inserts ``rowsAtOnce`` rows; `nil` if a column is not plain, or if there are too many columns for a gain.
    var insertManyText: String? { manyText(otherKeys: "?") }

    /// Inserts consecutive keys greater than all keys of the table, with a parameter for the first key only. SQLite
    /// generates the others, which saves a seventh of the time that lookups take. For tables without triggers.
    var appendManyText: String? { manyText(otherKeys: "NULL").map(Self.withoutJournal) }

    /// Inserts ``rowsAtOnce`` rows into a table without triggers; `nil` as for ``insertManyText``.
    var insertSetText: String? { insertManyText.map(Self.withoutJournal) }

    /// A statement of many rows that may fail copies each page that it changes, so that its first rows can be rolled
    /// back; with an index that takes longer than everything else. OR FAIL avoids the copies, because callers roll back
    /// the whole transaction. Not for tables with triggers, whose own conflict clauses it would override.
    private static func withoutJournal(_ text: String) -> String {
        "INSERT OR FAIL" + text.dropFirst("INSERT".count)
    }

    private func manyText(otherKeys: String) -> String? {
        // A plain column has one parameter. Three more are the key, the entity and the version.
        guard plainSlots != nil, (columns.count + 3) * Self.rowsAtOnce <= Self.mostPlaces else { return nil }
        let others = repeatElement(", (\(otherKeys), \(insertPlaces))", count: Self.rowsAtOnce - 1)
        return insertText + others.joined()
    }

    var deleteText: String { "DELETE FROM \(table) WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?" }
    var setVersionText: String { "UPDATE \(table) SET Z_OPT = ? WHERE Z_PK = ?" }
    var lastKeyText: String { "SELECT MAX(Z_PK) FROM \(table)" }
    var versionText: String { "SELECT IFNULL(Z_OPT, 0) FROM \(table) WHERE Z_PK = ? AND Z_ENT = \(number)" }

    /// Returns the number of triggers of a table, given its name.
    static let triggerCountText =
        "SELECT COUNT(*) FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE"

    /// Checks an insertion of `count` rows, because a trigger of another program can skip rows or insert others.
    ///
    /// - Parameter id: the ID of the last row.
    @inline(__always)
    func checkInserted(_ count: Int, upTo id: NSManagedObjectID, _ connection: Connection) throws {
        guard connection.changes == count, connection.lastInsertedRowID == id.savedKey else {
            throw CoreDataError.make(
                134030,
                "Cannot save \(entity.name ?? ""): SQLite did not insert all rows up to '\(id)' unchanged. "
                    + "Triggers of the table \(tableName) may have changed them.")
        }
    }
}
