import Foundation
import Testing

@testable import CoreData

/// Random groupings give the same from SQL as from memory.
@Suite struct GroupAgreementTests {
    private static let count =
        ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }.map { $0 * 1_000 } ?? 150

    private func filled(_ place: League.Place) throws -> NSManagedObjectContext {
        let context = League.context(try place.coordinator())
        try context.performAndWait { () throws in
            var random = SeededGenerator(seed: 20)
            let venues = ["Azteca", "", "体育场", "ملعب"].map { context.addVenue($0, city: String($0.prefix(1))) }
            let names: [String?] = ["É", "E\u{301}", "e", "", "🏝", nil, "Zürich", "zürich"]
            for index in 0..<120 {
                let team = context.addTeam("", entity: index % 5 == 0 ? "ClubTeam" : "Team")
                team.setValue(names.randomElement(using: &random)!, forKey: "name")
                team.setValue(["AFC", "UEFA", nil].randomElement(using: &random)!, forKey: "zone")
                let wins = Int.random(in: -3...3, using: &random)
                team.setValue(wins == 0 ? nil : wins == 3 ? Int(Int32.max) : wins, forKey: "wins")
                if index % 4 != 0 { team.setValue(venues.randomElement(using: &random)!, forKey: "venue") }
            }
            try context.save()
        }
        return context
    }

    private struct Form {
        var columns: [(name: String, format: String)]
        var groups: [String]
        var having: String?
        var filter: String?
        var sort: [(String, Bool)]
        var cut: (limit: Int, offset: Int)
        var includesSubentities: Bool

        init(_ random: inout SeededGenerator) {
            let keys = ["zone", "name", "wins", "venue.name", "venue.city"].shuffled(using: &random)
            groups = Array(keys.prefix(Int.random(in: 0...2, using: &random)))
            let calls = [
                "sum:(wins)", "count:(wins)", "count:(name)", "min:(wins)", "max:(name)", "average:(wins)",
                "max:(zone)",
                "median:(wins)", "sum:(wins) + count:(zone) * 2", "min:(venue.name)", "count:(SELF)", "count:(venue)",
            ].shuffled(using: &random)
            columns = calls.prefix(Int.random(in: 1...3, using: &random)).enumerated().map { ("c\($0)", $1) }
            let conditions = [
                "c0 != nil", "count:(wins) > 4", "sum:(wins) > 0 OR c0 = nil", "NOT c0 = 3",
                "max:(wins) BETWEEN {1, 2}",
            ]
            having = groups.isEmpty || Bool.random(using: &random) ? nil : conditions.randomElement(using: &random)
            filter = ["wins > -2", "zone = 'AFC' OR wins = nil", "name CONTAINS[cd] 'e'", nil, nil].randomElement(
                using: &random)!
            sort = Bool.random(using: &random) ? [("c0", Bool.random(using: &random))] : []
            cut = Int.random(in: 0...2, using: &random) == 0 ? (3, 1) : (0, 0)
            includesSubentities = Int.random(in: 0...3, using: &random) > 0
        }

        func request() throws -> NSFetchRequest<NSDictionary> {
            let request = NSFetchRequest<NSDictionary>(entityName: "Team")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch =
                groups
                + (try columns.map { name, format in
                    let description = NSExpressionDescription()
                    description.name = name
                    description.expression = try NSExpression.parse(format: format)
                    return description
                })
            request.propertiesToGroupBy = groups
            request.havingPredicate = having.map { NSPredicate(format: $0) }
            request.predicate = filter.map { NSPredicate(format: $0) }
            request.sortDescriptors = sort.map { NSSortDescriptor(key: $0.0, ascending: $0.1) }
            (request.fetchLimit, request.fetchOffset) = cut
            request.includesSubentities = includesSubentities
            return request
        }
    }

    @Test func sqlAndMemoryGiveTheSameGroups() throws {
        let places = (memory: try League.Place(.memory), sqlite: try League.Place(.sqlite))
        let (memory, sqlite) = (try filled(places.memory), try filled(places.sqlite))
        var random = SeededGenerator(seed: 7)
        for number in 0..<Self.count {
            let form = Form(&random)
            let expected = try memory.performAndWait { try memory.fetch(form.request()) }
            let found = try sqlite.performAndWait { try sqlite.fetch(form.request()) }
            #expect(found == expected, "\(number): \(form)")
            if found != expected { return }
        }
    }
}
