import CSQLite3Raw
import CoreData
import Foundation

/// 6 and 12: one row of a sectioned list changes and may move. Measured from setting the attribute to the delegate's
/// last call, and then the save, compared with raw SQLite's transaction.
@MainActor struct ChangeWorkload {
    let stage: Stage
    private static let times = 500

    func run() throws {
        let small = try follow(10_000)
        let large = try follow(stage.count)
        Line(
            number: 6, what: "… \(stage.count) rows compared with 10000", unit: .microseconds,
            figure: large.median, anchor: small.median, target: .ratio(5)
        ).report()
        try save(keepsHistory: false)
        try save(keepsHistory: true)
    }

    /// - Returns: The times until the last call of the delegate.
    private func follow(_ count: Int) throws -> Timing {
        let url = try stage.filledStore(count)
        let stack = try League.Stack(url)
        let live = try LiveList(stack)
        var random = SeededRandom(seed: 3)
        var rounds = Rounds(0)
        for _ in 0..<Self.times {
            let team = live.randomTeam(&random)
            let before = live.listener.changes
            let wins = Int32(random.below(1_000))
            guard wins != team.wins else { continue }
            let time = Clock.wall.time {
                team.wins = wins
                stack.context.processPendingChanges()
            }
            rounds.note("roster", time)
            precondition(live.listener.changes == before + 1, "not exactly one change was told")
        }
        let reread = reread(url)
        let told = rounds["roster"]
        Line(
            number: 6, what: "one of \(count) rows changes, delegate gets both paths, no UPDATE (median)",
            unit: .microseconds, figure: told.median, target: .absolute(50e-6), limit: .absolute(1e-3)
        ).report()
        Line(
            number: 6, what: "… 99th of 100", unit: .microseconds, figure: told.percentile99,
            target: .absolute(300e-6), limit: .absolute(1e-3)
        ).report()
        Line(
            number: 6, what: "… compared with reading the IDs again and `difference(from:)`",
            unit: .microseconds, figure: told.median, anchor: reread,
            target: count >= 1_000_000 ? .quicker(2_000) : nil
        ).report()
        return told
    }

    /// Time to read the IDs through the index and to compare them with the old ones, without a framework.
    private func reread(_ url: URL) -> Double {
        let database = RawDatabase(path: url.path)
        let sql = "SELECT Z_PK FROM ZTEAM ORDER BY \(RawTeams.order)"
        let rounds = Rounds.run(min(3, stage.rounds)) { rounds in
            var old = RawTeams.keys(sql, from: database)
            old.swapAt(0, old.count / 2)
            let time = Clock.wall.time {
                let difference = RawTeams.keys(sql, from: database).difference(from: old).inferringMoves()
                precondition(!difference.isEmpty)
            }
            rounds.note("reread", time)
        }
        return rounds["reread"].median
    }

    // MARK: With the save

    /// Saves the same change. Raw SQLite runs the UPDATE (and inserts history rows) in a transaction on a copy.
    private func save(keepsHistory: Bool) throws {
        let source = try stage.filledStore(stage.count, keepsHistory: keepsHistory)
        let url = try stage.copy(of: source, named: "change")
        let twin = RawTwin(try stage.copy(of: source, named: "change-raw"), keepsHistory: keepsHistory)
        let stack = try League.Stack(url, keepsHistory: keepsHistory)
        let live = try LiveList(stack)
        var random = SeededRandom(seed: 4)
        var rounds = Rounds(0)
        for _ in 0..<Self.times {
            let key = Int64(1 + random.below(stage.count))
            let wins = random.below(1_000)
            rounds.note("raw", Clock.wall.time { twin.update([(key, wins)]) })
            rounds.note("statement", twin.timeOfStatement(key, wins + 1))
            let team = live.randomTeam(&random)
            let telling = Clock.wall.time {
                team.wins = team.wins == Int32(wins) ? Int32(wins) + 1 : Int32(wins)
                stack.context.processPendingChanges()
            }
            let saving = try Clock.wall.time { try stack.context.save() }
            rounds.note("telling", telling)
            rounds.note("save", saving)
            rounds.note("all", telling + saving)
        }
        let history = keepsHistory ? "with history" : "no history"
        if !keepsHistory {
            Line(
                number: 6, what: "one row changes, with the UPDATE statement, without its commit", unit: .microseconds,
                figure: rounds["telling"].median + rounds["statement"].median, target: .absolute(80e-6),
                limit: .absolute(1e-3)
            ).report()
        }
        Line(
            number: 12, what: "save of one changed row, list live; \(history) (raw: the same transaction)",
            unit: .microseconds, figure: rounds["save"].median, anchor: rounds["raw"].median, target: .ratio(2.5)
        ).report()
        Line(
            number: 12, what: "… with change and delegate call", unit: .microseconds, figure: rounds["all"].median,
            anchor: rounds["raw"].median
        ).report()
        try stack.close()
        stage.remove(url)
        stage.remove(twin.url)
    }
}

