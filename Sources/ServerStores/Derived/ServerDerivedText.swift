import CoreData

// Derived attributes are ordinary columns that triggers update. There is a function for each table and kind of
// statement that affects an attribute. It is called once per statement with all its rows, finds the affected rows of
// the attributes and computes their values again. Counts, and sums of exact numbers over one relationship, are instead
// updated incrementally, so that a change costs one step however many rows are counted.
//
// Before the commit each of two concurrent transactions sees only its own rows. So saves of tables that affect derived
// values of other rows lock the store exclusively (`ServerTransactionStart`). Other programs do not take that lock.
// Incremental updates are right even then, because the second transaction adds to what the first one committed. A value
// that is computed again (a copy, or a value over several relationships) can miss uncommitted changes of another
// transaction, if one of the two is another program's. An UPDATE of a join table and TRUNCATE have no triggers.
//
// Each row that gets another value is recorded in a setting of the transaction. The save reads it for its history and
// for the values of its objects. Only on request, because each record reads and writes all previous ones.

/// The functions and triggers of a store's derived attributes.
struct ServerDerivedText {
    let layout: ServerLayout

    /// The setting with a line for each changed value: the entity's number, the key, the property as JSON.
    private static let setting = "coredata.touched"

    /// The setting that is `on` in a transaction that records changes.
    static let noting = "coredata.noting"
    private static let isNoting = "current_setting('\(noting)', true) IS NOT DISTINCT FROM 'on'"

    /// The changes recorded so far in the transaction, as rows.
    static let touched =
        "SELECT split_part(l, ' ', 1)::int4 AS entity, split_part(l, ' ', 2)::int8 AS key, "
        + "substr(l, length(split_part(l, ' ', 1)) + length(split_part(l, ' ', 2)) + 3) AS property "
        + "FROM string_to_table(nullif(current_setting('\(setting)', true), ''), chr(10)) AS l"

    /// Clears the recorded changes.
    static let forgetting = ServerStatement("SELECT set_config('\(setting)', '', true)")

    private enum Event: String, CaseIterable {
        case insert
        case update
        case delete
    }

    private struct Place: Hashable {
        /// The name of the table, unquoted.
        let table: String
        let event: Event
    }

    private var key: String { layout.keyText }
    private func quoted(_ name: String) -> String { layout.dialect.quoted(name) }

    // MARK: Statements

    /// Creates the functions and their triggers. Run after the tables are created.
    func statements() -> [String] {
        functions().flatMap { function -> [String] in
            let name = layout.tableText(function.name)
            // The search path has only the server's names, whatever schemas a session adds.
            let made =
                "CREATE FUNCTION \(name)() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS "
                + SQLText.literal(function.body)
            let note =
                "COMMENT ON FUNCTION \(name)() IS "
                + SQLText.literal("maintains the derived attributes of a Core Data store")
            return [made, note]
                + function.triggers.map { trigger in
                    "CREATE TRIGGER \(quoted(trigger.name)) \(trigger.event) ON \(layout.tableText(function.table)) "
                        + "\(trigger.rows) EXECUTE FUNCTION \(name)()"
                }
        }
    }

    /// Drops the functions and their remaining triggers.
    func removals() -> [String] {
        functions().map { "DROP FUNCTION IF EXISTS \(layout.tableText($0.name))() CASCADE" }
    }

    /// The names of the trigger functions, unquoted.
    var functionNames: [String] { functions().map(\.name) }

    private struct Function {
        let name: String
        let table: String
        let body: String
        let triggers: [(name: String, event: String, rows: String)]
    }

