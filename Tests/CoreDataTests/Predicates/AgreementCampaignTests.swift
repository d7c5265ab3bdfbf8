import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Many random predicates and sorts have the same results in SQL as in memory, over a model with subentities, empty
/// relationships and one of a hundred objects. Predicates left to memory are counted by reason.
///
/// `ROSTER_LONG_TESTS=10` runs 100,000 predicates and 10,000 sorts.
@Suite(.needs(.campaign)) struct AgreementCampaignTests {
    private static let factor = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }
    private static let predicateCount = factor.map { $0 * 10_000 } ?? 400
    private static let sortCount = factor.map { $0 * 1_000 } ?? 40
    /// Number of rounds for each set of objects.
    private static let rounds = 1_000

    /// The reason why SQL cannot evaluate a predicate; `nil` if it can.
    private func obstacle(_ predicate: NSPredicate, _ world: PredicateWorld) throws -> String? {
        let tree = try PredicateResolver(entity: world.team).resolve(predicate.syntaxTree)
        var translator = PredicateToSQL(
            joins: SQLJoins(entity: world.team, schema: world.schema), storeIdentifier: world.store.identifier)
        if case .needsMemory(let reason) = try translator.translate(tree) { return reason }
        return nil
    }

    @Test func predicatesFindTheSameRows() throws {
        var reasons: [String: Int] = [:]
        var (exact, round) = (0, 0)
        for seed in UInt64(1_000)... {
            let world = try PredicateWorld(seed: seed, teamCount: 50, crowd: 100)
            var generator = PredicateGenerator(world, seed: seed)
            while true {
                let made = generator.predicate()
                let label = "seed \(seed), round \(round): \(made.format) \(made.arguments)"
                let predicate = try NSPredicate.parse(format: made.format, arguments: made.arguments)
                let memory = try world.keysInMemory(world.team, predicate)
                if let reason = try obstacle(predicate, world) {
                    reasons[reason, default: 0] += 1
                } else {
                    exact += 1
                    let found = try world.keysBySQL(world.team, predicate)
                    #expect(found == memory, "\(label)")
                    if found != memory { return }
                }
                round += 1
                if round == Self.predicateCount { return report(exact, reasons) }
                if round.isMultiple(of: Self.rounds) { break }
            }
        }
    }

    private func report(_ exact: Int, _ reasons: [String: Int]) {
        let count = Self.predicateCount
        let lines = reasons.sorted { $0.value > $1.value }.map { "\($0.value) \($0.key)" }
        if Self.factor != nil { print("\(exact) of \(count) by SQL; in memory: " + lines.joined(separator: "; ")) }
        #expect(exact > count * 8 / 10, "\(lines)")
        // Reasons are a few fixed sentences without values of the predicate.
        #expect(reasons.count < 12, "\(lines)")
    }

    @Test func sortsGiveTheSameOrder() throws {
        let texts = ["name", "homeVenue.label"]
        let others = [
            "wins", "points", "rating", "price", "favorite", "founded", "code", "homeVenue.size", "homeVenue.capacity",
            "homeVenue", "blob",
        ]
        var world = try PredicateWorld(seed: 2_000, teamCount: 50)
        var random = SeededGenerator(seed: 77)
        var bySQL = 0
        for round in 0..<Self.sortCount {
            if round.isMultiple(of: 50) { world = try PredicateWorld(seed: UInt64(2_000 + round), teamCount: 50) }
            let sort = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                let key = random.pick(random.chance(40) ? texts : others)
                let selector = texts.contains(key) ? random.pick(SortAgreementTests.selectors) : .compare
                return NSSortDescriptor(key: key, ascending: random.chance(50), selector: selector)
            }
            let ordering = try ObjectOrdering(sort, entity: world.team)
            let memory = ordering.sorted(world.rows(of: world.team).shuffled()).map(\.number)
            guard let found = try world.keysBySQL(world.team, nil, sort: sort) else { continue }
            bySQL += 1
            #expect(found == memory, "round \(round): \(sort)")
            if found != memory { return }
        }
        #expect(bySQL > Self.sortCount * 9 / 10)
    }
}
