import Foundation
import Testing

@testable import CoreData

/// Random predicates over random data find the same rows in SQL and in memory.
@Suite struct PredicateAgreementTests {
    @Test(arguments: [11, 12, 13] as [UInt64])
    func randomPredicatesFindTheSameRows(seed: UInt64) throws {
        let world = try PredicateWorld(seed: seed)
        var generator = PredicateGenerator(world, seed: seed &* 7919)
        var exact = 0
        var selective = 0
        let rounds = 400
        for round in 0..<rounds {
            let made = generator.predicate()
            let label = "seed \(seed), round \(round): \(made.format) \(made.arguments)"
            do {
                let predicate = try NSPredicate.parse(format: made.format, arguments: made.arguments)
                let memory = try world.keysInMemory(world.team, predicate)
                #expect(try world.keysByName(world.team, predicate) == memory, "\(label)")
                guard let found = try world.keysBySQL(world.team, predicate) else { continue }
                exact += 1
                if !memory.isEmpty && memory.count < world.teams.count { selective += 1 }
                #expect(found == memory, "\(label)")
            } catch {
                Issue.record("\(label): \(error)")
            }
        }
        // The generator's predicates can be translated, except some aggregates and casts.
        #expect(exact > rounds * 6 / 10, "only \(exact) of \(rounds) were translated")
        #expect(selective > rounds * 3 / 10, "only \(selective) of \(rounds) tell rows apart")
    }

    @Test func printedPredicatesFindTheSameRows() throws {
        let world = try PredicateWorld(seed: 5, teamCount: 30)
        var generator = PredicateGenerator(world, seed: 99)
        for round in 0..<200 {
            let made = generator.predicate()
            // Objects cannot be printed.
            if made.arguments.contains(where: {
                $0 is PredicateRow || $0 is NSManagedObjectID || $0 is NSEntityDescription || $0 is [PredicateRow]
            }) {
                continue
            }
            let predicate = try NSPredicate.parse(format: made.format, arguments: made.arguments)
            let again = try NSPredicate.parse(format: predicate.formatString)
            #expect(
                try world.keysInMemory(world.team, again) == world.keysInMemory(world.team, predicate),
                "round \(round): \(made.format) printed as \(predicate.formatString)")
        }
    }

    @Test func entityFamiliesAreFilteredByTheirRows() throws {
        let world = try PredicateWorld(seed: 21)
        for entity in [world.place, world.venue, world.stadium] {
            let predicate = try NSPredicate.parse(format: "size != 3 OR label CONTAINS 'a'")
            #expect(try world.keysBySQL(entity, predicate) == world.keysInMemory(entity, predicate))
        }
        var query = StoreQuery(entity: world.venue)
        query.includesSubentities = false
        let statement = try SelectBuilder(query: query, schema: world.schema).keys()
        let found = try world.connection.rows(statement.fragment.text, statement.fragment.bound)
        #expect(found.count == world.places.count { $0.rowLayout.entity === world.venue })
        #expect(statement.onlyEntity === world.venue)
    }
}
