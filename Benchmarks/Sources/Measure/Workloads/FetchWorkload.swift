import CoreData
import Foundation

/// 3 and 4: all teams in order, as faults and loaded.
@MainActor struct FetchWorkload {
    let stage: Stage

    func run() throws {
        try faults(isIndexed: true)
        try faults(isIndexed: false)
        try loaded()
    }

    /// Raw SQLite reads the IDs in order.
    private func faults(isIndexed: Bool) throws {
        let url = try stage.filledStore(stage.count, isIndexed: isIndexed)
        let stack = try League.Stack(url, isIndexed: isIndexed)
        let database = RawDatabase(path: url.path)
        let rounds = try Rounds.run(stage.rounds, warmUp: true) { rounds in
            var keys: [Int64] = []
            let sql = "SELECT Z_PK FROM ZTEAM ORDER BY \(RawTeams.order)"
            rounds.note("raw", Clock.processor.time { keys = RawTeams.keys(sql, from: database) })
            precondition(keys.count == stage.count)

            let controller = NSFetchedResultsController(
                fetchRequest: League.request(), managedObjectContext: stack.context, sectionNameKeyPath: nil,
                cacheName: nil)
            rounds.note("list", try Clock.processor.time { try controller.performFetch() })

            let context = stack.container.newBackgroundContext()
            var teams: [Team] = []
            let making = try Clock.processor.time {
                try context.performAndWait { teams = try context.fetch(League.request()) }
            }
            rounds.note("objects", making)
            precondition(teams.count == stage.count && teams.allSatisfy(\.isFault))
        }
        let index = isIndexed ? "" : ", no index"
        Line(
            number: 3, what: "sorted fetch into a results controller (rows by number)\(index)", unit: .milliseconds,
            figure: rounds["list"].median, anchor: rounds["raw"].median, target: .ratio(isIndexed ? 1.15 : 0.6),
            limit: isIndexed ? .ratio(1.5) : nil
        ).report()
        Line(
            number: 3, what: "sorted fetch, all fault objects created\(index)", unit: .milliseconds,
            figure: rounds["objects"].median, anchor: rounds["raw"].median, target: isIndexed ? .ratio(2) : nil,
            limit: isIndexed ? .ratio(2.5) : nil
        ).report()
    }

    /// Raw SQLite sorts whole rows into C structures without an index.
    private func loaded() throws {
        let url = try stage.filledStore(stage.count)
        let stack = try League.Stack(url)
        let database = RawDatabase(path: url.path)
        let rounds = try Rounds.run(stage.rounds, warmUp: true) { rounds in
            let raw = RawTeams()
            let sql = "SELECT \(RawTeams.columns) FROM ZTEAM NOT INDEXED ORDER BY \(RawTeams.order)"
            rounds.note("raw", Clock.processor.time { raw.read(sql, from: database) })
            precondition(raw.count == stage.count)

            let context = stack.container.newBackgroundContext()
            let request = League.request(batchSize: 0)
            request.returnsObjectsAsFaults = false
            var teams: [Team] = []
            let time = try Clock.processor.time {
                try context.performAndWait { teams = try context.fetch(request) }
            }
            rounds.note("roster", time)
            precondition(teams.count == stage.count && !teams[0].isFault)
        }
        Line(
            number: 4, what: "sorted fetch, all attributes loaded (raw: ORDER BY without index)", unit: .milliseconds,
            figure: rounds["roster"].median, anchor: rounds["raw"].median, target: .ratio(0.7), limit: .ratio(1.3)
        ).report()
    }
}
