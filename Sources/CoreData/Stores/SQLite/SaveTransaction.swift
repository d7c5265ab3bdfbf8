import SQLiteAccess

// The order of a save: locked rows are looked at, then deletes, updates and inserts, so that a unique value that a deleted
// row had is free for a new one; then relationship tables; then the history. A row that is not as it was when its change
// began is written by no statement (each asks for the version), and noted; if there is any, everything is rolled back
// and the caller hears of all of them at once.

/// Writes one change set. Made for one save; runs inside a transaction.
final class SaveTransaction {
    private let connection: Connection
    private let layout: TableLayout
    private let externalData: ExternalDataChanges
    private let binding: ValueBinding
    private let statements: RowStatementsCache
    private var conflicts: [NSManagedObjectID] = []

    init(
        connection: Connection, layout: TableLayout, statements: RowStatementsCache, externalData: ExternalDataChanges
    ) {
        self.connection = connection
        self.layout = layout
        self.externalData = externalData
        self.binding = ValueBinding(layout: layout, externalData: externalData)
        self.statements = statements
    }

    /// Writes the rows and the relationship tables.
    ///
    /// - Parameter vacatesUniqueValues: whether rows that get other unique values lose the old ones first, all of them.
    /// - Returns: the IDs of the rows that somebody else changed or deleted. If there are any, the transaction must be
    ///   rolled back.
    func write(_ changes: StoreChangeSet, vacatesUniqueValues: Bool = false) throws -> [NSManagedObjectID] {
        try checkLocked(changes.locked)
        try delete(changes.deleted)
        if vacatesUniqueValues {
            try UniqueVacancy(connection: connection, layout: layout).vacate(changes.updated)
        }
        try update(changes.updated)
        guard conflicts.isEmpty else { return conflicts }
        try insert(changes.inserted)
        let writer = ToManyWriter(connection: connection, layout: layout)
        for change in changes.toMany { try writer.writePairs(of: change) }
        for change in changes.toMany { try writer.writeOrder(of: change) }
        return conflicts
    }

    private func checkLocked(_ rows: [StoreRowChange]) throws {
        for row in rows {
            let text = statements[row.id.entity].versionText
            let version = try connection.integer(text, [.integer(try key(row))])
            if version != row.baseVersion { conflicts.append(row.id) }
        }
    }

    // MARK: Inserts

    /// In the order of tables and keys, so that the rows are added at the end of each table.
    private func insert(_ rows: [StoreRowChange]) throws {
        let sorted = isSorted(rows) ? rows : rows.sorted(by: precedes)
        var start = 0
        while start < sorted.count {
            let entity = sorted[start].id.family.entityIndex
            let end = sorted[start...].firstIndex { $0.id.family.entityIndex != entity } ?? sorted.count
            try insert(sorted[start..<end], statements[sorted[start].id.entity])
            start = end
        }
    }

    private func isSorted(_ rows: [StoreRowChange]) -> Bool {
        var last: RowKey?
        return !rows.containsHeld { row in
            guard let key = row.id.rowKey else { return false }
            defer { last = key }
            return last.map { Self.precedes(key, $0) } ?? false
        }
    }

    private func precedes(_ left: StoreRowChange, _ right: StoreRowChange) -> Bool {
        guard let left = left.id.rowKey, let right = right.id.rowKey else { return false }
        return Self.precedes(left, right)
    }

    private static func precedes(_ left: RowKey, _ right: RowKey) -> Bool {
        left.entity == right.entity ? left.reference < right.reference : left.entity < right.entity
    }

    private func insert(_ rows: ArraySlice<StoreRowChange>, _ entity: RowStatements) throws {
        if let slots = entity.plainSlots {
            try insertPlain(rows, slots, entity)
        } else {
            try connection.withStatement(entity.insertText) { statement in
                for row in rows {
                    try statement.bind(try key(row), at: 1)
                    var place = 2
                    for column in entity.columns { try bind(column, of: row, to: statement, at: &place) }
                    try statement.run()
                }
            }
        }
        for row in rows where row.baseVersion > 0 {
            try connection.execute(entity.setVersionText, [.integer(row.baseVersion + 1), .integer(try key(row))])
        }
    }

