import Foundation
import PostgreSQLCluster
import TestSupport
import Testing

@testable import CoreData

/// Random predicates through the whole framework: a fetch from a SQLite file finds the objects that match in memory.
@Suite struct StorePredicateTests {
    /// The contents of a ``PredicateWorld`` in a store.
    private final class Copy {
        let world: PredicateWorld
        let stack: ClubStack
        let context: NSManagedObjectContext
        var objects: [ObjectIdentifier: NSManagedObject] = [:]
        var teams: [NSManagedObject] { world.teams.compactMap { objects[ObjectIdentifier($0)] } }

        init(seed: UInt64, server: PostgreSQLCluster? = nil) throws {
            world = try PredicateWorld(seed: seed, teamCount: 40)
            if let server {
                let url = server.url(schema: "predicates_\(UUID().uuidString)")
                stack = try ClubStack(model: world.model, type: "PostgreSQL", url: url)
            } else {
                stack = try ClubStack(model: world.model)
            }
            context = stack.context()
            let keepsZeros = server == nil
            try context.performAndWait { try fill(keepsZeros: keepsZeros) }
        }

        /// - Parameter keepsZeros: true if the store supports texts with a zero character.
        private func fill(keepsZeros: Bool) throws {
            let rows = world.teams + world.places + world.players + world.tags
            for row in rows {
                let object = NSManagedObject(entity: row.rowLayout.entity, insertInto: context)
                objects[ObjectIdentifier(row)] = object
                for (slot, property) in row.rowLayout.slots.enumerated() where slot < row.rowLayout.attributeCount {
                    let isDate = (property as? NSAttributeDescription)?.attributeType == .dateAttributeType
                    let isURL = (property as? NSAttributeDescription)?.attributeType == .URIAttributeType
                    var value = PredicateValue(row.slots[slot], isDate: isDate).foundationValue
                    if !keepsZeros, let text = value as? String { value = text.replacing("\0", with: "0") }
                    object.setValue(
                        isURL ? (value as? String).flatMap { URL(string: $0) } : value, forKey: property.name)
                }
            }
            for row in rows {
                guard let object = objects[ObjectIdentifier(row)] else { continue }
                for (slot, far) in row.toOnes {
                    object.setValue(objects[ObjectIdentifier(far)], forKey: row.rowLayout.slots[slot].name)
                }
                for (number, far) in row.toManys.enumerated()
                where row.rowLayout.toManyRelationships[number].name == "tags" {
                    object.setValue(NSSet(array: far.compactMap { objects[ObjectIdentifier($0)] }), forKey: "tags")
                }
            }
            try context.save()
        }

        /// The argument with objects of the store instead of those of the world.
        func translated(_ argument: Any?) -> Any? {
            switch argument {
            case let row as PredicateRow: objects[ObjectIdentifier(row)]
            case let rows as [PredicateRow]: rows.compactMap { objects[ObjectIdentifier($0)] }
            case let id as NSManagedObjectID:
                (world.tags.first { $0.objectID == id }).flatMap { objects[ObjectIdentifier($0)]?.objectID }
            default: argument
            }
        }

        /// Compares a fetch with the evaluation of each object.
        func check(_ made: PredicateGenerator.Made, _ label: String) throws {
            let predicate = try NSPredicate.parse(format: made.format, arguments: made.arguments.map(translated))
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            request.predicate = predicate
            let found = try context.fetch(request)
            let compiled = try CompiledPredicate(predicate.syntaxTree, entity: world.team)
            let expected = teams.filter { !$0.isDeleted && compiled.evaluate($0) }
            #expect(Set(found) == Set(expected), "\(label): \(made.format) \(made.arguments)")
            #expect(found.count == expected.count)
            #expect(try context.count(for: request) == expected.count, "\(label): count of \(made.format)")
        }
    }

    @Test(arguments: [61, 62] as [UInt64])
    func fetchesFindTheObjectsThatMatchInMemory(seed: UInt64) throws { try compare(Copy(seed: seed), seed) }

