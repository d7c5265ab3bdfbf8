import CoreData

/// Finds damage in a store's tables that the server itself does not prevent. Repairs nothing: administrators can do
/// that with statements that follow from the findings.
struct ServerCheck {
    let layout: ServerLayout
    let connection: any ServerConnection

    private func quoted(_ name: String) -> String { layout.dialect.quoted(name) }
    private var key: String { quoted(ServerStoreTables.key) }
    private var entity: String { quoted(ServerStoreTables.entity) }

    func findings() throws -> [PersistentStoreFinding] {
        let visible = try visibleSequences()
        var checks: [(kind: PersistentStoreFinding.Kind, text: String, message: (Int64) -> String)] = []
        for table in layout.tables {
            let name = layout.tableText(table.name)
            let numbers = table.entities.map { "\(layout.number(of: $0))" }.joined(separator: ", ")
            checks.append(
                (
                    .entity, "SELECT count(*) FROM \(name) WHERE \(entity) NOT IN (\(numbers))",
                    { "\($0) rows of \(name) have entities that do not belong to the table" }
                ))
            checks.append(
                (
                    .counter,
                    visible.contains(table.sequence)
                        ? "SELECT count(*) FROM \(name) WHERE \(key) >= (SELECT CASE WHEN is_called THEN last_value "
                            + "+ \(ServerStoreTables.keysAtOnce) ELSE last_value END FROM "
                            + "\(layout.tableText(table.sequence)))" : "SELECT 0::bigint",
                    { "\($0) rows of \(name) have keys that its sequence will use again" }
                ))
            for column in table.columns {
                guard case .toOne(let toOne) = column.content, let destination = toOne.destinationEntity else {
                    continue
                }
                let far = layout.tableText(of: destination)
                checks.append(
                    (
                        .reference,
                        "SELECT count(*) FROM \(name) AS t WHERE t.\(quoted(column.name)) IS NOT NULL AND NOT EXISTS "
                            + "(SELECT 1 FROM \(far) AS d WHERE d.\(key) = t.\(quoted(column.name)))",
                        { "\($0) rows of \(name): \(column.name) refers to rows that do not exist" }
                    ))
                guard let position = layout.positionColumn(of: toOne) else { continue }
                checks.append(
                    (
                        .order,
                        "SELECT count(*) FROM (SELECT 1 FROM \(name) WHERE \(quoted(column.name)) IS NOT NULL "
                            + "GROUP BY \(quoted(column.name)), \(quoted(position)) "
                            + "HAVING count(*) > 1 OR \(quoted(position)) IS NULL) AS shared",
                        { "\($0) positions in the lists of \(name).\(column.name) are duplicate or missing" }
                    ))
            }
        }
        checks += historyChecks()
        checks += derivedChecks()
        let results = try connection.run(checks.map { ServerStatement($0.text) })
        let texts = try ServerDerivedFilling(layout: layout, connection: connection).wrongTexts().map { column, count in
            PersistentStoreFinding(
                kind: .derived, message: "\(count) texts of \(column) differ from their derivation",
                isRepairable: false)
        }
        return texts
            + zip(checks, results).compactMap { check, result in
                guard case .integer(let count) = result.value(0, 0), count > 0 else { return nil }
                return PersistentStoreFinding(kind: check.kind, message: check.message(count), isRepairable: false)
            }
    }

    /// Returns the sequences that the role may read. Readers of a store need no right on them; the checks of other
    /// sequences are skipped.
    private func visibleSequences() throws -> Set<String> {
        let results = try connection.run(
            layout.tables.map { table in
                let sequence = SQLText.literal(layout.tableText(table.sequence))
                return ServerStatement("SELECT has_sequence_privilege(\(sequence)::regclass, 'SELECT')")
            })
        return Set(zip(layout.tables, results).filter { $1.value(0, 0) == .integer(1) }.map(\.0.sequence))
    }

    /// Returns checks for derived values that differ from what their derivation gives.
    private func derivedChecks() -> [(PersistentStoreFinding.Kind, String, (Int64) -> String)] {
        layout.derivations.all.filter(\.isKept).map { derivation in
            let path = ServerDerivedPath(derivation: derivation, layout: layout)
            let name = "\(derivation.entity.name ?? "").\(derivation.attribute.name)"
            return (
                .derived,
                "SELECT count(*) FROM \(path.tableText(0)) AS b WHERE b.\(path.column) IS DISTINCT FROM "
                    + "\(path.value(of: "b"))\(path.ownRows("b"))",
                { "\($0) values of \(name) differ from their derivation" }
            )
        }
    }

    private func historyChecks() -> [(PersistentStoreFinding.Kind, String, (Int64) -> String)] {
        let transactions = layout.tableText(ServerStoreTables.transactions)
        return [
            (
                .history,
                "SELECT count(*) FROM \(layout.tableText(ServerStoreTables.changes)) AS c WHERE NOT EXISTS "
                    + "(SELECT 1 FROM \(transactions) AS t WHERE t.number = c.transaction)",
                { "\($0) changes of the history have no transaction" }
            ),
            (
                .history,
                "SELECT abs(changes - removed - (SELECT count(*) FROM \(transactions) WHERE number > removed)) FROM "
                    + layout.tableText(ServerStoreTables.store),
                { "\($0) transactions of the history are missing or not counted" }
            ),
        ]
    }
}

extension ServerEngine: CheckableStore {
    package func findings() throws -> [PersistentStoreFinding] {
        try reading { session, connection in
            try ServerCheck(layout: session.layout, connection: connection).findings()
        }
    }

    package func repair() throws -> [PersistentStoreFinding] { [] }
}
