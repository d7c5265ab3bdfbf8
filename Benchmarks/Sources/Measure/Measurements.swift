import CSQLite3Raw
import CoreData
import Foundation

/// The measurements, in the order of the report. Each takes the framework and raw SQLite through the same work.
@MainActor struct Measurements {
    let league: League
    let folder: URL
    let records: [League.Record]
    let model = League.model()
    let times: Int

    var rosterURL: URL { folder.appendingPathComponent("league.sqlite") }
    var rawPath: String { folder.appendingPathComponent("raw.sqlite").path }

    func run() throws {
        print("| \(league.teams) teams, \(league.zones) zones | Roster ms | raw SQLite ms | ratio |")
        print("|---|---:|---:|---:|")
        try InsertMeasurement(records: records, folder: folder, times: times).run()
        try fillStores()
        try fetchAll()
        try openCold()
        try openWarm()
        try oneChange()
        print("\npeak memory \(peakMemory()) MB")
    }

    /// Fetch every team in the list's order with its values.
    func fetchAll() throws {
        let database = RawDatabase(path: rawPath)
        let raw = Timing.measure(times: times) {
            var names: [String] = []
            database.forEachRow(
                "SELECT ZTEAMNAME, ZWINS, ZQUALIFYINGZONE, ZFOUNDED FROM ZTEAM ORDER BY ZQUALIFYINGZONE, ZWINS DESC, ZTEAMNAME, Z_PK"
            ) { statement in
                names.append(String(cString: sqlite3_column_text(statement, 0)))
                _ = sqlite3_column_int64(statement, 1) &+ Int64(sqlite3_column_bytes(statement, 2))
            }
            precondition(names.count == league.teams)
        }
        let container = try League.container(at: rosterURL, model: model)
        let roster = try Timing.measure(times: times, prepare: { container.newBackgroundContext() }) { context in
            let request = League.request()
            request.fetchBatchSize = 0
            try context.performAndWait {
                let teams = try context.fetch(request)
                precondition(teams.count == league.teams)
            }
        }
        Line(what: "fetch all in order, as objects", roster: roster, raw: raw).report()
    }

    /// The stores that the other measurements read.
    private func fillStores() throws {
        let inserts = InsertMeasurement(records: records, folder: folder, times: 1)
        inserts.insertRaw(at: rawPath, isIndexed: true, keepsHistory: true)
        try inserts.insert(into: League.container(at: rosterURL, model: model))
    }

    private func openController(_ context: NSManagedObjectContext) throws -> NSFetchedResultsController<NSManagedObject>
    {
        let controller = NSFetchedResultsController(
            fetchRequest: League.request(), managedObjectContext: context, sectionNameKeyPath: "qualifyingZone",
            cacheName: "measure")
        try controller.performFetch()
        return controller
    }

    private func readFirstScreen(_ controller: NSFetchedResultsController<NSManagedObject>) {
        var row = 0
        for (section, info) in (controller.sections ?? []).enumerated() {
            for item in 0..<info.numberOfObjects {
                _ = controller.object(at: IndexPath(row: item, section: section)).value(forKey: "teamName")
                row += 1
                if row == 50 { return }
            }
        }
    }

    private static let rawPage =
        "SELECT Z_PK, ZTEAMNAME, ZWINS FROM ZTEAM ORDER BY ZQUALIFYINGZONE, ZWINS DESC, ZTEAMNAME, Z_PK LIMIT 50"

    /// The list from nothing: sections with counts, all positions, the first 50 rows.
    func openCold() throws {
        let raw = Timing.measure(times: times, prepare: { RawDatabase(path: rawPath) }) { database in
            database.forEachRow("SELECT ZQUALIFYINGZONE, count(*) FROM ZTEAM GROUP BY ZQUALIFYINGZONE") { _ in }
            database.forEachRow("SELECT Z_PK FROM ZTEAM ORDER BY ZQUALIFYINGZONE, ZWINS DESC, ZTEAMNAME, Z_PK") { _ in }
            database.forEachRow(Self.rawPage) { _ in }
        }
        let roster = try Timing.measure(
            times: times,
            prepare: {
                NSFetchedResultsController<NSManagedObject>.deleteCache(withName: nil)
                return try League.container(at: rosterURL, model: model)
            },
            work: { readFirstScreen(try openController($0.viewContext)) })
        Line(what: "open the list, no cache, first 50 rows", roster: roster, raw: raw).report()
    }

    /// The list as the second start finds it.
    func openWarm() throws {
        let raw = Timing.measure(times: times, prepare: { RawDatabase(path: rawPath) }) { database in
            database.forEachRow(Self.rawPage) { _ in }
        }
        _ = try openController(try League.container(at: rosterURL, model: model).viewContext)
        let roster = try Timing.measure(
            times: times, prepare: { try League.container(at: rosterURL, model: model) },
            work: { readFirstScreen(try openController($0.viewContext)) })
        Line(what: "open the list with its cache, first 50 rows", roster: roster, raw: raw).report()
    }

    /// One team's wins change and are saved; the delegate has heard old and new index path.
    func oneChange() throws {
        let database = RawDatabase(path: rawPath)
        var random = SeededRandom(seed: 3)
        let raw = Timing.measure(times: 50) {
            let key = 1 + Int(random.next() % UInt64(league.teams))
            database.execute("UPDATE ZTEAM SET ZWINS = \(random.next() % 1_000), Z_OPT = Z_OPT + 1 WHERE Z_PK = \(key)")
        }
        let container = try League.container(at: rosterURL, model: model)
        let controller = try openController(container.viewContext)
        let listener = Listener()
        controller.delegate = listener
        try controller.performFetch()
        let sections = controller.sections ?? []
        let roster = try Timing.measure(
            times: 50,
            prepare: {
                let section = Int(random.next() % UInt64(sections.count))
                let row = Int(random.next() % UInt64(sections[section].numberOfObjects))
                return controller.object(at: IndexPath(row: row, section: section))
            },
            work: { team in
                let before = listener.changes
                let wins = (team.value(forKey: "wins") as? Int ?? 0) + 1
                team.setValue(wins % 1_000, forKey: "wins")
                try container.viewContext.save()
                precondition(listener.changes == before + 1, "the delegate heard \(listener.changes - before) changes")
            })
        Line(
            what: "change one row, save, old and new path told (raw: UPDATE and commit alone)", roster: roster, raw: raw
        )
        .report()
    }
}

/// Counts what a delegate hears.
final class Listener: NSObject, NSFetchedResultsControllerDelegate {
    var changes = 0

    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        changes += 1
    }
}
