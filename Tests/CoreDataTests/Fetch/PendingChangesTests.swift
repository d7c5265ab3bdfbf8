import Foundation
import Testing

@testable import CoreData

/// A fetch includes the context's unsaved changes.
@Suite struct PendingChangesTests {
    private func filled() throws -> (NSManagedObjectContext, MemoryStore) {
        let (coordinator, store) = try League.memoryStack()
        let context = League.context(coordinator)
        try context.performAndWait { () throws in
            for (index, name) in ["Argentina", "Brazil", "Croatia", "Denmark", "England"].enumerated() {
                context.addTeam(name, zone: index < 2 ? "CONMEBOL" : "UEFA", wins: index)
            }
            try context.save()
        }
        return (context, store)
    }

    @Test func newChangedAndDeletedObjectsCount() throws {
        let (context, _) = try filled()
        try context.performAndWait { () throws in
            let all = League.request("Team", by: "name")
            let teams = try context.fetch(all)
            context.addTeam("Chile", zone: "CONMEBOL", wins: 9)
            context.delete(teams[1])
            teams[0].setValue("Zambia", forKey: "name")
            #expect(try context.names(all) == ["Chile", "Croatia", "Denmark", "England", "Zambia"])
            #expect(try context.count(for: all) == 5)

            let many = League.request("Team", NSPredicate(format: "wins >= 3"), by: "-wins")
            teams[2].setValue(50, forKey: "wins")
            teams[4].setValue(0, forKey: "wins")
            #expect(try context.names(many) == ["Croatia", "Chile", "Denmark"])
            #expect(try context.count(for: many) == 3)

            all.includesPendingChanges = false
            #expect(try context.fetch(all).count == 5)
            #expect(try context.count(for: all) == 5)
        }
    }

    @Test func limitAndOffsetAreExactWhileThereAreChanges() throws {
        let (context, _) = try filled()
        try context.performAndWait { () throws in
            let page = League.request("Team", by: "name")
            let teams = try context.fetch(page)
            context.delete(teams[0])
            context.addTeam("Bolivia")
            page.fetchLimit = 2
            #expect(try context.names(page) == ["Bolivia", "Brazil"])
            page.fetchOffset = 2
            #expect(try context.names(page) == ["Croatia", "Denmark"])
            page.fetchOffset = 4
            #expect(try context.names(page) == ["England"])
            #expect(try context.count(for: page) == 1)
            page.fetchOffset = 9
            #expect(try context.names(page) == [])
            #expect(try context.count(for: page) == 0)
        }
    }

    @Test func otherEntitiesDoNotCount() throws {
        let (context, store) = try filled()
        try context.performAndWait { () throws in
            context.addVenue("Maracanã")
            store.asked.forget()
            #expect(try context.count(for: League.request("Team")) == 5)
            #expect(store.asked.counts == 1)
            #expect(store.asked.fetches == 0)
        }
    }

    @Test func subentitiesCountUnlessExcluded() throws {
        let (context, _) = try filled()
        try context.performAndWait { () throws in
            context.addTeam("Ajax", entity: "ClubTeam")
            let teams = League.request("Team", by: "name")
            #expect(try context.names(teams).first == "Ajax")
            teams.includesSubentities = false
            #expect(try context.names(teams).first == "Argentina")
            try context.save()
            #expect(try context.names(teams).first == "Argentina")
            #expect(try context.names(League.request("ClubTeam")) == ["Ajax"])
        }
    }

    @Test func identifiersAreInOrderToo() throws {
        let (context, _) = try filled()
        try context.performAndWait { () throws in
            let chile = context.addTeam("Chile")
            let request = NSFetchRequest<NSManagedObjectID>(entityName: "Team")
            request.resultType = .managedObjectIDResultType
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let ids = try context.fetch(request)
            #expect(ids.count == 6)
            #expect(ids[2] == chile.objectID)
        }
    }

    @Test func identifiersAndCountsSeeEditsAndDeletions() throws {
        let (context, _) = try filled()
        try context.performAndWait { () throws in
            let many = League.request("Team", NSPredicate(format: "wins >= 3"), by: "name")
            let teams = try context.fetch(League.request("Team", by: "name"))
            teams[1].setValue(7, forKey: "wins")
            context.delete(teams[3])
            teams[4].setValue(0, forKey: "wins")
            let objects = try context.fetch(many)
            #expect(objects == [teams[1]])
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Team")
            ids.resultType = .managedObjectIDResultType
            ids.predicate = many.predicate
            ids.sortDescriptors = many.sortDescriptors
            #expect(try context.fetch(ids) == [teams[1].objectID])
            let count = NSFetchRequest<NSNumber>(entityName: "Team")
            count.resultType = .countResultType
            count.predicate = many.predicate
            #expect(try context.fetch(count) == [1])
        }
    }

    /// A fetch with unsaved changes returns the same as after the save.
    @Test(arguments: League.StoreKind.allCases, [UInt64(1), 2, 3])
    func aFetchBeforeTheSaveIsTheFetchAfterIt(kind: League.StoreKind, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let place = try League.Place(kind)
        let context = League.context(try place.coordinator())
        try context.performAndWait { () throws in
            let venues = (0..<3).map { context.addVenue("V\($0)", city: "C\($0)") }
            for number in 0..<40 {
                context.addTeam("T\(number)", zone: ["A", "B", "C"].randomElement(using: &random)!, wins: number % 7)
            }
            try context.save()
            for round in 0..<25 {
                let teams = try context.fetch(League.request("Team"))
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    let team = teams.randomElement(using: &random)!
                    switch Int.random(in: 0..<5, using: &random) {
                    case 0: context.addTeam("N\(round)-\(Int.random(in: 0..<100, using: &random))", wins: round % 5)
                    case 1 where !team.isDeleted && teams.count > 20: context.delete(team)
                    case 2 where !team.isDeleted:
                        team.setValue(["A", "B", "C"].randomElement(using: &random)!, forKey: "zone")
                    case 3 where !team.isDeleted: team.setValue(venues.randomElement(using: &random)!, forKey: "venue")
                    default:
                        guard !team.isDeleted else { continue }
                        team.setValue(Int.random(in: 0..<7, using: &random), forKey: "wins")
                    }
                }
                let request = League.request(
                    "Team",
                    [nil, NSPredicate(format: "wins > 2"), NSPredicate(format: "venue.city == %@", "C1")]
                        .randomElement(using: &random)!, by: "zone", "-wins",
                    "name")
                request.fetchLimit = Int.random(in: 0..<12, using: &random)
                request.fetchOffset = Int.random(in: 0..<6, using: &random)
                let before = try context.fetch(request)
                let countBefore = try context.count(for: request)
                try context.save()
                let after = try context.fetch(request)
                #expect(before == after, "seed \(seed), round \(round)")
                #expect(countBefore == after.count, "seed \(seed), round \(round)")
            }
        }
    }
}
