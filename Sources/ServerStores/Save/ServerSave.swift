import CoreData
import Foundation

// A save is one list of statements in one round trip and the commit in another. If keys had to be requested before, the
// commit is the last statement in the list, and the statements are guarded: one that does not find the expected rows
// fails, and the following ones are not run. Each statement writes, as arrays, all rows of one entity that change in
// the same columns. The order is that of the file store: locked rows, deletes, updates, inserts, pairs, history. Unique
// values and references are checked at the end, so that rows may swap values. The number of the transaction is taken
// last and locked until the commit, so that numbers are in the order of commits.
//
// Two writers of one row are kept apart by its version: a statement finds only rows of the version that was read, and
// the server makes the second writer wait for the commit of the first. Writers of different rows do not wait for each
// other, except for the transaction's number, members that are added to one ordered list, and derived values of other
// rows (`ServerTransactionStart`).

/// Makes the statements of one change set, and finds conflicts in their results.
struct ServerSave {
    let layout: ServerLayout
    let store: EngineStore
    let changes: StoreChangeSet
    let writings: ServerWritings

    private var statements: [ServerStatement] = []
    /// The rows that each statement must find, by its index in the list.
    private var expected: [Int: [NSManagedObjectID]] = [:]
    /// The locked rows whose versions a statement reads, by its index in the list.
    private var locks: [Int: [StoreRowChange]] = [:]

    init(_ changes: StoreChangeSet, layout: ServerLayout, store: EngineStore, writings: ServerWritings) {
        self.layout = layout
        self.store = store
        self.changes = changes
        self.writings = writings
    }

    private func quoted(_ name: String) -> String { layout.dialect.quoted(name) }
    private var key: String { quoted(ServerStoreTables.key) }
    private var version: String { quoted(ServerStoreTables.version) }

    /// Makes the statements that write the changes.
    ///
    /// - Parameter isGuarded: true if a statement must fail (22012) when it does not find the expected rows.
    /// - Throws: 134030 for a value that cannot be stored.
    mutating func makeStatements(isGuarded: Bool = false) throws -> [ServerStatement] {
        statements = []
        lockRows()
        lockOwners()
        deleteRows()
        try updateRows()
        try insertRows()
        for change in changes.toMany { writePairs(of: change) }
        for change in changes.toMany { writeOrder(of: change) }
        if isGuarded { addGuards() }
        return statements
    }

    /// A division by zero, which is evaluated only if rows are missing.
    static let guardText = "1 / (count(*) - count(*))"
    /// The state of the error for a division by zero.
    static let guardState = "22012"

    private mutating func addGuards() {
        for (place, ids) in expected {
            statements[place].text =
                "WITH w AS (\(statements[place].text)) SELECT * FROM w UNION ALL SELECT \(Self.guardText) FROM w "
                + "HAVING count(*) <> ?"
            statements[place].arguments.append(.value(.integer(Int64(ids.count)), .bigint))
        }
        for (place, rows) in locks {
            statements[place].text =
                "WITH w AS (\(statements[place].text)) SELECT * FROM w UNION ALL SELECT \(Self.guardText), NULL "
                + "FROM unnest(?, ?) AS v(id, base) LEFT JOIN w ON w.\(key) = v.id AND w.\(version) = v.base "
                + "WHERE w.\(key) IS NULL HAVING count(*) > 0"
            statements[place].arguments += [keys(rows), versions(rows)]
        }
    }

    /// Returns the rows that another transaction has changed or deleted.
    func conflicts(_ results: ArraySlice<any ServerResult>) -> [NSManagedObjectID] {
        var found: [NSManagedObjectID] = []
        let results = Array(results)
        for (place, ids) in expected {
            var written: Set<Int64> = []
            for row in 0..<results[place].rowCount {
                if case .integer(let key) = results[place].value(row, 0) { written.insert(key) }
            }
            found += ids.filter { !written.contains($0.savedKey) }
        }
        for (place, rows) in locks {
            var versions: [Int64: SQLValue] = [:]
            for row in 0..<results[place].rowCount {
                if case .integer(let key) = results[place].value(row, 0) {
                    versions[key] = results[place].value(row, 1)
                }
            }
            found += rows.filter { versions[$0.id.savedKey] != .integer($0.baseVersion) }.map(\.id)
        }
        return found
    }

