import CoreData
import Foundation

/// 8: opens a list until all section headers and the first 50 rows are loaded: with its section cache, without, and
/// with a stale one.
@MainActor struct OpenWorkload {
    let stage: Stage

    func run() throws {
        let url = try stage.copy(of: stage.filledStore(stage.count), named: "open")
        let database = RawDatabase(path: url.path)
        let rounds = try Rounds.run(max(5, stage.rounds), warmUp: true) { rounds in
            NSFetchedResultsController<Team>.deleteCache(withName: nil)
            rounds.note("raw", Clock.wall.time { readRaw(database) })
            rounds.note("cold", try open(url))
            waitForWriting()
            rounds.note("warm", try open(url))
            database.execute(
                "UPDATE ZTEAM SET ZWINS = ZWINS + 1, Z_OPT = Z_OPT + 1 WHERE Z_PK = \(1 + rounds.count % 7)")
            rounds.note("stale", try open(url))
            waitForWriting()
        }
        Line(
            number: 8, what: "open the list, section cache warm", unit: .milliseconds, figure: rounds["warm"].median,
            target: .absolute(3e-3), limit: .absolute(10e-3)
        ).report()
        for (kind, text) in [("cold", "no cache"), ("stale", "cache out of date")] {
            Line(
                number: 8, what: "open the list, \(text) (raw: counts by GROUP BY, then the page)",
                unit: .milliseconds, figure: rounds[kind].median, anchor: rounds["raw"].median, target: .ratio(1.2)
            ).report()
        }
        _ = try open(url)
        let null = try MemoryProbe(kind: .nothing, url: url).measure()
        let opened = try MemoryProbe(kind: .open, url: url).measure()
        Line(
            number: 8, what: "… peak memory, cache warm, minus an idle process", unit: .megabytes,
            figure: opened - null, target: .absolute(8e6)
        ).report()
        stage.remove(url)
    }

    /// Waits until the list was written on another queue, as a later launch would.
    private func waitForWriting() { Thread.sleep(forTimeInterval: 0.5) }

    private func readRaw(_ database: RawDatabase) {
        let page = RawTeams()
        let counts = "SELECT ZQUALIFYINGZONE, count(*) FROM ZTEAM GROUP BY ZQUALIFYINGZONE"
        database.forEachRow(counts) { page.append(RawTeams.row($0)) }
        page.read("SELECT \(RawTeams.columns) FROM ZTEAM ORDER BY \(RawTeams.order) LIMIT 50", from: database)
    }

    /// - Returns: Seconds from the open container to the fiftieth row.
    private func open(_ url: URL) throws -> Double {
        let stack = try League.Stack(url)
        let time = try Clock.wall.time { try Self.showFirstScreen(stack) }
        try stack.close()
        return time
    }

    static func showFirstScreen(_ stack: League.Stack) throws {
        let controller = try stack.list(cacheName: "measure")
        try controller.performFetch()
        var row = 0
        for (section, info) in (controller.sections ?? []).enumerated() {
            _ = info.name
            for item in 0..<info.numberOfObjects where row < 50 {
                _ = controller.object(at: IndexPath(row: item, section: section)).teamName
                row += 1
            }
        }
    }
}
