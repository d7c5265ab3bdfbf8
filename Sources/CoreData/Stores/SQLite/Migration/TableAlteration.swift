/// A change of a table of the old version to one of the new version that keeps its rows in place.
///
/// SQLite stores column names, and the default of an added column, only in the schema, and rewrites no rows for them. A
/// dropped column rewrites all rows. With the kept indexes that is still cheaper than filling another table, up to the
/// number of columns in ``fits(_:defers:)``. Added columns follow the others, because statements name their columns.
struct TableAlteration {
    /// An added column.
    struct Addition {
        let name: String
        let type: String
        /// The value in all rows as a literal; `nil` for NULL.
        let initial: String?
    }

    /// A value that is written to the rows of some entities.
    struct Filling {
        let column: String
        let literal: String
        /// The condition for rows that lack the value; `nil` if all do.
        let condition: String?
        /// The entity numbers of the new version.
        var entities: [Int64]
    }

    // Names of tables and columns are without SQL quotation marks.
    let oldName: String
    let name: String
    /// The columns of the old version.
    let oldColumns: [String]
    var renamed: [(from: String, to: String)] = []
    var dropped: [String] = []
    var added: [Addition] = []
    private(set) var fillings: [Filling] = []

    /// True if only entity numbers change.
    var isNothing: Bool { keepsColumns && oldName == name }

    private var keepsColumns: Bool {
        renamed.isEmpty && dropped.isEmpty && added.isEmpty && fillings.isEmpty
    }

    /// True if views may refer to a table or column that no longer exists after the change.
    var takesNames: Bool { !renamed.isEmpty || !dropped.isEmpty || oldName != name }

    mutating func fill(_ column: String, _ literal: String, where condition: String?, in entity: Int64) {
        let same = fillings.firstIndex { $0.column == column && $0.literal == literal && $0.condition == condition }
        if let same {
            fillings[same].entities.append(entity)
        } else {
            fillings.append(Filling(column: column, literal: literal, condition: condition, entities: [entity]))
        }
    }

    // MARK: Feasibility

    /// A table in the file.
    struct StandingTable {
        /// The names of the columns in upper case, including columns unknown to the model.
        let columns: Set<String>
        let sql: String
        let indexCount: Int
        let hasForeignIndexes: Bool
        /// True if SQLite can drop columns at all.
        let dropsColumns: Bool
    }

    /// The maximum in SQLite.
    private static let mostColumns = 2_000

    /// True if SQLite can change the file's table, and faster than it can fill another one. Measured with 10⁶ rows:
    /// dropping a column takes half of the time to fill a table, creating an index two thirds.
    func fits(_ table: StandingTable, defers: Bool) -> Bool {
        if keepsColumns { return true }
        let foreign = table.columns.subtracting((oldColumns + ["Z_PK", "Z_ENT", "Z_OPT"]).map { $0.uppercased() })
        let names = wanted.union((renamed.map(\.from) + dropped).map(parked))
        guard foreign.isDisjoint(with: names.map { $0.uppercased() }) else { return false }
        guard table.columns.count + added.count <= Self.mostColumns, !Self.hasConditions(table.sql) else {
            return false
        }
        if dropped.isEmpty { return true }
        // A deferred column keeps its name until it is dropped.
        if defers { return wanted.isDisjoint(with: dropped) }
        return table.dropsColumns && !table.hasForeignIndexes && dropped.count <= 1 + table.indexCount
    }