    // MARK: Existing rows

    private func grouped(_ rows: [StoreRowChange]) -> [[StoreRowChange]] {
        var order: [ObjectIdentifier] = []
        var groups: [ObjectIdentifier: [StoreRowChange]] = [:]
        for row in rows {
            let table = ObjectIdentifier(row.id.entity.root)
            if groups[table] == nil { order.append(table) }
            groups[table, default: []].append(row)
        }
        // Sorted by table and key, so that two saves that lock the same rows do not deadlock.
        return order.compactMap { groups[$0] }
            .sorted { layout.tableText(of: $0[0].id.entity) < layout.tableText(of: $1[0].id.entity) }
            .map { $0.sorted { $0.id.savedKey < $1.id.savedKey } }
    }

    private func keys(_ rows: some Sequence<StoreRowChange>) -> ServerArgument {
        .list(rows.map { .integer($0.id.savedKey) }, .bigint)
    }

    private func versions(_ rows: some Sequence<StoreRowChange>) -> ServerArgument {
        .list(rows.map { .integer($0.baseVersion) }, .bigint)
    }

    private mutating func lockRows() {
        for rows in grouped(changes.locked) {
            locks[statements.count] = rows
            statements.append(
                ServerStatement(
                    "SELECT \(key), \(version) FROM \(layout.tableText(of: rows[0].id.entity)) WHERE \(key) = ANY(?) "
                        + "ORDER BY \(key) FOR SHARE", [keys(rows)]))
        }
    }

    /// Locks the owners of lists to which rows are appended, because two concurrent saves would find the same end.
    private mutating func lockOwners() {
        var owners: [String: Set<Int64>] = [:]
        func note(_ writing: ServerRowWriting, _ row: RowSnapshot, _ known: [Int: Int]?, _ slots: [Int]?) {
            for column in writing.columns {
                guard case .position(let toOne) = column.content, known?[column.slot] == nil,
                    slots?.contains(column.slot) != false, case .reference(let owner) = row.value(column.slot),
                    let entity = toOne.destinationEntity
                else { continue }
                owners[layout.tableText(of: entity), default: []].insert(owner.savedKey)
            }
        }
        for row in changes.inserted {
            let writing = writings[row.id.entity]
            if writing.hasPositions { note(writing, row.row, changes.insertedPositions[row.id], nil) }
        }
        for row in changes.updated {
            let writing = writings[row.id.entity]
            guard writing.hasPositions, let snapshot = row.row else { continue }
            note(writing, snapshot, row.orderedPositions, row.changedSlots)
        }
        for (table, keys) in owners.sorted(by: { $0.key < $1.key }) {
            statements.append(
                ServerStatement(
                    "SELECT \(key) FROM \(table) WHERE \(key) = ANY(?) ORDER BY \(key) FOR NO KEY UPDATE",
                    [.list(keys.sorted().map { .integer($0) }, .bigint)]))
        }
    }

    private mutating func deleteRows() {
        for rows in grouped(changes.deleted) {
            let table = layout.tableText(of: rows[0].id.entity)
            expected[statements.count] = rows.map(\.id)
            statements.append(
                ServerStatement(
                    "DELETE FROM \(table) AS t USING unnest(?, ?) AS v(id, base) WHERE t.\(key) = v.id "
                        + "AND t.\(version) = v.base RETURNING t.\(key)", [keys(rows), versions(rows)]))
        }
    }

