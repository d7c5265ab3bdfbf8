/// The alteration of a table of the old version to one of the new version, with its rows in place.
///
/// SQLite keeps names of columns, and the default of one that is added, in the schema alone, and rewrites no row for them. It
/// rewrites all rows for a column that is dropped, which with the indexes that stay is still less than to fill another
/// table; how many may be dropped says ``fits(_:defers:)``. Columns that are added stand behind the others: statements
/// name the columns that they mean.
struct TableAlteration {
    /// A column that is added.
    struct Addition {
        let name: String
        let type: String
        /// The value in all rows, as a literal; `nil` for NULL.
        let initial: String?
    }

    /// Values that are written to the rows of some entities.
    struct Filling {
        let column: String
        let literal: String
        /// The rows that lack the value; `nil` if all do.
        let condition: String?
        /// By the new version.
        var entities: [Int64]
    }

    // All names are unquoted.
    let oldName: String
    let name: String
    /// The columns that the old version had.
    let oldColumns: [String]
    var renamed: [(from: String, to: String)] = []
    var dropped: [String] = []
    var added: [Addition] = []
    private(set) var fillings: [Filling] = []

    /// True if only the numbers of entities change.
    var isNothing: Bool { keepsColumns && oldName == name }

    private var keepsColumns: Bool {
        renamed.isEmpty && dropped.isEmpty && added.isEmpty && fillings.isEmpty
    }

    /// True if statements of views may name what is not there afterwards.
    var takesNames: Bool { !renamed.isEmpty || !dropped.isEmpty || oldName != name }

    mutating func fill(_ column: String, _ literal: String, where condition: String?, in entity: Int64) {
        let same = fillings.firstIndex { $0.column == column && $0.literal == literal && $0.condition == condition }
        if let same {
            fillings[same].entities.append(entity)
        } else {
            fillings.append(Filling(column: column, literal: literal, condition: condition, entities: [entity]))
        }
    }

    // MARK: Whether it can be done

    /// A table as it stands in the file.
    struct StandingTable {
        /// In upper case, with those that the model does not know.
        let columns: Set<String>
        let sql: String
        let indexCount: Int
        let hasForeignIndexes: Bool
        /// True if SQLite can drop columns at all.
        let dropsColumns: Bool
    }

    /// SQLite's limit.
    private static let mostColumns = 2_000

    /// Whether SQLite can make the changes in a table of the file, and in less time than another table would take. Measured with
    /// 10⁶ rows: a column that is dropped takes half of that time, an index that is made anew two thirds.
    func fits(_ table: StandingTable, defers: Bool) -> Bool {
        if keepsColumns { return true }
        let foreign = table.columns.subtracting((oldColumns + ["Z_PK", "Z_ENT", "Z_OPT"]).map { $0.uppercased() })
        let names = wanted.union((renamed.map(\.from) + dropped).map(parked))
        guard foreign.isDisjoint(with: names.map { $0.uppercased() }) else { return false }
        guard table.columns.count + added.count <= Self.mostColumns, !Self.hasConditions(table.sql) else {
            return false
        }
        if dropped.isEmpty { return true }
        // What waits to be dropped keeps its name until then.
        if defers { return wanted.isDisjoint(with: dropped) }
        return table.dropsColumns && !table.hasForeignIndexes && dropped.count <= 1 + table.indexCount
    }

    /// Whether a definition, which another program made then, says more of its columns than their types and defaults.
    private static func hasConditions(_ sql: String) -> Bool {
        let refused: Set<Substring> = [
            "CHECK", "UNIQUE", "GENERATED", "AS", "REFERENCES", "FOREIGN", "CONSTRAINT", "STRICT", "WITHOUT",
        ]
        // Whatever stands between quotes, with a doubled quote as the end of one and the beginning of the next.
        let bare = sql.replacing(/'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]/, with: " ").uppercased()
        return !refused.isDisjoint(with: bare.split { !$0.isLetter && !$0.isNumber && $0 != "_" })
    }

    // MARK: Statements

    private var wanted: Set<String> { Set(renamed.map(\.to) + added.map(\.name)) }

    private func parked(_ column: String) -> String { LightweightMigration.parkedName(of: column) }

    private var start: String { "ALTER TABLE \(SQLName.quoted(name))" }

    /// What gives columns their new names. Names that are taken become free first, those of columns that are to be dropped too.
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

    /// What follows the renamings, once no index names a column that goes.
    func droppings() -> [String] {
        dropped.map { "\(start) DROP COLUMN \(SQLName.quoted(wanted.contains($0) ? parked($0) : $0))" }
    }

    func additions() -> [String] {
        added.map { column in
            "\(start) ADD COLUMN \(SQLName.quoted(column.name)) \(column.type)"
                + (column.initial.map { " DEFAULT \($0)" } ?? "")
        }
    }

    /// What writes to rows. May find values that must be unique and are not.
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
    /// How the table can become what it shall be with its rows where they are; `nil` where they have to be moved.
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

    /// - Returns: whether the column can come without the rows being moved.
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

    /// A default in the schema is one for rows of all entities: the column of a subentity gets it row by row.
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

    /// SQLite takes plain literals only, and reads the schema whenever the file is opened.
    private static func mayBeDefault(_ literal: String) -> Bool {
        literal.utf8.count <= 1_000 && !literal.hasPrefix("CAST")
    }
}
