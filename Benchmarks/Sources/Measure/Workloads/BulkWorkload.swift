import CoreData
import Foundation

/// 7: many rows change in one save while a list follows. Raw SQLite writes the same rows, with the index.
@MainActor struct BulkWorkload {
    let stage: Stage

    func run() throws {
        for keepsHistory in [false, true] {
            try change(1_000, keepsHistory: keepsHistory, target: 1.5)
            try change(stage.count / 10, keepsHistory: keepsHistory, target: 1.4)
        }
    }

    private func change(_ count: Int, keepsHistory: Bool, target: Double) throws {
        let source = try stage.filledStore(stage.count, keepsHistory: keepsHistory)
        let url = try stage.copy(of: source, named: "bulk")
        let twin = RawTwin(try stage.copy(of: source, named: "bulk-raw"), keepsHistory: keepsHistory)
        let stack = try League.Stack(url, keepsHistory: keepsHistory)
        let live = try LiveList(stack)
        let request = NSFetchRequest<Team>(entityName: "Team")
        request.returnsObjectsAsFaults = false
        let teams = try stack.context.fetch(request)
        var random = SeededRandom(seed: 5)
        let rounds = try Rounds.run(stage.rounds) { rounds in
            var places: Set<Int> = []
            while places.count < min(count, stage.count) { places.insert(random.below(stage.count)) }
            let changes = places.map { (key: Int64($0 + 1), wins: random.below(1_000)) }
            rounds.note("raw", Clock.processor.time { twin.update(changes) })

            let before = live.listener.changes
            let time = try Clock.processor.time {
                for change in changes { teams[Int(change.key - 1)].wins = Int32(change.wins) }
                try stack.context.save()
            }
            rounds.note("roster", time)
            precondition(live.listener.changes > before)
        }
        Line(
            number: 7,
            what: "\(count) rows change in one save, list live; \(keepsHistory ? "with history" : "no history")",
            unit: .milliseconds, figure: rounds["roster"].median, anchor: rounds["raw"].median,
            target: .ratio(target), limit: .ratio(3)
        ).report()
        try stack.close()
        stage.remove(url)
        stage.remove(twin.url)
    }
}