    /// From how many rows on a statement for many of them, which has to be prepared, is worth it.
    private static let manyRows = 256

    private func insertPlain(_ rows: ArraySlice<StoreRowChange>, _ slots: [Int], _ entity: RowStatements) throws {
        var rest = rows
        if rows.count >= Self.manyRows, let text = entity.insertManyText {
            try connection.withStatement(text) { statement in
                while rest.count >= RowStatements.rowsAtOnce {
                    var place = 1
                    for row in rest.prefix(RowStatements.rowsAtOnce) {
                        try bindPlain(row, slots, entity, to: statement, at: place)
                        place += slots.count + 1
                    }
                    try statement.run()
                    rest = rest.dropFirst(RowStatements.rowsAtOnce)
                }
            }
        }
        if rest.isEmpty { return }
        try connection.withStatement(entity.insertText) { statement in
            for row in rest {
                try bindPlain(row, slots, entity, to: statement, at: 1)
                try statement.run()
            }
        }
    }

    // MARK: Updates

    /// Grouped by the columns that change, so that each statement is prepared once.
    private func update(_ rows: [StoreRowChange]) throws {
        struct Shape: Hashable {
            let entity: ObjectIdentifier
            let slots: [Int]
        }
        var groups: [(slots: [Int], rows: [StoreRowChange])] = []
        var known: [Shape: Int] = [:]
        // Objects that change together mostly change in the same properties.
        var last: (entity: NSEntityDescription, changed: [Int], group: Int)?
        for row in rows {
            let isPlain = row.orderedPositions.isEmpty
            if isPlain, let last, last.entity === row.id.entity, last.changed == row.changedSlots {
                groups[last.group].rows.append(row)
                continue
            }
            let slots = isPlain ? row.changedSlots : Array(Set(row.changedSlots).union(row.orderedPositions.keys))
            let shape = Shape(entity: ObjectIdentifier(row.id.entity), slots: slots.sorted())
            let group = known[shape] ?? groups.count
            if group == groups.count {
                known[shape] = group
                groups.append((shape.slots, []))
            }
            groups[group].rows.append(row)
            last = isPlain ? (row.id.entity, row.changedSlots, group) : nil
        }
        for (slots, rows) in groups { try update(rows, statements[rows[0].id.entity].update(of: slots)) }
    }

    private func update(_ rows: [StoreRowChange], _ update: RowStatements.Update) throws {
        if let select = update.externalDataText { try noteReplaced(select, rows) }
        let keys = try rows.map(key)
        var refused: [Int] = []
        try connection.withStatement(update.text) { statement in
            for number in Self.order(of: keys, update) {
                let row = rows[number]
                var place = 1
                for column in update.columns { try bind(column, of: row, to: statement, at: &place) }
                try statement.bind(row.baseVersion + 1, at: place)
                try statement.bind(keys[number], at: place + 1)
                try statement.bind(row.baseVersion, at: place + 2)
                try statement.run()
                if connection.changes == 0 { refused.append(number) }
            }
        }
        conflicts += refused.sorted().map { rows[$0].id }
    }

    /// The order in which rows are written: by their keys, so that neighbours are written together. Where places in ordered
    /// lists are given away, as the rows come.
    private static func order(of keys: [Int64], _ update: RowStatements.Update) -> [Int] {
        if update.columns.contains(where: { $0.positionName != nil }) { return Array(keys.indices) }
        return keys.indices.sorted { keys[$0] < keys[$1] }
    }

    // MARK: Deletes

    private func delete(_ rows: [StoreRowChange]) throws {
        let pairs = PairRemoval(connection: connection, layout: layout)
        for row in rows {
            let key = try key(row)
            if let select = statements[row.id.entity].externalDataText { try noteReplaced(select, [row]) }
            try connection.execute(statements[row.id.entity].deleteText, [.integer(key), .integer(row.baseVersion)])
            if connection.changes == 0 { conflicts.append(row.id) }
            try pairs.removePairs(of: row.id.entity, key: key)
        }
    }