/// A sectioned list with a delegate, as a program shows it.
@MainActor struct LiveList {
    let controller: NSFetchedResultsController<Team>
    let listener = Listener()
    private let counts: [Int]

    init(_ stack: League.Stack) throws {
        controller = try stack.list()
        controller.delegate = listener
        try controller.performFetch()
        counts = (controller.sections ?? []).map(\.numberOfObjects)
    }

    /// A team of a row that was shown, and is therefore loaded.
    func randomTeam(_ random: inout SeededRandom) -> Team {
        let sections = controller.sections ?? []
        let section = random.below(sections.count)
        let team = controller.object(
            at: IndexPath(row: random.below(sections[section].numberOfObjects), section: section))
        _ = team.wins
        return team
    }
}

/// Counts the calls of the delegate.
final class Listener: NSObject, NSFetchedResultsControllerDelegate {
    var changes = 0

    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        changes += 1
    }
}

/// A copy of a store in which raw SQLite makes the same changes.
final class RawTwin {
    let url: URL
    private let database: RawDatabase
    private let keepsHistory: Bool
    private let statement: OpaquePointer
    private var nextChange: Int64 = 10_000_000
    private var transaction: Int64 = 10_000

    init(_ url: URL, keepsHistory: Bool) {
        self.url = url
        self.keepsHistory = keepsHistory
        database = RawDatabase(path: url.path)
        statement = database.prepare("UPDATE ZTEAM SET ZWINS = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?")
    }

    deinit { sqlite3_finalize(statement) }

    /// Sets the wins of rows in one transaction, with history rows if the store has a history.
    func update(_ changes: [(key: Int64, wins: Int)]) {
        database.execute("BEGIN IMMEDIATE")
        for (key, wins) in changes { bindAndRun(key, wins) }
        if keepsHistory {
            database.execute(
                "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP) VALUES (\(transaction), 16001, 7e8);"
                    + "UPDATE Z_PRIMARYKEY SET Z_MAX = \(transaction) WHERE Z_ENT = 16001;"
                    + "UPDATE Z_PRIMARYKEY SET Z_MAX = \(nextChange) WHERE Z_ENT = 16002")
            RawTeams.writeHistory(
                of: changes.map(\.key), kind: 1, firstKey: nextChange, transaction: transaction, database)
            nextChange += Int64(changes.count)
            transaction += 1
        }
        database.execute("COMMIT")
    }

    /// Time of the statement without a commit. The change is rolled back.
    func timeOfStatement(_ key: Int64, _ wins: Int) -> Double {
        database.execute("BEGIN IMMEDIATE")
        defer { database.execute("ROLLBACK") }
        return Clock.wall.time { bindAndRun(key, wins) }
    }

    private func bindAndRun(_ key: Int64, _ wins: Int) {
        sqlite3_bind_int64(statement, 1, Int64(wins))
        sqlite3_bind_int64(statement, 2, key)
        runRaw(statement)
    }
}
