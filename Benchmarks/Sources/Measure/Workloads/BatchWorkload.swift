import CoreData
import Foundation

/// 20: batch requests, compared with SQL on the same rows; with and without the list's index.
@MainActor struct BatchWorkload {
    let stage: Stage

    func run() throws {
        try compareInsertions("plain table", isIndexed: false)
        try compareInsertions("index", isIndexed: true)
        try compareChanges()
        let url = stage.url("batch.\(stage.count)")
        let null = try MemoryProbe(kind: .nothing, url: url).measure()
        Line(
            number: 20, what: "insert \(stage.count) rows in a batch: peak memory, minus an idle process",
            unit: .megabytes, figure: try MemoryProbe(kind: .batch, url: url).measure() - null, target: .absolute(30e6)
        ).report()
        stage.remove(url)
    }

    /// A batch insertion with a block that makes one row at a time.
    static func insertion(of count: Int) -> NSBatchInsertRequest {
        var number = 0
        return NSBatchInsertRequest(entityName: "Team") { (dictionary: NSMutableDictionary) -> Bool in
            guard number < count else { return true }
            number += 1
            dictionary["teamName"] = "Team \(number)"
            dictionary["qualifyingZone"] = "Zone \(number % 5_000)"
            dictionary["wins"] = number % 1_000
            dictionary["founded"] = Date(timeIntervalSinceReferenceDate: Double(number))
            dictionary["venue"] = number % 10_000
            return false
        }
    }

    private func compareInsertions(_ what: String, isIndexed: Bool) throws {
        let records = stage.records(stage.count)
        let raw = RawTeams(records)
        let (rawURL, url) = (stage.url("batch-raw"), stage.url("batch"))
        let rounds = try Rounds.run(stage.rounds) { rounds in
            stage.remove(rawURL)
            let database = RawDatabase(path: rawURL.path)
            database.execute(RawTeams.schema)
            if isIndexed { database.execute(RawTeams.index) }
            rounds.note("raw", Clock.processor.time { raw.insert(into: database, keepsHistory: false) })

            stage.remove(url)
            let stack = try League.Stack(url, isIndexed: isIndexed)
            var next = records[...]
            let request = NSBatchInsertRequest(entityName: "Team") { (dictionary: NSMutableDictionary) -> Bool in
                guard let record = next.popFirst() else { return true }
                dictionary["teamName"] = record.name
                dictionary["qualifyingZone"] = record.zone
                dictionary["wins"] = record.wins
                dictionary["founded"] = Date(timeIntervalSinceReferenceDate: record.founded)
                dictionary["venue"] = record.venue
                return false
            }
            rounds.note("batch", try Clock.processor.time { try stack.context.execute(request) })
            try stack.close()
        }
        Line(
            number: 20, what: "insert \(stage.count) rows in a batch; \(what)", unit: .milliseconds,
            figure: rounds["batch"].median, anchor: rounds["raw"].median, target: .ratio(isIndexed ? 0.6 : 1.5),
            limit: nil
        ).report()
        stage.remove(url)
        stage.remove(rawURL)
    }

    private func compareChanges() throws {
        let full = try stage.filledStore(stage.count)
        let rounds = try Rounds.run(stage.rounds) { rounds in
            let rawURL = try stage.copy(of: full, named: "batch-raw")
            let database = RawDatabase(path: rawURL.path)
            rounds.note(
                "raw update",
                Clock.processor.time {
                    database.execute("UPDATE ZTEAM SET ZVENUE = ZVENUE + 1, Z_OPT = Z_OPT + 1 WHERE ZWINS >= 500")
                })
            rounds.note(
                "raw delete", Clock.processor.time { database.execute("DELETE FROM ZTEAM WHERE ZWINS >= 500") })

            let url = try stage.copy(of: full, named: "batch")
            let stack = try League.Stack(url, isIndexed: true)
            let update = NSBatchUpdateRequest(entityName: "Team")
            update.predicate = NSPredicate(format: "wins >= 500")
            update.propertiesToUpdate = ["venue": NSExpression(format: "venue + 1")]
            rounds.note("update", try Clock.processor.time { try stack.context.execute(update) })
            let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Team")
            fetch.predicate = NSPredicate(format: "wins >= 500")
            let deletion = NSBatchDeleteRequest(fetchRequest: fetch)
            rounds.note("delete", try Clock.processor.time { try stack.context.execute(deletion) })
            try stack.close()
        }
        for what in ["update", "delete"] {
            Line(
                number: 20, what: "\(what) \(stage.count / 2) rows in a batch", unit: .milliseconds,
                figure: rounds[what].median, anchor: rounds["raw \(what)"].median, target: .ratio(1.3), limit: nil
            ).report()
        }
    }
}
