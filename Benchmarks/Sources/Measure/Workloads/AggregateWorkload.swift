import CSQLite3Raw
import CoreData
import Foundation

/// 20: sums, counts and groups as dictionaries, compared with the same SQL read into C structures.
@MainActor struct AggregateWorkload {
    let stage: Stage

    private struct Group {
        var zone: UnsafeMutablePointer<CChar>?
        var count: Int64
        var wins: Int64
        var newest: Double
    }

    func run() throws {
        let url = try stage.filledStore(stage.count)
        let stack = try League.Stack(url)
        let database = RawDatabase(path: url.path)
        try compare(
            "count of the teams with at least 500 wins", "SELECT COUNT(*) FROM ZTEAM WHERE ZWINS >= ?", bound: 500,
            database
        ) {
            let request = NSFetchRequest<Team>(entityName: "Team")
            request.predicate = NSPredicate(format: "wins >= 500")
            return try stack.context.count(for: request)
        }
        try compare("sum of an attribute", "SELECT SUM(ZWINS) FROM ZTEAM", database) {
            let row = try stack.context.fetch(Self.request([Self.expression("wins", "sum:", "wins")])).first
            return row?["wins"] as? Int ?? -1
        }
        try compareGroups(
            "count, sum and newest by zone",
            "SELECT ZQUALIFYINGZONE, COUNT(ZTEAMNAME), SUM(ZWINS), MAX(ZFOUNDED) "
                + "FROM ZTEAM GROUP BY ZQUALIFYINGZONE", stack, database)
        try compareGroups(
            "the same, zones with at least 10 teams, by their sum",
            "SELECT ZQUALIFYINGZONE, COUNT(ZTEAMNAME), SUM(ZWINS) AS s, MAX(ZFOUNDED) FROM ZTEAM "
                + "GROUP BY ZQUALIFYINGZONE HAVING COUNT(ZTEAMNAME) >= 10 ORDER BY s", stack, database
        ) { request in
            request.havingPredicate = NSPredicate(format: "count >= 10")
            request.sortDescriptors = [NSSortDescriptor(key: "wins", ascending: true)]
        }
        try stack.close()
    }

    private static func expression(_ name: String, _ function: String, _ key: String) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression(forFunction: function, arguments: [NSExpression(forKeyPath: key)])
        return description
    }

    private static func request(_ properties: [Any]) -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: "Team")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = properties
        return request
    }

    private func report(_ what: String, _ rounds: Rounds) {
        Line(
            number: 20, what: "\(what), \(stage.count) rows", unit: .milliseconds, figure: rounds["roster"].median,
            anchor: rounds["raw"].median, target: .ratio(1.2), limit: nil
        ).report()
    }

    /// Compares requests for one number.
    private func compare(
        _ what: String, _ sql: String, bound: Int64? = nil, _ database: RawDatabase, _ roster: () throws -> Int
    ) throws {
        let rounds = try Rounds.run(stage.rounds, warmUp: true) { rounds in
            var (expected, found) = (0, 0)
            let raw = Clock.processor.time {
                database.with(sql) { statement in
                    if let bound { sqlite3_bind_int64(statement, 1, bound) }
                    if sqlite3_step(statement) == SQLITE_ROW { expected = Int(sqlite3_column_int64(statement, 0)) }
                }
            }
            rounds.note("raw", raw)
            rounds.note("roster", try Clock.processor.time { found = try roster() })
            precondition(found == expected, "\(what): \(found) instead of \(expected)")
        }
        report(what, rounds)
    }

    private func compareGroups(
        _ what: String, _ sql: String, _ stack: League.Stack, _ database: RawDatabase,
        _ change: (NSFetchRequest<NSDictionary>) -> Void = { _ in }
    ) throws {
        let rounds = try Rounds.run(stage.rounds, warmUp: true) { rounds in
            var groups: [Group] = []
            rounds.note("raw", Clock.processor.time { groups = Self.groups(sql, database) })
            let request = Self.request([
                "qualifyingZone", Self.expression("count", "count:", "teamName"),
                Self.expression("wins", "sum:", "wins"), Self.expression("newest", "max:", "founded"),
            ])
            request.propertiesToGroupBy = ["qualifyingZone"]
            change(request)
            var found: [NSDictionary] = []
            rounds.note("roster", try Clock.processor.time { found = try stack.context.fetch(request) })
            precondition(found.count == groups.count && !groups.isEmpty)
            precondition(found.last?["wins"] as? Int == groups.last.map { Int($0.wins) })
            for group in groups { free(group.zone) }
        }
        report(what, rounds)
    }

    private static func groups(_ sql: String, _ database: RawDatabase) -> [Group] {
        var groups: [Group] = []
        database.forEachRow(sql) { statement in
            let zone = sqlite3_column_text(statement, 0).map {
                strdup(UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            groups.append(
                Group(
                    zone: zone ?? nil, count: sqlite3_column_int64(statement, 1),
                    wins: sqlite3_column_int64(statement, 2), newest: sqlite3_column_double(statement, 3)))
        }
        return groups
    }
}
