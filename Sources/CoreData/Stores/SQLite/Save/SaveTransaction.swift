import SQLiteAccess

// The order of writing: locked rows are checked, then rows are deleted, updated and inserted, so that a new row can
// have the unique value of a deleted one; then relationship tables are written. The session does the history and the
// rollback. Each statement compares the version, so a row that differs from its base version is not written. Such rows
// are collected and returned together.

/// Writes the rows of a change set within the transaction of ``SQLiteSession``. Created for one save.
final class SaveTransaction {
    private let connection: Connection
    private let layout: TableLayout
    private let externalData: ExternalDataChanges
    private let binding: ValueBinding
    private let statements: RowStatementsCache
    private var conflicts: [NSManagedObjectID] = []
    private var reporter: SaveReporter?

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
    /// - Parameter vacatesUniqueValues: true to first clear the unique values of all rows that get others.
    /// - Returns: the IDs of rows that another context or process changed or deleted. If there are any, the transaction
    ///   must be rolled back.
    func write(_ changes: StoreChangeSet, vacatesUniqueValues: Bool = false) throws -> [NSManagedObjectID] {
        reporter = changes.reporter
        try checkLocked(changes.locked)
        try delete(changes.deleted)
        if vacatesUniqueValues {
            try UniqueVacancy(connection: connection, layout: layout).vacate(changes.updated)
        }
        try update(changes.updated)
        guard conflicts.isEmpty else { return conflicts }
        try insert(changes)
        let writer = ToManyWriter(connection: connection, layout: layout)
        for change in changes.toMany { try writer.writePairs(of: change) }
        for change in changes.toMany { try writer.writeOrder(of: change) }
        return conflicts
    }

    private func checkLocked(_ rows: [StoreRowChange]) throws {
        for row in rows {
            let text = statements[row.id.entity].versionText
            let version = try connection.integer(text, [.integer(row.id.savedKey)])
            if version != row.baseVersion { conflicts.append(row.id) }
        }
    }

    // MARK: Inserts

    /// Inserts in the order of tables and keys, so that rows are appended to each table.
    private func insert(_ changes: StoreChangeSet) throws {
        for group in InsertOrder(changes.inserted).groups {
            let entity = statements[group.entity]
            var reinserted: [IdentifiedRow] = []
            if let insertion = PlainInsertion(entity, connection, binding) {
                try insertion.insert(group.rows, &reinserted, reporter)
            } else {
                try insert(group.rows, entity, changes.insertedPositions, &reinserted)
            }
            for new in reinserted {
                try connection.execute(
                    entity.setVersionText, [.integer(new.row.version), .integer(new.id.savedKey)])
            }
        }
    }

    /// - Parameter reinserted: receives the rows whose version is greater than 1.
    private func insert(
        _ rows: [IdentifiedRow], _ entity: RowStatements, _ positions: [NSManagedObjectID: [Int: Int]],
        _ reinserted: inout [IdentifiedRow]
    ) throws {
        try connection.withStatement(entity.insertText) { statement in
            for new in rows {
                try statement.bind(new.id.savedKey, at: 1)
                var place = 2
                let positions = positions.isEmpty ? [:] : positions[new.id] ?? [:]
                for column in entity.columns {
                    try bind(column, of: new.row, new.id.entity, positions, to: statement, at: &place)
                }
                try statement.run()
                try entity.checkInserted(1, upTo: new.id, connection)
                try reporter?.step()
                if new.row.version > 1 { reinserted.append(new) }
            }
        }
    }

    // MARK: Updates

