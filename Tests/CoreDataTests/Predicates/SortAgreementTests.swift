import Foundation
import Testing

@testable import CoreData

/// Sorting in SQL and in memory has the same order, including ties.
@Suite struct SortAgreementTests {
    static let selectors: [SortSelector] = [
        .compare, .caseInsensitiveCompare, .localizedCompare, .localizedCaseInsensitiveCompare,
        .localizedStandardCompare,
    ]

    private func check(_ world: PredicateWorld, _ entity: NSEntityDescription, _ sort: [NSSortDescriptor]) throws {
        let ordering = try ObjectOrdering(sort, entity: entity)
        let inMemory = ordering.sorted(world.rows(of: entity).shuffled()).map(\.number)
        let bySQL = try world.keysBySQL(entity, nil, sort: sort)
        #expect(bySQL == inMemory, "\(sort)")
    }

    @Test func everyAttributeAndComparison() throws {
        let world = try PredicateWorld(seed: 31, teamCount: 150)
        let keys = [
            "name", "wins", "points", "rating", "price", "favorite", "founded", "code", "site", "blob",
            "homeVenue.label",
            "homeVenue.capacity", "homeVenue", "self", "homeVenue.self",
        ]
        for key in keys {
            for selector in key.hasSuffix("name") || key.hasSuffix("label") || key == "site"
                ? Self.selectors : [.compare]
            {
                for ascending in [true, false] {
                    try check(world, world.team, [NSSortDescriptor(key: key, ascending: ascending, selector: selector)])
                }
            }
        }
        try check(world, world.team, [])
    }

    @Test(arguments: [41, 42] as [UInt64])
    func severalKeys(seed: UInt64) throws {
        let world = try PredicateWorld(seed: seed, teamCount: 120)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<40 {
            let sort = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                let key = random.pick([
                    "name", "wins", "favorite", "homeVenue.label", "homeVenue.size", "price", "founded",
                ])
                let isText = key == "name" || key == "homeVenue.label"
                return NSSortDescriptor(
                    key: key, ascending: random.chance(50), selector: isText ? random.pick(Self.selectors) : .compare)
            }
            try check(world, world.team, sort)
        }
        for entity in [world.place, world.venue, world.stadium] {
            try check(
                world, entity,
                [NSSortDescriptor(key: "size", ascending: false), NSSortDescriptor(key: "label", ascending: true)])
        }
    }

    @Test func nilIsFirstAndPlainTextIsSortedByItsBytes() throws {
        let world = try PredicateWorld(seed: 1, teamCount: 8)
        let texts: [String?] = ["b", nil, "B", "é", "e\u{301}", "\u{10FFFF}", "中", "a\u{0}"]
        for (row, text) in zip(world.teams, texts) { row.set("name", text.map { .text($0) } ?? .null) }
        let sorted = try ObjectOrdering([NSSortDescriptor(key: "name", ascending: true)], entity: world.team).sorted(
            world.teams)
        let names = sorted.map { KeyReader.read(["name"], of: .object($0)).foundationValue as? String }
        #expect(
            names.map { $0.map { Array($0.utf8) } }
                == [nil, "B", "a\u{0}", "b", "e\u{301}", "é", "中", "\u{10FFFF}"].map { $0.map { Array($0.utf8) } })
    }

    @Test func sortsThatSQLDoesNotSupportAreLeftToMemory() throws {
        let world = try PredicateWorld(seed: 2, teamCount: 5)
        let byCode = NSSortDescriptor(
            key: "name", ascending: true,
            comparator: { left, right in
                ((right as? String) ?? "").compare((left as? String) ?? "")
            })
        for sort in [
            byCode, NSSortDescriptor(key: "note", ascending: true),
            NSSortDescriptor(key: "players.@count", ascending: true),
        ] {
            #expect(try world.keysBySQL(world.team, nil, sort: [sort]) == nil)
            #expect(try ObjectOrdering([sort], entity: world.team).sorted(world.teams).count == 5)
        }
    }

    @Test func objectsWithoutPermanentIDAreLastInTheOrderOfTheirInsertion() throws {
        let world = try PredicateWorld(seed: 3, teamCount: 2)
        let first = NSManagedObjectID(temporaryFor: world.team)
        let second = NSManagedObjectID(temporaryFor: world.team)
        #expect(ObjectOrdering.compare(first, second) == .orderedAscending)
        #expect(ObjectOrdering.compare(first, world.teams[1].objectID) == .orderedDescending)
        #expect(ObjectOrdering.compare(world.teams[0].objectID, world.teams[1].objectID) == .orderedAscending)
    }

    @Test func sortingIgnoresLimitOnlyWhereItMust() throws {
        let world = try PredicateWorld(seed: 4)
        let sort = [NSSortDescriptor(key: "wins", ascending: false)]
        let all = try #require(try world.keysBySQL(world.team, nil, sort: sort))
        #expect(try world.keysBySQL(world.team, nil, sort: sort, limit: 7, offset: 5) == Array(all[5..<12]))
        #expect(try world.keysBySQL(world.team, nil, sort: sort, offset: 50) == Array(all[50...]))
    }
}
