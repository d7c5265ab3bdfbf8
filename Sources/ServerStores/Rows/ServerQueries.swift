import CoreData
import Foundation
import PredicateSyntax

/// Reads rows. Each member needs one round trip.
struct ServerQueries {
    let connection: any ServerConnection
    let layout: ServerLayout
    let store: EngineStore

    private func builder(_ query: StoreQuery) -> SelectBuilder {
        SelectBuilder(query: query, schema: layout, storeIdentifier: store.identifier)
    }

    private func run(_ fragment: SQLFragment) throws -> any ServerResult {
        try connection.run([ServerStatement(fragment)])[0]
    }

    // MARK: Fetches

    func fetch(_ query: StoreQuery) throws -> StoreQueryResult {
        let builder = builder(query)
        guard query.wantsRows else { return try keys(builder.keys(groupedBy: query.groupedBy)) }
        let select = try builder.rows()
        guard let columns = select.columns else { preconditionFailure("A statement for rows has columns.") }
        let result = try run(select.fragment)
        let reading = ServerRowReading(
            columns, layout: layout, store: store, keepsUncoded: query.keepsUncoded)
        var found = StoreQueryResult(keys: [], rows: [], unsupported: select.unsupported)
        found.keys.reserveCapacity(result.rowCount)
        found.rows.reserveCapacity(result.rowCount)
        for row in 0..<result.rowCount {
            guard let (key, snapshot) = reading.row(row, of: result) else { continue }
            found.keys.append(key)
            found.rows.append(snapshot)
        }
        return found
    }

    private func keys(_ select: SelectStatement) throws -> StoreQueryResult {
        let result = try run(select.fragment)
        var found = StoreQueryResult(keys: [], rows: [], unsupported: select.unsupported)
        if select.group == nil, let keys = keys(result, select.onlyEntity) {
            found.keys = keys
            return found
        }
        found.keys.reserveCapacity(result.rowCount)
        var groups: [(value: SlotValue, count: Int)] = []
        var last: SQLValue?
        for row in 0..<result.rowCount {
            guard case .integer(let key) = result.value(row, 0) else { continue }
            var entity = select.onlyEntity
            if entity == nil, case .integer(let number) = result.value(row, 1) {
                entity = layout.entity(numbered: number)
            }
            guard let entity else { continue }
            found.keys.append(RowKey(entity: UInt32(entity.layout.index), reference: key))
            guard let group = select.group else { continue }
            let value = result.value(row, group.column)
            if value == last {
                groups[groups.count - 1].count += 1
            } else {
                groups.append((ServerValueCoding.decoded(value, group.attribute), 1))
                last = value
            }
        }
        if select.group != nil { found.groups = groups.map { RowGroup(value: $0.value, count: $0.count) } }
        return found
    }

    /// Returns the keys of a list without groups, read by column; `nil` if a row has none or an unknown entity.
    private func keys(_ result: any ServerResult, _ only: NSEntityDescription?) -> [RowKey]? {
        guard let references = result.integers(inColumn: 0) else { return nil }
        if let only {
            let entity = UInt32(only.layout.index)
            return references.map { RowKey(entity: entity, reference: $0) }
        }
        guard let numbers = result.integers(inColumn: 1) else { return nil }
        var indexes: [Int64: UInt32] = [:]
        var keys: [RowKey] = []
        keys.reserveCapacity(references.count)
        for (reference, number) in zip(references, numbers) {
            guard let index = indexes[number] ?? layout.entity(numbered: number).map({ UInt32($0.layout.index) }) else {
                return nil
            }
            indexes[number] = index
            keys.append(RowKey(entity: index, reference: reference))
        }
        return keys
    }

    func count(_ query: StoreQuery) throws -> Int? {
        guard let fragment = try builder(query).count() else { return nil }
        guard case .integer(let count) = try run(fragment).value(0, 0) else { return nil }
        return Int(count)
    }

    func groups(_ query: StoreGroupQuery) throws -> [[PredicateValue]]? {
        guard let select = try builder(query.rows).groups(query) else { return nil }
        let result = try run(select.fragment)
        return (0..<result.rowCount).map { row in
            select.columns.enumerated().map { index, column in
                column.value(result.value(row, index)) { entity, key in
                    NSManagedObjectID(store.idFamily(of: entity), reference: key)
                }
            }
        }
    }

    // MARK: Rows by their IDs