    /// Groups the rows by the columns that change. Others are not written.
    private mutating func updateRows() throws {
        struct Shape: Hashable {
            let entity: ObjectIdentifier
            let slots: [Int]
            let positions: [Int]
        }
        var groups: [Shape: [StoreRowChange]] = [:]
        for row in changes.updated {
            let shape = Shape(
                entity: ObjectIdentifier(row.id.entity), slots: row.changedSlots.sorted(),
                positions: row.orderedPositions.keys.sorted())
            groups[shape, default: []].append(row)
        }
        let sorted = groups.map { (shape: $0, rows: $1.sorted { $0.id.savedKey < $1.id.savedKey }) }
        let ordered = sorted.sorted { one, other in
            let (table, far) = (writings[one.rows[0].id.entity].tableText, writings[other.rows[0].id.entity].tableText)
            return (table, one.rows[0].id.savedKey) < (far, other.rows[0].id.savedKey)
        }
        for (shape, all) in ordered {
            let writing = writings[all[0].id.entity]
            let columns = writing.columns.filter { column in
                if case .position = column.content {
                    return shape.slots.contains(column.slot) || shape.positions.contains(column.slot)
                }
                return shape.slots.contains(column.slot)
            }
            let names = columns.indices.map { "c\($0)" }
            let sets = columns.enumerated().map { index, column in
                "\(quoted(column.name)) = \(written(column, "c\(index)", columns, writing))"
            }
            let places = ([String](repeating: "?", count: columns.count + 2)).joined(separator: ", ")
            let text =
                "UPDATE \(writing.tableText) AS t SET "
                + (["\(version) = t.\(version) + 1"] + sets).joined(separator: ", ")
                + " FROM unnest(\(places)) WITH ORDINALITY AS v("
                + (["id", "base"] + names + ["place"]).joined(separator: ", ")
                + ") WHERE t.\(key) = v.id AND t.\(version) = v.base RETURNING t.\(key)"
            var block = ServerRowBlock(columns)
            func write() {
                let rows = all[block.rows]
                expected[statements.count] = rows.map(\.id)
                statements.append(ServerStatement(text, [keys(rows), versions(rows)] + block.take()))
            }
            for row in all {
                try block.add { column in
                    if case .position = column.content { return position(row.orderedPositions[column.slot]) }
                    guard let snapshot = row.row else { return .null }
                    return try coding.value(column, of: snapshot)
                }
                if block.isFull { write() }
            }
            if !block.rows.isEmpty { write() }
        }
    }

    private var coding: ServerValueCoding { ServerValueCoding(layout: layout, store: store) }

    private func position(_ known: Int?) -> SQLValue { known.map { .integer(OrderingKeys.key(at: $0)) } ?? .null }

    /// Returns the value to write. A position that was not chosen is the end of the list.
    private func written(
        _ column: ServerRowWriting.Column, _ name: String, _ columns: [ServerRowWriting.Column],
        _ writing: ServerRowWriting
    ) -> String {
        guard case .position = column.content else { return "v.\(name)" }
        let owner = columns.firstIndex { other in
            if case .toOne = other.content { other.slot == column.slot } else { false }
        }
        guard let owner,
            let ownerName = writing.columns.first(where: { other in
                if case .toOne = other.content { other.slot == column.slot } else { false }
            })?.name
        else { return "v.\(name)" }
        let last =
            "(SELECT max(l.\(quoted(column.name))) FROM \(writing.tableText) AS l WHERE l.\(quoted(ownerName)) = v.c\(owner))"
        return "CASE WHEN v.c\(owner) IS NULL THEN NULL ELSE coalesce(v.\(name), "
            + "coalesce(\(last), \(OrderingKeys.first - OrderingKeys.step)) + \(OrderingKeys.step) * v.place) END"
    }

    // MARK: New rows

    private mutating func insertRows() throws {
        var order: [ObjectIdentifier] = []
        var groups: [ObjectIdentifier: [IdentifiedRow]] = [:]
        for row in changes.inserted {
            let entity = ObjectIdentifier(row.id.entity)
            if groups[entity] == nil { order.append(entity) }
            groups[entity, default: []].append(row)
        }
        for group in order {
            guard let rows = groups[group] else { continue }
            let writing = writings[rows[0].id.entity]
            var block = ServerRowBlock(writing.columns)
            for row in rows {
                try block.add { column in
                    if case .position = column.content {
                        return position(changes.insertedPositions[row.id]?[column.slot])
                    }
                    return try coding.value(column, of: row.row)
                }
                if block.isFull { statements.append(insertion(of: rows[block.rows], block.take(), writing)) }
            }
            if !block.rows.isEmpty { statements.append(insertion(of: rows[block.rows], block.take(), writing)) }
        }
    }