    private func functions() -> [Function] {
        guard !layout.derivations.all.isEmpty else { return [] }
        var taken: Set<String> = []
        let bodies = bodies()
        var functions: [Function] = []
        for table in layout.tables.map(\.name) + layout.joinTables.map(\.name) {
            if let moment = moment(table, &taken) { functions.append(moment) }
            for event in Event.allCases {
                guard let parts = bodies[Place(table: table, event: event)] else { continue }
                let name = ServerNames.claim("\(table)_derive_\(event.rawValue)", &taken)
                let changed = event == .delete ? "old_rows" : "new_rows"
                let rows =
                    switch event {
                    case .insert: "NEW TABLE AS new_rows"
                    case .update: "OLD TABLE AS old_rows NEW TABLE AS new_rows"
                    case .delete: "OLD TABLE AS old_rows"
                    }
                functions.append(
                    Function(
                        name: name, table: table,
                        // A statement that changes no rows fires too, so the UPDATE of a table by its own trigger would
                        // never end.
                        body: "#variable_conflict use_variable\nDECLARE x bigint[]; k bigint[]; t text;\nBEGIN\n"
                            + "IF NOT EXISTS (SELECT 1 FROM \(changed)) THEN RETURN NULL; END IF;\n"
                            + "\(parts.joined())RETURN NULL;\nEND",
                        triggers: [
                            (name, "AFTER \(event.rawValue.uppercased())", "REFERENCING \(rows) FOR EACH STATEMENT")
                        ]))
            }
        }
        return functions
    }

    /// Sets the time of a save whenever a save writes a row. Updates of derived values do not change the version.
    private func moment(_ table: String, _ taken: inout Set<String>) -> Function? {
        var body = ""
        for derivation in layout.derivations.all {
            guard case .now = derivation.source, layout.table(of: derivation.entity) == table else { continue }
            let path = ServerDerivedPath(derivation: derivation, layout: layout)
            body +=
                "IF true\(path.ownRows("NEW")) THEN NEW.\(path.column) := "
                + "extract(epoch FROM clock_timestamp())::float8 - 978307200; END IF;\n"
        }
        guard !body.isEmpty else { return nil }
        let name = ServerNames.claim("\(table)_derive_moment", &taken)
        let version = quoted(ServerStoreTables.version)
        return Function(
            name: name, table: table, body: "BEGIN\n\(body)RETURN NEW;\nEND",
            triggers: [
                (name, "BEFORE INSERT", "FOR EACH ROW"),
                (
                    ServerNames.claim("\(name)_again", &taken), "BEFORE UPDATE",
                    "FOR EACH ROW WHEN (OLD.\(version) IS DISTINCT FROM NEW.\(version))"
                ),
            ])
    }

    // MARK: Bodies

    private func bodies() -> [Place: [String]] {
        var bodies: [Place: [String]] = [:]
        let kept = layout.derivations.all.filter(\.isKept)
        for entity in layout.entities {
            let own = kept.filter { $0.entity === entity }.map { ServerDerivedPath(derivation: $0, layout: layout) }
            guard let first = own.first else { continue }
            bodies[Place(table: first.table(0), event: .insert), default: []].append(newRows(own))
        }
        for derivation in kept {
            let path = ServerDerivedPath(derivation: derivation, layout: layout)
            for (place, part) in isCounted(path) ? counting(path) : facts(path) {
                bodies[place, default: []].append(part)
            }
        }
        return bodies
    }

    /// Computes all values of new rows. They are not recorded as changed, because the rows are new.
    private func newRows(_ paths: [ServerDerivedPath]) -> String {
        let path = paths[0]
        let values = paths.enumerated().map { "\($1.value(of: "b")) AS v\($0)" }.joined(separator: ", ")
        let sets = paths.enumerated().map { "\($1.column) = n.v\($0)" }.joined(separator: ", ")
        let others = paths.enumerated().map { "o.\($1.column) IS DISTINCT FROM n.v\($0)" }.joined(separator: " OR ")
        return "x := ARRAY(SELECT n.\(key) FROM new_rows AS n WHERE true\(path.ownRows("n")));\n"
            + "IF x <> '{}' THEN UPDATE \(path.tableText(0)) AS o SET \(sets) FROM (SELECT b.\(key) AS id, \(values) "
            + "FROM \(path.tableText(0)) AS b WHERE b.\(key) = ANY(x) OFFSET 0) AS n "
            + "WHERE o.\(key) = n.id AND (\(others)); END IF;\n"
    }