    /// Groups the rows by the columns that change, so that each statement is prepared once.
    private func update(_ rows: [StoreRowChange]) throws {
        struct Shape: Hashable {
            let entity: ObjectIdentifier
            let slots: [Int]
        }
        var groups: [(slots: [Int], rows: [StoreRowChange])] = []
        var known: [Shape: Int] = [:]
        // Compares with the previous row first: consecutive rows usually change the same properties.
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
        let keys = rows.map { $0.id.savedKey }
        var refused: [Int] = []
        try connection.withStatement(update.text) { statement in
            for number in Self.order(of: keys, update) {
                let row = rows[number]
                var place = 1
                for column in update.columns {
                    try bind(column, of: row.row, row.id.entity, row.orderedPositions, to: statement, at: &place)
                }
                try statement.bind(row.baseVersion &+ 1, at: place)
                try statement.bind(keys[number], at: place + 1)
                try statement.bind(row.baseVersion, at: place + 2)
                try statement.run()
                if connection.changes == 0 { refused.append(number) }
                try reporter?.step()
            }
        }
        conflicts += refused.sorted().map { rows[$0].id }
    }

    /// Returns the order of writing: by key, so that adjacent rows are written together. Positions in ordered lists are
    /// assigned in the given order.
    private static func order(of keys: [Int64], _ update: RowStatements.Update) -> [Int] {
        if update.columns.contains(where: { $0.positionName != nil }) { return Array(keys.indices) }
        return keys.indices.sorted { keys[$0] < keys[$1] }
    }

    // MARK: Deletes

    private func delete(_ rows: [StoreRowChange]) throws {
        let pairs = PairRemoval(connection: connection, layout: layout)
        for row in rows {
            let key = row.id.savedKey
            if let select = statements[row.id.entity].externalDataText { try noteReplaced(select, [row]) }
            try connection.execute(statements[row.id.entity].deleteText, [.integer(key), .integer(row.baseVersion)])
            if connection.changes == 0 { conflicts.append(row.id) }
            try pairs.removePairs(of: row.id.entity, key: key)
            try reporter?.step()
        }
    }

    /// Records the files of the values that the rows are about to lose.
    private func noteReplaced(_ select: String, _ rows: [StoreRowChange]) throws {
        for row in rows {
            for value in try connection.rows(select, [.integer(row.id.savedKey)]).first ?? [] {
                if case .blob(let stored) = value { try externalData.willReplace(stored) }
            }
        }
    }

    // MARK: Values

    /// Binds a slot's value, and the entity and position columns of a relationship.
    @inline(__always)
    private func bind(
        _ column: RowStatements.Column, of row: RowSnapshot?, _ entity: NSEntityDescription, _ positions: [Int: Int],
        to statement: Statement, at place: inout Int
    ) throws {
        let value = row?.value(column.slot) ?? .null
        if column.coding == .composite { return try bindElements(column, value, to: statement, at: &place) }
        try binding.bind(value, column.coding, attribute: column.property, to: statement, at: place)
        place += 1
        if column.entityName != nil {
            try statement.bind(binding.entityNumber(of: value), at: place)
            place += 1
        }
        if let position = column.positionName {
            try bindPosition(column, position, positions[column.slot], entity, value, to: statement, at: place)
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
                    "Cannot save \(name): the value of \(element.leaf.path.joined(separator: ".")) has the wrong type.",
                    userInfo: [NSValidationKeyErrorKey: column.property.name])
            }
            try binding.bind(part, element.coding, attribute: element.leaf.attribute, to: statement, at: place)
            place += 1
        }
    }

    /// Binds the position in the ordered inverse: the one in the change, otherwise the end of the list.
    private func bindPosition(
        _ column: RowStatements.Column, _ position: String, _ known: Int?, _ entity: NSEntityDescription,
        _ value: SlotValue, to statement: Statement, at place: Int
    ) throws {
        guard case .reference(let owner) = value, let ownerKey = owner.rowKey else {
            return try statement.bindNull(at: place)
        }
        if let known { return try statement.bind(OrderingKeys.key(at: known), at: place) }
        let table = SQLName.quoted(layout.table(of: entity))
        let last = try connection.integer(
            "SELECT MAX(\(SQLName.quoted(position))) FROM \(table) WHERE \(SQLName.quoted(column.name)) = ?",
            [.integer(ownerKey.reference)])
        try statement.bind(last.map(OrderingKeys.key(behind:)) ?? OrderingKeys.first, at: place)
    }
}

/// The statements of each entity written so far.
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
