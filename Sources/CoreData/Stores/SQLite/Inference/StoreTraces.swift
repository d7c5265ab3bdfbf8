import SQLiteAccess

/// The facts about a model that a store's file shows without a kept model: names of entities, tables, indexes.
struct StoreTraces {
    struct Entity {
        let number: Int64
        let name: String
        /// The number of the parent entity; 0 for none.
        let parent: Int64
    }

    struct Column {
        /// The column's name in upper case.
        let name: String
        /// The column's declared type in upper case.
        let type: String
    }

    struct Index {
        let name: String
        let isUnique: Bool
        /// The names of the indexed columns in upper case.
        let columns: [String]
    }

    /// The entities sorted by number, without those of the history.
    let entities: [Entity]
    /// The columns by table name in upper case.
    let columns: [String: [Column]]
    let indexes: [String: [Index]]

    /// The first number of the history's entities.
    private static let firstHistoryNumber: Int64 = 16_000

    /// Reads the schema. Cost: one step for each column and index of the file.
    ///
    /// - Throws: 259 if the file has no entities; an `SQLiteError` if it cannot be read.
    init(_ connection: Connection) throws {
        guard try connection.hasTable("Z_PRIMARYKEY") else {
            throw CoreDataError.make(
                259,
                "Cannot infer the model of the store \(connection.path): it has no table Z_PRIMARYKEY with its entities."
            )
        }
        var entities: [Entity] = []
        try connection.withStatement("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT") { statement in
            while try statement.step() {
                let number = statement.integer(at: 0)
                guard number > 0, number < Self.firstHistoryNumber, !statement.isNull(at: 1) else { continue }
                entities.append(
                    Entity(number: number, name: statement.text(at: 1), parent: statement.integer(at: 2)))
            }
        }
        self.entities = entities
        columns = try Self.columns(connection)
        indexes = try Self.indexes(connection)
    }

    // Table-valued pragmas fail for virtual tables whose module is missing.
    private static let tables = "sqlite_master AS m WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%'"

    private static func columns(_ connection: Connection) throws -> [String: [Column]] {
        let sql = """
            SELECT t.name, c.name, c.type FROM (SELECT m.name, m.rowid AS place FROM \(tables)) AS t,
            pragma_table_info(t.name) AS c ORDER BY t.place, c.cid
            """
        var result: [String: [Column]] = [:]
        try connection.withStatement(sql) { statement in
            while try statement.step() {
                let column = Column(name: statement.text(at: 1).uppercased(), type: statement.text(at: 2).uppercased())
                result[statement.text(at: 0).uppercased(), default: []].append(column)
            }
        }
        return result
    }

    private static func indexes(_ connection: Connection) throws -> [String: [Index]] {
        let sql = """
            SELECT t.name, l.name, l."unique", i.name FROM (SELECT m.name FROM \(tables)) AS t,
            pragma_index_list(t.name) AS l, pragma_index_info(l.name) AS i ORDER BY t.name, l.seq, i.seqno
            """
        var result: [String: [Index]] = [:]
        try connection.withStatement(sql) { statement in
            while try statement.step() {
                let table = statement.text(at: 0).uppercased()
                let name = statement.text(at: 1)
                let column = statement.isNull(at: 3) ? "" : statement.text(at: 3).uppercased()
                var indexes = result[table] ?? []
                if let last = indexes.last, last.name == name {
                    indexes[indexes.count - 1] = Index(
                        name: name, isUnique: last.isUnique, columns: last.columns + [column])
                } else {
                    indexes.append(Index(name: name, isUnique: statement.integer(at: 2) != 0, columns: [column]))
                }
                result[table] = indexes
            }
        }
        return result
    }

    // MARK: The hierarchy

    func entity(numbered number: Int64) -> Entity? { entities.first { $0.number == number } }

    func hasSubentities(_ number: Int64) -> Bool { entities.contains { $0.parent == number } }

    /// The entities without a parent. Their tables have the rows.
    var roots: [Entity] { entities.filter { $0.parent == 0 } }

    /// Returns the root of an entity's hierarchy; `nil` if an ancestor does not exist.
    func root(of entity: Entity) -> Entity? {
        var current = entity
        for _ in entities {
            if current.parent == 0 { return current }
            guard let parent = self.entity(numbered: current.parent) else { return nil }
            current = parent
        }
        return nil
    }

    /// Returns the table of an entity.
    func table(of entity: Entity) -> String { "Z" + (root(of: entity) ?? entity).name.uppercased() }

    func columnNames(of table: String) -> Set<String> { Set((columns[table] ?? []).map(\.name)) }
}
