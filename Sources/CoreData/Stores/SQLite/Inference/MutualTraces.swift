import SQLiteAccess

/// Finds pairs of columns that are the two ends of a one-to-one relationship: each row's destination refers back to the
/// row, and no other row has the same value. This is better evidence than similar names, because the keys of small
/// tables often match by chance.
struct MutualTraces {
    private struct Place: Hashable {
        let table: String
        let column: String
    }

    private var destinations: [Place: Int64] = [:]

    /// The minimum number of pairs. Fewer may match by chance.
    private static let enough: Int64 = 2

    /// - Parameter candidates: returns the columns of a table that may be to-one relationships.
    init(traces: StoreTraces, connection: Connection, candidates: (_ table: String) -> [String]) throws {
        var places: [Int64: [Place]] = [:]
        for table in traces.roots.map(traces.table(of:)) {
            guard traces.columnNames(of: table).isSuperset(of: ["Z_PK", "Z_ENT"]) else { continue }
            for column in candidates(table) {
                let name = SQLName.quoted(column)
                let counts = try connection.rows(
                    "SELECT COUNT(\(name)), COUNT(DISTINCT \(name)) FROM \(SQLName.quoted(table))")
                guard case .integer(let all)? = counts.first?[0], case .integer(let distinct)? = counts.first?[1],
                    all == distinct, all >= Self.enough
                else { continue }
                places[all, default: []].append(Place(table: table, column: column))
            }
        }
        for (count, equal) in places {
            for place in equal {
                let partners = try equal.filter { try $0 != place && Self.areEnds(place, $0, count, connection) }
                guard partners.count == 1 else { continue }
                destinations[place] = try Self.entity(of: partners[0], traces, connection)
            }
        }
    }

    /// Returns the number of the column's destination entity, if another column refers back.
    func destination(of column: String, _ table: String) -> Int64? {
        destinations[Place(table: table, column: column)]
    }

    private static func areEnds(
        _ one: Place, _ other: Place, _ count: Int64, _ connection: Connection
    ) throws -> Bool {
        let (left, right) = (SQLName.quoted(one.column), SQLName.quoted(other.column))
        return try connection.integer(
            "SELECT COUNT(*) FROM \(SQLName.quoted(one.table)) AS a JOIN \(SQLName.quoted(other.table)) AS b "
                + "ON a.\(left) = b.Z_PK AND b.\(right) = a.Z_PK") == count
    }

    /// Returns the entity of the rows that have a value; `nil` if there are several. A destination with subentities
    /// would have a second column for its entity.
    private static func entity(
        of place: Place, _ traces: StoreTraces, _ connection: Connection
    ) throws -> Int64? {
        let rows = try connection.rows(
            "SELECT DISTINCT Z_ENT FROM \(SQLName.quoted(place.table)) "
                + "WHERE \(SQLName.quoted(place.column)) IS NOT NULL LIMIT 2")
        guard rows.count == 1, case .integer(let number) = rows[0][0], traces.entity(numbered: number) != nil,
            !traces.hasSubentities(number)
        else { return nil }
        return number
    }
}
