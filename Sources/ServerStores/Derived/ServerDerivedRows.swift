import CoreData

/// The queries of a save for rows whose values the server has computed.
struct ServerDerivedRows {
    private struct Table {
        let columns: RowColumns
        let statement: ServerStatement
    }

    private let layout: ServerLayout
    private let store: EngineStore
    private let tables: [Table]
    private let written: [NSManagedObjectID]
    /// True if values of other rows may depend on the changes. No other save may then run at the same time.
    let concernsOthers: Bool

    init(_ changes: StoreChangeSet, layout: ServerLayout, store: EngineStore) {
        self.layout = layout
        self.store = store
        guard !layout.derivations.all.isEmpty else {
            (tables, written, concernsOthers) = ([], [], false)
            return
        }
        concernsOthers = Self.concernsOthers(changes, layout)
        written = (changes.inserted.map(\.id) + changes.updated.map(\.id)).filter {
            !$0.entity.layout.traits.derivedSlots.isEmpty
        }
        var keys: [String: [SQLValue]] = [:]
        for id in written { keys[layout.table(of: id.entity), default: []].append(.integer(id.savedKey)) }
        // The tables with values that depend on other rows.
        let reached = Set(layout.derivations.all.filter(\.isKept).map { layout.table(of: $0.entity) })
        var tables: [Table] = []
        for table in layout.tables where keys[table.name] != nil || (concernsOthers && reached.contains(table.name)) {
            let columns = RowColumns(entity: table.root, includingSubentities: true, schema: layout)
            let numbers = table.entities.map { "\(layout.number(of: $0))" }.joined(separator: ", ")
            let touched =
                concernsOthers
                ? " || ARRAY(SELECT d.key FROM (\(ServerDerivedText.touched)) AS d WHERE d.entity IN (\(numbers)))" : ""
            tables.append(
                Table(
                    columns: columns,
                    statement: ServerStatement(
                        "SELECT \(columns.selectList(alias: "t0")) FROM \(layout.tableText(table.name)) AS t0 "
                            + "WHERE t0.\(layout.keyText) = ANY(?\(touched))", [.list(keys[table.name] ?? [], .bigint)])
                ))
        }
        self.tables = tables
    }

    private static func concernsOthers(_ changes: StoreChangeSet, _ layout: ServerLayout) -> Bool {
        guard !layout.derivingTables.isEmpty else { return false }
        func concerns(_ id: NSManagedObjectID) -> Bool { layout.derivingTables.contains(layout.table(of: id.entity)) }
        return changes.inserted.contains { concerns($0.id) } || changes.updated.contains { concerns($0.id) }
            || changes.deleted.contains { concerns($0.id) }
            || changes.toMany.contains { change in
                guard case .joinTable(let table, _, _, _) = layout.storage(of: change.relationship) else {
                    return false
                }
                return layout.derivingTables.contains(table)
            }
    }

    /// The statements to run after those of the changes.
    var statements: [ServerStatement] { tables.map(\.statement) }

    /// - Parameter results: the results of ``statements``.
    func rows(_ results: ArraySlice<any ServerResult>) -> [NSManagedObjectID: RowSnapshot] {
        var rows: [NSManagedObjectID: RowSnapshot] = [:]
        for (table, result) in zip(tables, results) {
            let reading = ServerRowReading(table.columns, layout: layout, store: store)
            for row in 0..<result.rowCount {
                if let (key, snapshot) = reading.row(row, of: result) {
                    rows[store.operations.objectID(for: key)] = snapshot
                }
            }
        }
        return rows
    }

    /// Reads the same rows for a save whose commit was not answered, from their present state. Rows that cannot be read
    /// keep the objects' values until a refresh.
    func rows(ofTransaction number: Int64, _ connection: any ServerConnection) -> [NSManagedObjectID: RowSnapshot] {
        guard !tables.isEmpty else { return [:] }
        let changes = ServerStatement(
            "SELECT entity, key FROM \(layout.tableText(ServerStoreTables.changes)) WHERE transaction = ? AND kind = "
                + "\(StoreTransaction.Kind.update.rawValue)", [.value(.integer(number), .bigint)])
        guard let result = try? connection.run([changes])[0] else { return [:] }
        var wanted = Set(written)
        for row in 0..<result.rowCount {
            guard case .integer(let number) = result.value(row, 0), let entity = layout.entity(numbered: number),
                case .integer(let key) = result.value(row, 1)
            else { continue }
            wanted.insert(
                store.operations.objectID(for: RowKey(entity: UInt32(entity.layout.index), reference: key)))
        }
        let ids = Array(wanted)
        let queries = ServerQueries(connection: connection, layout: layout, store: store)
        guard let found = try? queries.rows(inOrderOf: ids) else { return [:] }
        return Dictionary(
            zip(ids, found).compactMap { id, row in row.map { (id, $0) } }, uniquingKeysWith: { first, _ in first })
    }
}