    /// True if a definition, then by another program, has more than types and defaults of columns.
    private static func hasConditions(_ sql: String) -> Bool {
        let refused: Set<Substring> = [
            "CHECK", "UNIQUE", "GENERATED", "AS", "REFERENCES", "FOREIGN", "CONSTRAINT", "STRICT", "WITHOUT",
        ]
        // Removes quoted text. A doubled quote counts as the end of one text and the beginning of the next.
        let bare = sql.replacing(/'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]/, with: " ").uppercased()
        return !refused.isDisjoint(with: bare.split { !$0.isLetter && !$0.isNumber && $0 != "_" })
    }

    // MARK: Statements

    private var wanted: Set<String> { Set(renamed.map(\.to) + added.map(\.name)) }

    private func parked(_ column: String) -> String { LightweightMigration.parkedName(of: column) }

    private var start: String { "ALTER TABLE \(SQLName.quoted(name))" }

    /// Returns the statements that rename columns. They first free names that are taken, also by columns to be dropped.
    func renamings() -> [String] {
        func rename(_ from: String, _ to: String) -> String {
            "\(start) RENAME COLUMN \(SQLName.quoted(from)) TO \(SQLName.quoted(to))"
        }
        let taken = Set(renamed.map(\.from))
        let waiting = renamed.filter { taken.contains($0.to) }
        return dropped.filter(wanted.contains).map { rename($0, parked($0)) }
            + waiting.map { rename($0.from, parked($0.from)) }
            + renamed.filter { !taken.contains($0.to) }.map { rename($0.from, $0.to) }
            + waiting.map { rename(parked($0.from), $0.to) }
    }

    /// Returns the statements that drop columns. They run after the renamings, when no index names a dropped column.
    func droppings() -> [String] {
        dropped.map { "\(start) DROP COLUMN \(SQLName.quoted(wanted.contains($0) ? parked($0) : $0))" }
    }

    func additions() -> [String] {
        added.map { column in
            "\(start) ADD COLUMN \(SQLName.quoted(column.name)) \(column.type)"
                + (column.initial.map { " DEFAULT \($0)" } ?? "")
        }
    }

    /// Returns the statements that write rows. They fail if values are not unique although they must be.
    func fillingStatements() -> [String] {
        fillings.map { filling in
            let numbers = filling.entities.map(String.init).joined(separator: ", ")
            let column = SQLName.quoted(filling.column)
            return "UPDATE \(SQLName.quoted(name)) SET \(column) = \(filling.literal) WHERE "
                + (filling.condition.map { "\(column) \($0) AND " } ?? "") + "Z_ENT IN (\(numbers))"
        }
    }
}

extension TableMigration {
    /// Returns the change that keeps the table's rows in place; `nil` if they have to be moved.
    func alteration() throws -> TableAlteration? {
        guard let oldTable, pairs.count == oldTable.entities.count else { return nil }
        var made = TableAlteration(
            oldName: oldTable.name, name: table.name, oldColumns: oldTable.columns.map(\.name))
        var unclaimed: [String: String] = [:]
        for column in oldTable.columns { unclaimed[column.name] = column.declaredType }
        for column in table.columns {
            guard try keep(column, &unclaimed, in: &made) else { return nil }
        }
        made.dropped = oldTable.columns.map(\.name).filter { unclaimed[$0] != nil }
        return made
    }

    /// - Returns: true if the column can be made without moving the rows.
    private func keep(
        _ column: TableColumn, _ unclaimed: inout [String: String], in made: inout TableAlteration
    ) throws -> Bool {
        let origins = try origins(of: column)
        guard !origins.contains(where: \.origin.isComputed), !isFilledFromPairs(column) else { return false }
        let sources = Set(origins.compactMap(\.origin.sourceColumn))
        guard let source = sources.first else {
            add(column, origins, to: &made)
            return true
        }
        guard sources.count == 1, unclaimed.removeValue(forKey: source) == column.declaredType else { return false }
        if source != column.name { made.renamed.append((source, column.name)) }
        for (pair, origin) in origins where !pair.old.isAbstract {
            switch origin {
            case .filled(_, let literal): made.fill(column.name, literal, where: "IS NULL", in: number(of: pair))
            case .constant(let literal):
                made.fill(column.name, literal, where: "IS NOT \(literal)", in: number(of: pair))
            case .column, .computed: break
            }
        }
        for pair in losing(source, now: origins.map(\.pair)) where !pair.old.isAbstract {
            made.fill(column.name, "NULL", where: "IS NOT NULL", in: number(of: pair))
        }
        return true
    }

    private func number(of pair: Pair) -> Int64 { source.new.number(of: pair.new) }

    /// Adds a column. Existing rows get their value from a default in the schema if it is the same for all entities of
    /// the table, otherwise from UPDATE statements.
    private func add(
        _ column: TableColumn, _ origins: [(pair: Pair, origin: ColumnOrigin)], to made: inout TableAlteration
    ) {
        let literals = Set(origins.map(\.origin.text)).subtracting(["NULL"])
        let isOne = column.entity === table.root && origins.allSatisfy { $0.origin == origins.first?.origin }
        if isOne, let literal = literals.first, Self.mayBeDefault(literal) {
            made.added.append(.init(name: column.name, type: column.declaredType, initial: literal))
            return
        }
        made.added.append(.init(name: column.name, type: column.declaredType, initial: nil))
        for (pair, origin) in origins where origin != .nothing && !pair.old.isAbstract {
            made.fill(column.name, origin.text, where: nil, in: number(of: pair))
        }
    }

    /// True if a literal can be a column's default. SQLite accepts no CAST there, and a long literal would slow down
    /// each opening of the file.
    private static func mayBeDefault(_ literal: String) -> Bool {
        literal.utf8.count <= 1_000 && !literal.hasPrefix("CAST")
    }
}