    /// Returns the events that affect a value, and the statements to run for each.
    private func facts(_ path: ServerDerivedPath) -> [(Place, String)] {
        let hops = path.derivation.hops
        var facts: [(Place, String)] = []
        func add(_ event: Event, _ table: String, _ keys: String, _ level: Int) {
            facts.append((Place(table: table, event: event), derive(path, from: keys, at: level)))
        }
        let both = "new_rows AS n JOIN old_rows AS o ON o.\(key) = n.\(key)"
        for (hop, relationship) in hops.enumerated() {
            if relationship.isToMany {
                let children = path.children(hop)
                let owner = children.owner
                add(.insert, children.table, "SELECT n.\(owner) FROM new_rows AS n WHERE n.\(owner) IS NOT NULL", hop)
                add(.delete, children.table, "SELECT o.\(owner) FROM old_rows AS o WHERE o.\(owner) IS NOT NULL", hop)
                if children.isJoinTable { continue }
                add(
                    .update, children.table,
                    "SELECT unnest(ARRAY[n.\(owner), o.\(owner)]) FROM \(both) WHERE n.\(owner) IS DISTINCT FROM o.\(owner)",
                    hop)
            } else {
                let column = path.column(ofHop: hop)
                add(
                    .update, path.table(hop),
                    "SELECT n.\(key) FROM \(both) WHERE n.\(column) IS DISTINCT FROM o.\(column)", hop)
                // A referenced row may be inserted after the row that refers to it.
                add(.insert, path.table(hop + 1), "SELECT n.\(key) FROM new_rows AS n", hop + 1)
            }
        }
        if let end = path.end {
            add(
                .update, path.table(hops.count),
                "SELECT n.\(key) FROM \(both) WHERE n.\(end.column) IS DISTINCT FROM o.\(end.column)", hops.count)
        }
        return facts
    }

    /// Computes the values again for all rows whose path reaches rows of a level.
    private func derive(_ path: ServerDerivedPath, from keys: String, at level: Int) -> String {
        let table = path.tableText(0)
        let rows = level == 0 ? "k := x;" : "k := ARRAY(\(path.rows(leadingTo: "x", at: level)));"
        return "x := ARRAY(\(keys));\nIF x <> '{}' THEN \(rows)\n"
            + "PERFORM 1 FROM \(table) AS o WHERE o.\(key) = ANY(k) ORDER BY o.\(key) FOR NO KEY UPDATE;\n"
            + noting(
                path,
                "n AS MATERIALIZED (SELECT b.\(key) AS id, \(path.value(of: "b")) AS value FROM \(table) AS b "
                    + "WHERE b.\(key) = ANY(k)\(path.ownRows("b"))), "
                    + "u AS (UPDATE \(table) AS o SET \(path.column) = n.value FROM n "
                    + "WHERE o.\(key) = n.id AND o.\(path.column) IS DISTINCT FROM n.value RETURNING o.*)")
            + "END IF;\n"
    }

    // MARK: Incremental updates

    /// True if a count or sum is updated by adding and subtracting. False for an integer sum of decimals: each step
    /// would lose the fraction.
    private func isCounted(_ path: ServerDerivedPath) -> Bool {
        guard path.derivation.hops.count == 1, let type = ServerType(path.derivation.attribute),
            [.bigint, .numeric].contains(type)
        else { return false }
        switch path.derivation.source {
        case .count: return true
        case .sum:
            guard let end = path.end, !path.children(0).isJoinTable else { return false }
            return end.type != .double && (end.type != .numeric || type == .numeric)
        case .value, .text, .now: return false
        }
    }

