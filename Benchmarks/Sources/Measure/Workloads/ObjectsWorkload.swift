import CoreData
import Foundation

/// 11: work on loaded objects in memory. The anchor is the same work on objects of a plain Swift class.
@MainActor struct ObjectsWorkload {
    let stage: Stage

    private final class PlainTeam {
        var name: String
        var zone: String
        var wins: Int32

        init(_ record: League.Record) {
            name = record.name
            zone = record.zone
            wins = Int32(record.wins)
        }
    }

    func run() throws {
        let stack = try League.Stack(stage.filledStore(stage.count))
        let request = NSFetchRequest<Team>(entityName: "Team")
        request.returnsObjectsAsFaults = false
        let teams = try stack.context.fetch(request)
        let plain = stage.records(stage.count).map(PlainTeam.init)
        filter(teams, plain)
        sort(teams, plain)
        read(teams, plain)
    }

    /// A hand-written predicate with two conditions, which accepts objects of any type like `NSPredicate`.
    private final class PlainPredicate {
        private let wins: Int32
        private let zone: String

        init(wins: Int32, zone: String) {
            self.wins = wins
            self.zone = zone
        }

        @inline(never)
        func evaluate(with object: Any?) -> Bool {
            guard let team = object as? PlainTeam else { return false }
            return team.wins > wins && team.zone != zone
        }
    }

    /// The measured work. Not on the main actor, whose closures would check their executor for each object.
    private enum Work {
        static func count(_ plain: [PlainTeam], notIn zone: String) -> Int {
            plain.count { $0.wins > 500 && $0.zone != zone }
        }

        static func count(_ plain: [PlainTeam], _ predicate: PlainPredicate) -> Int {
            plain.count { predicate.evaluate(with: $0) }
        }

        static func count(_ teams: [Team], _ predicate: NSPredicate) -> Int {
            teams.count { predicate.evaluate(with: $0) }
        }

        static func filtered(_ plain: [PlainTeam], notIn zone: String) -> [PlainTeam] {
            plain.filter { $0.wins > 500 && $0.zone != zone }
        }

        static func sorted(_ plain: [PlainTeam]) -> [PlainTeam] {
            plain.sorted { left, right in
                if left.zone != right.zone { return left.zone < right.zone }
                return left.wins != right.wins ? left.wins > right.wins : left.name < right.name
            }
        }
    }

    private func filter(_ teams: [Team], _ plain: [PlainTeam]) {
        let zone = plain[0].zone
        let predicate = NSPredicate(format: "wins > %d AND qualifyingZone != %@", 500, zone)
        let byHand = PlainPredicate(wins: 500, zone: zone)
        let rounds = Rounds.run(max(5, stage.rounds), warmUp: true) { rounds in
            var expected = 0
            var found = 0
            rounds.note("raw", Clock.processor.time { expected = Work.count(plain, notIn: zone) })
            rounds.note("roster", Clock.processor.time { found = Work.count(teams, predicate) })
            precondition(found == expected)
            rounds.note("raw by hand", Clock.processor.time { found = Work.count(plain, byHand) })
            precondition(found == expected)
            rounds.note("raw list", Clock.processor.time { expected = Work.filtered(plain, notIn: zone).count })
            rounds.note("list", Clock.processor.time { found = teams.filtered(using: predicate).count })
            precondition(found == expected)
        }
        report(
            "filter by a predicate, two conditions: filtered(using:) (raw: by a closure)", rounds, "list", "raw list",
            target: .ratio(4), limit: .ratio(10))
        report(
            "predicate by format, two conditions: evaluate(with:) (raw: a closure)", rounds, target: .ratio(4),
            limit: .ratio(10))
        report("… in absolute time", rounds, "roster", nil, target: .absolute(100e-9))
        report("… (raw: a hand-written evaluate(with:))", rounds, "roster", "raw by hand")
    }

    private func sort(_ teams: [Team], _ plain: [PlainTeam]) {
        let rounds = Rounds.run(max(3, stage.rounds / 2)) { rounds in
            let ordered = Clock.processor.time { precondition(Work.sorted(plain).count == plain.count) }
            rounds.note("raw", ordered)
            let list = teams as NSArray
            let sorting = Clock.processor.time {
                precondition(list.sortedArray(using: League.sortDescriptors).count == teams.count)
            }
            rounds.note("array", sorting)
            let own = Clock.processor.time {
                precondition(teams.sorted(using: League.sortDescriptors).count == teams.count)
            }
            rounds.note("roster", own)
        }
        report("sort by three descriptors (raw: a closure)", rounds, target: .ratio(1.5), limit: .ratio(3))
        report("… by Foundation's NSArray.sortedArray(using:)", rounds, "array", target: .ratio(1.5))
    }

    private func read(_ teams: [Team], _ plain: [PlainTeam]) {
        let rounds = Rounds.run(max(5, stage.rounds), warmUp: true) { rounds in
            var sums = (0, 0, 0)
            rounds.note("raw", Clock.processor.time { for team in plain { sums.0 &+= Int(team.wins) } })
            rounds.note("roster", Clock.processor.time { for team in teams { sums.1 &+= Int(team.wins) } })
            let byKey = Clock.processor.time {
                for team in teams { sums.2 &+= (team.value(forKey: "wins") as? NSNumber)?.intValue ?? 0 }
            }
            rounds.note("key", byKey)
            precondition(sums.0 == sums.1 && sums.1 == sums.2)
        }
        report(
            "typed read of a number (raw: a stored property)", rounds, target: .absolute(15e-9), limit: .absolute(40e-9)
        )
        report("value(forKey:) of a number", rounds, "key", target: .absolute(60e-9), limit: .absolute(150e-9))
    }

    private func report(
        _ what: String, _ rounds: Rounds, _ figure: String = "roster", _ anchor: String? = "raw",
        target: Line.Bound? = nil,
        limit: Line.Bound? = nil
    ) {
        let count = Double(stage.count)
        Line(
            number: 11, what: "\(what), per object", unit: .nanoseconds, figure: rounds[figure].median / count,
            anchor: anchor.map { rounds[$0].median / count }, target: target, limit: limit
        ).report()
    }
}