    #if PostgreSQL
        /// `ROSTER_LONG_TESTS=10` runs 10,000 predicates and as many sorts, a thousand for each seed.
        private static let factor = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }
        private static let predicateSeeds: [UInt64] = factor.map { (0..<UInt64($0)).map { 61 + $0 } } ?? [61, 62, 63]
        private static let sortSeeds: [UInt64] = factor.map { (0..<UInt64($0)).map { 71 + $0 } } ?? [71]

        @Test(
            .needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"),
            arguments: predicateSeeds)
        func fetchesFromAServerFindTheSame(seed: UInt64) throws {
            let rounds = Self.factor == nil ? (120, 80) : (1_000, 400)
            try compare(Copy(seed: seed, server: PostgreSQLCluster.shared), seed, rounds: rounds)
        }

        /// The order of a server is that of memory, including ties.
        @Test(
            .needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"),
            arguments: sortSeeds)
        func fetchesFromAServerAreInTheOrderOfMemory(seed: UInt64) throws {
            let copy = try Copy(seed: seed, server: PostgreSQLCluster.shared)
            var random = SeededGenerator(seed: seed)
            try copy.context.performAndWait {
                for _ in 0..<(Self.factor == nil ? 60 : 1_000) {
                    let keys = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                        random.pick([
                            "name", "wins", "points", "rating", "price", "favorite", "founded", "code", "site",
                            "homeVenue.label", "homeVenue.size",
                        ])
                    }
                    let sort = keys.map { key in
                        let isText = key == "name" || key == "homeVenue.label"
                        let selector = isText ? random.pick(SortAgreementTests.selectors) : .compare
                        return NSSortDescriptor(key: key, ascending: random.chance(50), selector: selector)
                    }
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
                    request.sortDescriptors = sort
                    let found = try copy.context.fetch(request)
                    let sorted = try ObjectOrdering(sort, entity: copy.world.team).sorted(copy.teams)
                    #expect(found.count == sorted.count)
                    // Ties are sorted by key, which is the order of insertion here.
                    #expect(
                        zip(found, sorted).allSatisfy { $0 === $1 },
                        "\(sort): \(zip(found, sorted).map { ($0.0.value(forKey: keys[0]), $0.1.value(forKey: keys[0])) })"
                    )
                    request.fetchLimit = 7
                    request.fetchOffset = 3
                    #expect(
                        try copy.context.fetch(request).map(\.objectID) == found.dropFirst(3).prefix(7).map(\.objectID))
                }
            }
        }
    #endif

    /// - Parameter rounds: number of predicates without and with unsaved changes.
    private func compare(_ copy: Copy, _ seed: UInt64, rounds: (Int, Int) = (120, 80)) throws {
        var generator = PredicateGenerator(copy.world, seed: seed)
        try copy.context.performAndWait {
            for round in 0..<rounds.0 { try copy.check(generator.predicate(), "seed \(seed), saved, round \(round)") }
            // The fetch includes unsaved changes, as the objects do.
            var random = SeededGenerator(seed: seed)
            for team in copy.teams where random.chance(30) {
                team.setValue(random.pick(PredicateWorld.texts), forKey: "name")
                team.setValue(NSNumber(value: random.pick(PredicateWorld.integers)), forKey: "wins")
                if random.chance(30) { team.setValue(nil, forKey: "homeVenue") }
            }
            if let last = copy.teams.last { copy.context.delete(last) }
            for round in 0..<rounds.1 {
                let made = generator.predicate()
                // Through relationships the store compares saved values, as in Apple's framework.
                let isOwn = !["homeVenue", "players", "tags"].contains { made.format.contains($0) }
                if isOwn { try copy.check(made, "seed \(seed), unsaved, round \(round)") }
            }
        }
    }

    @Test func mistakesReachTheCallerOfTheFetch() throws {
        let copy = try Copy(seed: 1)
        copy.context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            request.predicate = NSPredicate(format: "wims > 3")
            let error = #expect(throws: NSError.self) { try copy.context.fetch(request) }
            #expect(error?.localizedDescription == "keypath wims not found in entity Team: did you mean \"wins\"?")
            request.predicate = NSPredicate(format: "wins == 'abc'")
            #expect(throws: NSError.self) { try copy.context.count(for: request) }
        }
    }
}
