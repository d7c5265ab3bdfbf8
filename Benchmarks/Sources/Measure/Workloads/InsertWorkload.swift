import CoreData
import Foundation

/// 1: create objects, set five attributes, save. Raw SQLite inserts the same rows into the same tables.
@MainActor struct InsertWorkload {
    let stage: Stage

    func run() throws {
        try compare("plain table", isIndexed: false, keepsHistory: false)
        try compare("with index and history", isIndexed: true, keepsHistory: true)
    }

    private func compare(_ what: String, isIndexed: Bool, keepsHistory: Bool) throws {
        let records = stage.records(stage.count)
        let raw = RawTeams(records)
        let rawURL = stage.url("insert-raw")
        let url = stage.url("insert")
        let rounds = try Rounds.run(stage.rounds) { rounds in
            stage.remove(rawURL)
            let database = RawDatabase(path: rawURL.path)
            database.execute(RawTeams.schema)
            if isIndexed { database.execute(RawTeams.index) }
            rounds.note("raw", Clock.processor.time { raw.insert(into: database, keepsHistory: keepsHistory) })

            stage.remove(url)
            let stack = try League.Stack(url, isIndexed: isIndexed, keepsHistory: keepsHistory)
            let making = Clock.processor.time { League.insert(records, into: stack.context) }
            let saving = try Clock.processor.time { try stack.context.save() }
            rounds.note("save", saving)
            rounds.note("all", making + saving)
            try stack.close()
        }
        for (part, text, target) in [("save", "save", 1.7), ("all", "create, set and save", 2.2)] {
            Line(
                number: 1, what: "\(text) \(stage.count) objects; \(what)", unit: .milliseconds,
                figure: rounds[part].median, anchor: rounds["raw"].median, target: .ratio(target), limit: .ratio(3)
            ).report()
        }
        stage.remove(url)
        stage.remove(rawURL)
    }
}
