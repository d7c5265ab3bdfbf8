import SQLiteAccess

extension SteppedSave: BatchSetSteps {
    func insert(_ rows: NewRows, of entity: NSEntityDescription, keepsIDs: Bool) throws -> BatchOutcome? {
        try session.layout.unreadable.check(rows, of: entity)
        guard let insertion = try insertion(of: entity) else { return nil }
        let first = try PrimaryKeys(connection: session.connection).reserve(
            Int64(rows.count), entity: session.layout.number(of: entity.root),
            table: session.layout.table(of: entity.root))
        try insertion.insert(rows, from: first)
        try indexes.didInsert(rows.count, into: insertion.tableName, rowsBefore: first - 1)
        if session.hasHistory {
            let history = session.historyWriter
            try insertion.writeHistory(history, from: first, count: rows.count, to: try transaction(history))
        }
        var outcome = BatchOutcome(keepsIDs: keepsIDs)
        if keepsIDs {
            outcome.add(Array(session.ids.newIDs(entity: entity, from: first, count: rows.count)))
        } else {
            outcome.add(rows.count)
        }
        return outcome
    }

    func update(_ query: StoreQuery, with values: [BatchSetValue]) throws -> Int? {
        try check(query, values)
        guard let rows = try RowSelection(query, session),
            let update = try SetUpdate(rows, values, of: query.entity, session, files)
        else { return nil }
        return try change(rows, .update, columns: update.columns) { try update.run(session.connection) }
    }

    func delete(_ query: StoreQuery) throws -> Int? {
        let unreadable = session.layout.unreadable
        try unreadable.check(query)
        guard let rows = try RowSelection(query, session),
            rows.entities.allSatisfy({ unreadable.relationship(of: $0) == nil }),
            let deletion = SetDeletion(rows, session)
        else { return nil }
        return try change(rows, .delete, columns: SQLFragment("NULL")) { try deletion.run(session.connection) }
    }

    private func check(_ query: StoreQuery, _ values: [BatchSetValue]) throws {
        let unreadable = session.layout.unreadable
        guard !unreadable.isEmpty else { return }
        try unreadable.check(query)
        for value in values {
            try unreadable.refuseSaving(value.property)
            if case .expression(let tree) = value.value { try unreadable.check(tree, of: query.entity) }
        }
    }

    /// Writes the history of the rows and changes them.
    private func change(
        _ rows: RowSelection, _ kind: StoreTransaction.Kind, columns: SQLFragment, _ body: () throws -> Int
    ) throws -> Int? {
        if try rows.isEmpty(session.connection) { return 0 }
        let before = historyNumber
        do {
            return try session.connection.savepoint("batch") {
                var told: Int?
                if session.hasHistory {
                    let history = session.historyWriter
                    told = try history.append(kind, rows, columns: columns, to: try transaction(history))
                }
                let count = try body()
                guard told == nil || told == count else {
                    throw CoreDataError.make(
                        134030, "\(count) rows changed, but the history has \(told ?? 0) changes. Run roster check.")
                }
                return count
            }
        } catch let error as SQLiteError where error.kind != .interrupted && session.connection.isInTransaction {
            historyNumber = before
            return nil
        }
    }
}
