import CoreData

/// Computes the derived values of all rows again after a migration changed their sources, and finds wrong ones.
struct ServerDerivedFilling {
    let layout: ServerLayout
    let connection: any ServerConnection

    /// The number of rows read at a time.
    private static let rowsAtOnce: Int64 = 5000

    private var key: String { layout.keyText }
    private func quoted(_ name: String) -> String { layout.dialect.quoted(name) }

    /// A column of texts that clients write with their rows.
    private struct TextColumn {
        /// The entity with the text.
        let entity: NSEntityDescription
        let text: NSAttributeDescription
        let functions: [TextFunction]
        /// The name of the derived attribute's column, unquoted.
        let column: String
    }

    private var textColumns: [TextColumn] {
        layout.tables.flatMap(\.columns).compactMap { column in
            switch column.content {
            case .text(let text, let functions):
                return TextColumn(entity: column.entity, text: text, functions: functions, column: column.name)
            case .attribute(let attribute):
                guard let (text, functions) = layout.derivations[attribute]?.written else { return nil }
                return TextColumn(entity: column.entity, text: text, functions: functions, column: column.name)
            case .element, .toOne, .destinationEntity, .position: return nil
            }
        }
    }

    // MARK: Filling

    /// Writes only rows with a wrong value. The time of a save is not changed.
    func fill() throws {
        for column in textColumns {
            try eachWrong(in: column) { keys, texts in
                _ = try connection.run([
                    ServerStatement(
                        "UPDATE \(layout.tableText(of: column.entity)) AS o SET \(quoted(column.column)) = v.value "
                            + "FROM unnest(?, ?) AS v(id, value) WHERE o.\(key) = v.id",
                        [.list(keys, .bigint), .list(texts, .text)])
                ])
            }
        }
        // A value may be derived from derived values. After as many passes as there are derivations, all are right.
        let kept = layout.derivations.all.filter(\.isKept)
        for _ in kept {
            let results = try connection.run(
                kept.map { derivation in
                    let path = ServerDerivedPath(derivation: derivation, layout: layout)
                    return ServerStatement(
                        "WITH u AS (UPDATE \(path.tableText(0)) AS o SET \(path.column) = n.value FROM (SELECT b.\(key) AS id, "
                            + "\(path.value(of: "b")) AS value FROM \(path.tableText(0)) AS b WHERE true"
                            + "\(path.ownRows("b")) OFFSET 0) AS n WHERE o.\(key) = n.id "
                            + "AND o.\(path.column) IS DISTINCT FROM n.value RETURNING 1) SELECT count(*) FROM u")
                })
            if results.allSatisfy({ $0.value(0, 0) == .integer(0) }) || !isNested(kept) { return }
        }
    }

    private func isNested(_ derivations: [ServerDerivation]) -> Bool {
        derivations.contains { derivation in
            switch derivation.source {
            case .value(let end), .sum(let end): end is NSDerivedAttributeDescription
            case .text, .count, .now: false
            }
        }
    }

    // MARK: Checking

    /// Returns the number of wrong texts in each column.
    func wrongTexts() throws -> [(column: String, count: Int)] {
        try textColumns.compactMap { column in
            var count = 0
            try eachWrong(in: column) { keys, _ in count += keys.count }
            return count == 0 ? nil : ("\(layout.table(of: column.entity)).\(column.column)", count)
        }
    }

    /// Compares texts by their bytes.
    private static func areSame(_ left: SQLValue, _ right: SQLValue) -> Bool {
        guard case .text(let left) = left, case .text(let right) = right else { return left == right }
        return left.utf8.elementsEqual(right.utf8)
    }

    /// Calls `body` with the keys of wrong texts and the right values.
    private func eachWrong(in column: TextColumn, _ body: ([SQLValue], [SQLValue]) throws -> Void) throws {
        guard let source = layout.column(of: column.text, in: column.entity) else { return }
        let numbers = layout.entityNumbers(of: column.entity, includingSubentities: true).map { "\($0)" }
        let statement = { (last: Int64) in
            ServerStatement(
                "SELECT t.\(key), t.\(quoted(source)), t.\(quoted(column.column)) FROM "
                    + "\(layout.tableText(of: column.entity)) AS t WHERE t.\(key) > ? AND "
                    + "t.\(quoted(ServerStoreTables.entity)) IN (\(numbers.joined(separator: ", "))) ORDER BY t.\(key) "
                    + "LIMIT \(Self.rowsAtOnce)", [.value(.integer(last), .bigint)])
        }
        var last = Int64.min
        while true {
            let rows = try connection.run([statement(last)])[0]
            var (keys, texts): ([SQLValue], [SQLValue]) = ([], [])
            for row in 0..<rows.rowCount {
                guard case .integer(let number) = rows.value(row, 0) else { continue }
                last = number
                let should = column.functions.applied(to: rows.value(row, 1))
                if Self.areSame(should, rows.value(row, 2)) { continue }
                keys.append(rows.value(row, 0))
                texts.append(should)
            }
            if !keys.isEmpty { try body(keys, texts) }
            if rows.rowCount < Self.rowsAtOnce { return }
        }
    }
}
