import SQLiteAccess

// The order in which rows are written: locked rows are looked at, then deletes, updates and inserts, so that a unique value
// that a deleted row had is free for a new one; then relationship tables. The history and the rollback are the session's. A
// row that is not as it was when its change began is written by no statement (each asks for the version), and noted; the
// caller hears of all of them at once.

/// Writes the rows of one change set, inside the transaction that ``SQLiteSession`` began and commits. Made for one save.
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
    /// - Parameter vacatesUniqueValues: whether rows that get other unique values lose the old ones first, all of them.
    /// - Returns: the IDs of the rows that another context or process changed or deleted. If there are any, the
    ///   transaction must be rolled back.
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

    /// In the order of tables and keys, so that the rows are added at the end of each table.
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

    /// - Parameter reinserted: gets the rows that do not begin with the first version.
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

    /// Grouped by the columns that change, so that each statement is prepared once.
    private func update(_ rows: [StoreRowChange]) throws {
        struct Shape: Hashable {
            let entity: ObjectIdentifier
            let slots: [Int]
        }
        var groups: [(slots: [Int], rows: [StoreRowChange])] = []
        var known: [Shape: Int] = [:]
        // Objects that change together usually change in the same properties.
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
            let key = row.id.savedKey
            if let select = statements[row.id.entity].externalDataText { try noteReplaced(select, [row]) }
            try connection.execute(statements[row.id.entity].deleteText, [.integer(key), .integer(row.baseVersion)])
            if connection.changes == 0 { conflicts.append(row.id) }
            try pairs.removePairs(of: row.id.entity, key: key)
            try reporter?.step()
        }
    }

    /// Notes the files of the values that the rows are about to lose.
    private func noteReplaced(_ select: String, _ rows: [StoreRowChange]) throws {
        for row in rows {
            for value in try connection.rows(select, [.integer(row.id.savedKey)]).first ?? [] {
                if case .blob(let stored) = value { try externalData.willReplace(stored) }
            }
        }
    }

    // MARK: Values

    /// Binds a slot's value with its companions.
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
                    "Cannot save \(name): the value of \(element.leaf.path.joined(separator: ".")) is not of its type.",
                    userInfo: [NSValidationKeyErrorKey: column.property.name])
            }
            try binding.bind(part, element.coding, attribute: element.leaf.attribute, to: statement, at: place)
            place += 1
        }
    }

    /// The place in the ordered inverse: as the change says, or at the end of the list.
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