    private func counting(_ path: ServerDerivedPath) -> [(Place, String)] {
        let children = path.children(0)
        let owner = children.owner
        func amount(_ row: String) -> String {
            path.end.map { "coalesce(\(ServerDerivedPath.exact("\(row).\($0.column)", $0.type)), 0)" } ?? "1::numeric"
        }
        // Rows of an owner that is itself new are counted with the owner.
        let isNew =
            children.table == path.table(0)
            ? " AND NOT EXISTS (SELECT 1 FROM new_rows AS m WHERE m.\(key) = n.\(owner))" : ""
        let come = "SELECT n.\(owner) AS id, \(amount("n")) AS amount FROM new_rows AS n WHERE n.\(owner) IS NOT NULL"
        let gone = "SELECT o.\(owner) AS id, -\(amount("o")) AS amount FROM old_rows AS o WHERE o.\(owner) IS NOT NULL"
        var parts = [
            (Place(table: children.table, event: .insert), count(path, come + isNew)),
            (Place(table: children.table, event: .delete), count(path, gone)),
        ]
        if children.isJoinTable { return parts }
        let columns = [owner] + [path.end?.column].compactMap(\.self)
        let differ = columns.map { "n.\($0) IS DISTINCT FROM o.\($0)" }.joined(separator: " OR ")
        let both = "FROM new_rows AS n JOIN old_rows AS o ON o.\(key) = n.\(key) WHERE (\(differ))"
        parts.append(
            (
                Place(table: children.table, event: .update),
                count(
                    path,
                    "SELECT n.\(owner) AS id, \(amount("n")) AS amount \(both) AND n.\(owner) IS NOT NULL UNION ALL "
                        + "SELECT o.\(owner), -\(amount("o")) \(both) AND o.\(owner) IS NOT NULL")
            ))
        return parts
    }

    /// Adds the amounts of new rows to the owners and subtracts those of removed ones.
    ///
    /// Computes the value again if the stored one is at its type's limit or NaN, or if another program wrote the row in
    /// this transaction: a statement that inserts the row and its members has already counted them.
    private func count(_ path: ServerDerivedPath, _ amounts: String) -> String {
        let sum = "coalesce(o.\(path.column), 0) + n.amount"
        let isWhole = ServerType(path.derivation.attribute) == .bigint
        let next = isWhole ? ServerDerivedPath.whole(sum) : sum
        let isLost =
            isWhole ? "o.\(path.column) IN (-9223372036854775808, 9223372036854775807)" : "\(sum) = 'NaN'::numeric"
        let value =
            "CASE WHEN \(isLost) OR (o.xmin = pg_current_xact_id()::xid AND NOT (\(Self.isNoting))) "
            + "THEN \(path.value(of: "o")) ELSE \(next) END"
        return noting(
            path,
            "n AS MATERIALIZED (SELECT c.id, sum(c.amount) AS amount FROM (\(amounts)) AS c GROUP BY c.id "
                + "HAVING sum(c.amount) <> 0), "
                + "u AS (UPDATE \(path.tableText(0)) AS o SET \(path.column) = \(value) FROM n "
                + "WHERE o.\(key) = n.id\(path.ownRows("o")) RETURNING o.*)")
    }

    // MARK: Recording

    /// Records the rows of `u`.
    private func noting(_ path: ServerDerivedPath, _ tables: String) -> String {
        let property = SQLText.literal(" " + ServerHistory.jsonText(path.derivation.attribute.name))
        let line = "u.\(quoted(ServerStoreTables.entity)) || ' ' || u.\(key) || \(property)"
        return "WITH \(tables) SELECT string_agg(\(line), chr(10)) INTO t FROM u;\n"
            + "IF t IS NOT NULL AND \(Self.isNoting) THEN PERFORM set_config('\(Self.setting)', concat_ws(chr(10), "
            + "nullif(current_setting('\(Self.setting)', true), ''), t), true); END IF;\n"
    }
}
