import CSQLite3Raw
import CoreData
import Foundation

/// 5: rows become visible. Raw SQLite reads the same rows by key with prepared statements.
@MainActor struct ScrollWorkload {
    let stage: Stage
    private static let batch = 50

    func run() throws {
        let url = try stage.filledStore(stage.count)
        let stack = try League.Stack(url)
        let database = RawDatabase(path: url.path)
        try batches(stack, database)
        try singles(stack, database)
    }

    /// The rows of a results controller at a random depth: none of them was seen before.
    private func batches(_ stack: League.Stack, _ database: RawDatabase) throws {
        let places = Array(repeating: "?", count: Self.batch).joined(separator: ",")
        let statement = database.prepare("SELECT \(RawTeams.columns) FROM ZTEAM WHERE Z_PK IN (\(places))")
        defer { sqlite3_finalize(statement) }
        let context = stack.container.newBackgroundContext()
        let teams = try context.performAndWait { try context.fetch(League.request(batchSize: Self.batch)) }
        let controller = try stack.list()
        try controller.performFetch()
        var starts = Array(0..<stage.count / Self.batch)
        var random = SeededRandom(seed: 11)
        starts.shuffle(using: &random)
        var rounds = Rounds(0)
        for start in starts.prefix(1_000) {
            let rows = start * Self.batch..<(start + 1) * Self.batch
            let ids = controller.objectIDs(at: rows)
            let keys = ids.compactMap { Int64($0.uriRepresentation().lastPathComponent.dropFirst()) }
            let raw = Clock.wall.time {
                let found = RawTeams()
                for (place, key) in keys.enumerated() { sqlite3_bind_int64(statement, Int32(place + 1), key) }
                while sqlite3_step(statement) == SQLITE_ROW { found.append(RawTeams.row(statement)) }
                sqlite3_reset(statement)
            }
            rounds.note("raw", raw)
            let roster = context.performAndWait { Clock.wall.time { for row in rows { _ = teams[row].wins } } }
            rounds.note("roster", roster)
            precondition(!teams[rows.lowerBound].isFault)
        }
        Line(
            number: 5, what: "scroll: fire a random batch of 50 (median)", unit: .microseconds,
            figure: rounds["roster"].median, anchor: rounds["raw"].median, target: .ratio(1.6), limit: .ratio(3)
        ).report()
        Line(
            number: 5, what: "… in absolute time", unit: .microseconds, figure: rounds["roster"].median,
            target: .absolute(250e-6)
        ).report()
    }

    private func singles(_ stack: League.Stack, _ database: RawDatabase) throws {
        let statement = database.prepare("SELECT \(RawTeams.columns) FROM ZTEAM WHERE Z_PK = ?")
        defer { sqlite3_finalize(statement) }
        let context = stack.container.newBackgroundContext()
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Team")
        request.resultType = .managedObjectIDResultType
        let ids = try context.performAndWait { try context.fetch(request) }
        var random = SeededRandom(seed: 12)
        var rounds = Rounds(0)
        context.performAndWait {
            for _ in 0..<2_000 {
                let id = ids[random.below(ids.count)]
                guard let key = Int64(id.uriRepresentation().lastPathComponent.dropFirst()),
                    let team = context.object(with: id) as? Team, team.isFault
                else { continue }
                let raw = Clock.wall.time {
                    let found = RawTeams()
                    sqlite3_bind_int64(statement, 1, key)
                    while sqlite3_step(statement) == SQLITE_ROW { found.append(RawTeams.row(statement)) }
                    sqlite3_reset(statement)
                }
                rounds.note("raw", raw)
                rounds.note("roster", Clock.wall.time { _ = team.wins })
            }
        }
        Line(
            number: 5, what: "scroll: fire one fault (median)", unit: .microseconds, figure: rounds["roster"].median,
            anchor: rounds["raw"].median, target: .ratio(2), limit: .ratio(3)
        ).report()
        Line(
            number: 5, what: "… in absolute time", unit: .microseconds, figure: rounds["roster"].median,
            target: .absolute(10e-6)
        ).report()
    }
}