    /// Notes the files of the values that the rows are about to lose.
    private func noteReplaced(_ select: String, _ rows: [StoreRowChange]) throws {
        for row in rows {
            for value in try connection.rows(select, [.integer(try key(row))]).first ?? [] {
                if case .blob(let stored) = value { try externalData.willReplace(stored) }
            }
        }
    }

    // MARK: Values

    private func key(_ row: StoreRowChange) throws -> Int64 {
        guard let key = row.id.rowKey else {
            preconditionFailure("A save got a temporary ID: \(row.id)")
        }
        return key.reference
    }

    /// Binds the key and the values of plain columns, from `start` on, for one run.
    @inline(__always)
    private func bindPlain(
        _ row: StoreRowChange, _ slots: [Int], _ entity: RowStatements, to statement: Statement, at start: Int
    ) throws {
        try statement.bind(try key(row), at: start)
        for (index, slot) in slots.enumerated() {
            let place = start + 1 + index
            switch row.values[slot] {
            case .null: try statement.bindNull(at: place)
            case .integer(let number): try statement.bind(number, at: place)
            case .real(let number): try statement.bind(number, at: place)
            case .text(let text): try statement.bindForOneRun(text, at: place)
            case let value:
                let column = entity.columns[index]
                try binding.bind(value, column.coding, attribute: column.property, to: statement, at: place)
            }
        }
    }

    /// Binds a slot's value with its companions.
    @inline(__always)
    private func bind(
        _ column: RowStatements.Column, of row: StoreRowChange, to statement: Statement, at place: inout Int
    ) throws {
        let value = row.values[column.slot]
        if column.coding == .composite { return try bindElements(column, value, to: statement, at: &place) }
        try binding.bind(value, column.coding, attribute: column.property, to: statement, at: place)
        place += 1
        if column.entityName != nil {
            try statement.bind(binding.entityNumber(of: value), at: place)
            place += 1
        }
        if let position = column.positionName {
            try bindPosition(column, position, of: row, value, to: statement, at: place)
            place += 1
        }
    }

    private func bindElements(
        _ column: RowStatements.Column, _ value: SlotValue, to statement: Statement, at place: inout Int
    ) throws {
        for element in column.elements {
            guard let part = CompositeRow.value(of: value, at: element.leaf) else {
                let name = "\(column.property.owningEntity?.name ?? "").\(column.property.name)"
                throw CoreDataError.make(
                    134030,
                    "Cannot save \(name): the value of \(element.leaf.path.joined(separator: ".")) is not of its type.",
                    userInfo: [NSValidationKeyErrorKey: column.property.name])
            }
            try binding.bind(part, element.coding, attribute: element.leaf.attribute, to: statement, at: place)
            place += 1
        }
    }

    /// The place in the ordered inverse: as the change says, or at the end of the list.
    private func bindPosition(
        _ column: RowStatements.Column, _ position: String, of row: StoreRowChange, _ value: SlotValue,
        to statement: Statement, at place: Int
    ) throws {
        guard case .reference(let owner) = value, let ownerKey = owner.rowKey else {
            return try statement.bindNull(at: place)
        }
        if let key = row.orderedPositions[column.slot] { return try statement.bind(Int64(key), at: place) }
        let table = SQLName.quoted(layout.table(of: row.id.entity))
        let last = try connection.integer(
            "SELECT MAX(\(SQLName.quoted(position))) FROM \(table) WHERE \(SQLName.quoted(column.name)) = ?",
            [.integer(ownerKey.reference)])
        try statement.bind(last.map { $0 + OrderingKeys.step } ?? OrderingKeys.first, at: place)
    }
}

/// The statements of every entity that was written so far.
final class RowStatementsCache {
    private let layout: TableLayout
    private var known: [ObjectIdentifier: RowStatements] = [:]

    init(layout: TableLayout) { self.layout = layout }

    subscript(entity: NSEntityDescription) -> RowStatements {
        if let statements = known[ObjectIdentifier(entity)] { return statements }
        let made = RowStatements(entity: entity, layout: layout)
        known[ObjectIdentifier(entity)] = made
        return made
    }
}