    func rows(inOrderOf ids: [NSManagedObjectID]) throws -> [RowSnapshot?] {
        var places: [ObjectIdentifier: [Int]] = [:]
        for (place, id) in ids.enumerated() where layout.contains(id.entity) {
            places[ObjectIdentifier(id.entity.root), default: []].append(place)
        }
        let groups = places.values.map { places in
            let root = ids[places[0]].entity.root
            return (places, RowColumns(entity: root, includingSubentities: true, schema: layout), root)
        }
        let results = try connection.run(
            groups.map { places, columns, root in
                ServerStatement(
                    "SELECT \(columns.selectList(alias: "t0")) FROM \(layout.tableText(of: root)) AS t0 "
                        + "WHERE t0.\(layout.keyText) = ANY(?)",
                    [.list(places.compactMap { ids[$0].rowKey.map { .integer($0.reference) } }, .bigint)])
            })
        var rows = [RowSnapshot?](repeating: nil, count: ids.count)
        for ((places, columns, _), result) in zip(groups, results) {
            let reading = ServerRowReading(columns, layout: layout, store: store)
            var found: [RowKey: RowSnapshot] = [:]
            for row in 0..<result.rowCount {
                if let (key, snapshot) = reading.row(row, of: result) { found[key] = snapshot }
            }
            for place in places { rows[place] = ids[place].rowKey.flatMap { found[$0] } }
        }
        return rows
    }

    // MARK: To-many relationships

    func destinations(
        of relationship: NSRelationshipDescription, inOrderOf ids: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        guard !ids.isEmpty, let destination = relationship.destinationEntity else { return ids.map { _ in [] } }
        let quoted = layout.dialect.quoted
        let table = layout.tableText(of: destination)
        let (key, entity) = ("t0.\(layout.keyText)", "t0.\(quoted(layout.dialect.entity))")
        let from: String
        let owner: String
        var order: [String]
        switch layout.storage(of: relationship) {
        case .foreignKey(let column, let orderColumn):
            from = "\(table) AS t0"
            owner = "t0.\(quoted(column))"
            order = orderColumn.map { ["t0.\(quoted($0))"] } ?? []
        case .joinTable(let pairs, let ownerColumn, let destinationColumn, let orderColumn):
            from =
                "\(layout.tableText(pairs)) AS p JOIN \(table) AS t0 ON \(key) = p.\(quoted(destinationColumn))"
            owner = "p.\(quoted(ownerColumn))"
            order = orderColumn.map { ["p.\(quoted($0))"] } ?? []
        }
        order.append(key)
        let result = try connection.run([
            ServerStatement(
                "SELECT \(owner), \(key), \(entity) FROM \(from) WHERE \(owner) = ANY(?) ORDER BY "
                    + order.joined(separator: ", "),
                [.list(ids.compactMap { $0.rowKey.map { .integer($0.reference) } }, .bigint)])
        ])[0]
        var lists: [Int64: [NSManagedObjectID]] = [:]
        for row in 0..<result.rowCount {
            guard case .integer(let owner) = result.value(row, 0), case .integer(let key) = result.value(row, 1),
                case .integer(let number) = result.value(row, 2), let entity = layout.entity(numbered: number)
            else { continue }
            lists[owner, default: []].append(NSManagedObjectID(store.idFamily(of: entity), reference: key))
        }
        return ids.map { id in id.rowKey.flatMap { lists[$0.reference] } ?? [] }
    }
}

extension ServerStatement {
    init(_ fragment: SQLFragment) {
        self.init(
            fragment.text,
            fragment.arguments.map { value in
                if case .list(let values) = value { return .list(values, Self.type(of: values)) }
                return .value(value, Self.type(of: value))
            })
    }

    /// Returns the type for all values of a list: numeric if any is a decimal, otherwise double if any is real.
    private static func type(of values: [SQLValue]) -> ServerType {
        guard let first = values.first else { return .bigint }
        var found = type(of: first)
        for value in values.dropFirst() where found == .bigint || found == .double {
            let other = type(of: value)
            if other == .numeric || (other == .double && found == .bigint) { found = other }
        }
        return found
    }

    private static func type(of value: SQLValue) -> ServerType {
        switch value {
        case .integer: .bigint
        case .real: .double
        case .text, .null, .list: .text
        case .blob: .bytes
        case .uuid: .uuid
        case .decimal: .numeric
        }
    }
}
