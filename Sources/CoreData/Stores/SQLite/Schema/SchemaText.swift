/// The statements that create a store's tables, in the order and style of Apple's framework.
struct SchemaText {
    let layout: TableLayout

    /// Tables, then indexes, triggers, and bookkeeping tables, without the history's.
    ///
    /// - Throws: 134060 for a derived attribute that is not supported.
    func statements() throws -> [String] { entityTables() + indexes() + (try triggers()) + bookkeepingTables() }

    /// Each entity table, followed by the join tables named after its entities.
    func entityTables() -> [String] {
        layout.tables.flatMap { table in
            [create(table.name, table.columns.map { ($0.name, $0.declaredType) })]
                + joinTables(namedBy: table).map(create)
        }
    }

    private func joinTables(namedBy table: EntityTable) -> [JoinTable] {
        layout.joinTables.filter { $0.namer.root === table.root }.map(\.table)
    }

    private func create(_ name: String, _ columns: [(name: String, type: String)]) -> String {
        let own = columns.map { "\(SQLName.quoted($0.name)) \($0.type)" }
        let all = ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"] + own
        return "CREATE TABLE \(SQLName.quoted(name)) ( \(all.joined(separator: ", ")) )"
    }

    private func create(_ table: JoinTable) -> String {
        let columns = table.columns.map { "\(SQLName.quoted($0)) INTEGER" }
        let key = [table.first.column, table.second.column].map(SQLName.quoted).joined(separator: ", ")
        return "CREATE TABLE \(SQLName.quoted(table.name)) ( \(columns.joined(separator: ", ")), PRIMARY KEY (\(key)) )"
    }

    // MARK: Indexes

    /// For each table: relationships, join tables, `Z_ENT`, fetch indexes, uniqueness constraints.
    func indexes() -> [String] {
        var statements: [String] = []
        // Appending compiles fast; type-checking the sum of five arrays took two seconds.
        for table in layout.tables {
            statements += relationshipIndexes(of: table)
            statements += joinTables(namedBy: table).map(index)
            statements += entityIndex(of: table)
            statements += table.entities.flatMap { FetchIndexText(entity: $0, layout: layout).statements() }
            statements += table.entities.flatMap { SpatialIndexText(entity: $0, layout: layout).tables() }
        }
        return statements
    }

    /// The indexes that only affect speed, with their names.
    func fetchIndexes() -> [(name: String, text: String)] {
        layout.tables.flatMap { table in
            table.entities.flatMap { FetchIndexText(entity: $0, layout: layout).namedStatements() }
        }.filter { !$0.text.hasPrefix("CREATE UNIQUE") }
    }

    private func relationshipIndexes(of table: EntityTable) -> [String] {
        table.columns.compactMap { column in
            switch column.content {
            case .toOne, .owner:
                let name = SQLName.quoted("\(table.name)_\(column.name)_INDEX")
                return "CREATE INDEX \(name) ON \(SQLName.quoted(table.name)) (\(SQLName.quoted(column.name)))"
            default: return nil
            }
        }
    }

    private func entityIndex(of table: EntityTable) -> [String] {
        guard table.entities.count > 1, table.root.userInfo?["_NSEntityOmitSubentityColumnIndex"] == nil else {
            return []
        }
        return ["CREATE INDEX \(SQLName.quoted(table.name + "_Z_ENT_INDEX")) ON \(SQLName.quoted(table.name)) (Z_ENT)"]
    }

    private func index(_ table: JoinTable) -> String {
        let name = SQLName.quoted("\(table.name)_\(table.second.column)_INDEX")
        let columns = [table.second.column, table.first.column].map(SQLName.quoted).joined(separator: ", ")
        return "CREATE INDEX \(name) ON \(SQLName.quoted(table.name)) (\(columns))"
    }

    // MARK: Triggers

    /// For each entity: triggers of R-tree indexes, then those of derived attributes.
    ///
    /// - Throws: 134060 for a derived attribute that is not supported.
    func triggers() throws -> [String] {
        let indexes = layout.entities.flatMap { SpatialIndexText(entity: $0, layout: layout).triggers() }
        return try indexes
            + layout.entities.flatMap { entity in
                try Derivation.all(of: entity).flatMap {
                    DerivedTriggers(derivation: $0, layout: layout).statements()
                }
            }
    }

    // MARK: Bookkeeping

    private func bookkeepingTables() -> [String] {
        [
            "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
            "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
            "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
        ]
    }
}