    private func insertion(
        of rows: ArraySlice<IdentifiedRow>, _ values: [ServerArgument], _ writing: ServerRowWriting
    ) -> ServerStatement {
        let arguments: [ServerArgument] =
            [
                .list(rows.map { .integer($0.id.savedKey) }, .bigint),
                .list(rows.map { .integer(max($0.row.version, 1)) }, .bigint),
            ] + values
        let names = writing.columns.indices.map { "c\($0)" }
        let columns =
            [key, version, quoted(ServerStoreTables.entity)] + writing.columns.map { quoted($0.name) }
        let values =
            ["v.id", "v.version", "\(writing.number)"]
            + writing.columns.enumerated().map { written($1, "c\($0)", writing.columns, writing) }
        return ServerStatement(
            "INSERT INTO \(writing.tableText) (\(columns.joined(separator: ", "))) SELECT "
                + values.joined(separator: ", ") + " FROM unnest("
                + arguments.map { _ in "?" }.joined(separator: ", ") + ") WITH ORDINALITY AS v("
                + (["id", "version"] + names + ["place"]).joined(separator: ", ") + ")", arguments)
    }

    // MARK: Pairs

    private typealias Pairs = (table: String, owner: String, destination: String, order: String?)

    private func pairs(of relationship: NSRelationshipDescription) -> Pairs? {
        guard case .joinTable(let table, let owner, let destination, let order) = layout.storage(of: relationship)
        else {
            return nil
        }
        return (layout.tableText(table), quoted(owner), quoted(destination), order.map(quoted))
    }

    private mutating func writePairs(of change: StoreToManyChange) {
        guard let pairs = pairs(of: change.relationship) else { return }
        let isReflexive = change.relationship.inverseRelationship === change.relationship
        let owner = ServerArgument.value(.integer(change.owner.savedKey), .bigint)
        func keys(_ ids: [NSManagedObjectID]) -> ServerArgument { .list(ids.map { .integer($0.savedKey) }, .bigint) }
        if !change.removed.isEmpty {
            let text = "DELETE FROM \(pairs.table) WHERE \(pairs.owner) = ? AND \(pairs.destination) = ANY(?)"
            statements.append(ServerStatement(text, [owner, keys(change.removed)]))
            if isReflexive {
                statements.append(
                    ServerStatement(
                        "DELETE FROM \(pairs.table) WHERE \(pairs.destination) = ? AND \(pairs.owner) = ANY(?)",
                        [owner, keys(change.removed)]))
            }
        }
        if !change.added.isEmpty {
            // Both ends of a relationship report a new pair. The second insertion has no effect.
            for columns in [[pairs.owner, pairs.destination], [pairs.destination, pairs.owner]].prefix(
                isReflexive ? 2 : 1)
            {
                statements.append(
                    ServerStatement(
                        "INSERT INTO \(pairs.table) (\(columns[0]), \(columns[1])) SELECT ?, d FROM pg_catalog.unnest(?) AS v(d) "
                            + "ON CONFLICT DO NOTHING", [owner, keys(change.added)]))
            }
        }
    }

    private mutating func writeOrder(of change: StoreToManyChange) {
        guard let list = change.order, let pairs = pairs(of: change.relationship), let order = pairs.order else {
            return
        }
        statements.append(
            ServerStatement(
                "UPDATE \(pairs.table) AS p SET \(order) = v.place * \(OrderingKeys.step) + "
                    + "\(OrderingKeys.first - OrderingKeys.step) FROM pg_catalog.unnest(?) WITH ORDINALITY AS v(d, place) "
                    + "WHERE p.\(pairs.owner) = ? AND p.\(pairs.destination) = v.d",
                [
                    .list(list.map { .integer($0.savedKey) }, .bigint),
                    .value(.integer(change.owner.savedKey), .bigint),
                ]))
    }
}
