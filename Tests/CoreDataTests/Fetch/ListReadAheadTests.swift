import Foundation
import Testing

@testable import CoreData

/// Lists that are prefetched while a program walks through the objects of a fetch in order.
@Suite struct ListReadAheadTests {
    /// Venues sorted by number, each with the given number of teams, on a test store and in a new context.
    private final class Walk {
        let coordinator: NSPersistentStoreCoordinator
        let store: MemoryStore
        let context: NSManagedObjectContext
        private(set) var venues: [NSManagedObject] = []

        init(_ sizes: [Int]) throws {
            (coordinator, store) = try League.memoryStack()
            let writer = League.context(coordinator)
            try writer.performAndWait {
                for (number, size) in sizes.enumerated() {
                    let venue = writer.addVenue("V\(1000 + number)")
                    for team in 0..<size { writer.addTeam("T\(team)", wins: 1).setValue(venue, forKey: "venue") }
                }
                try writer.save()
            }
            context = League.context(coordinator)
            // Makes the test independent of the machine's speed.
            context.faults.ahead.lifetime = .seconds(3600)
            try fetch()
        }

        func fetch() throws {
            venues = try context.performAndWait {
                try context.fetch(League.request("Venue", by: "name"))
            }
            store.asked.forget()
        }

        func isUnread(_ number: Int) -> Bool { venues[number].hasFault(forRelationshipNamed: "teams") }

        /// The number of teams of one venue, after accessing them.
        @discardableResult
        func teams(_ number: Int) -> Int {
            (venues[number].value(forKey: "teams") as? Set<NSManagedObject> ?? []).reduce(0) {
                $0 + ($1.value(forKey: "wins") as? Int ?? 0)
            }
        }

        /// Adds a team to a venue in another context of `coordinator`.
        func add(toVenue number: Int, in coordinator: NSPersistentStoreCoordinator) throws {
            let writer = League.context(coordinator)
            try writer.performAndWait {
                let venues = try writer.fetch(League.request("Venue", by: "name"))
                writer.addTeam("New", wins: 1).setValue(venues[number], forKey: "venue")
                try writer.save()
            }
        }

        /// A coordinator on the same store, in the role of another process.
        func otherProcess() throws -> NSPersistentStoreCoordinator {
            try League.memoryStack(at: store.url!).coordinator
        }
    }

    @Test func listsReadInOrderAreFetchedInGrowingBatches() throws {
        let walk = try Walk(Array(repeating: 2, count: 20))
        walk.context.performAndWait {
            #expect((0..<20).map { walk.teams($0) } == Array(repeating: 2, count: 20))
            #expect(walk.store.asked.rowRequests == [2])
            #expect(walk.store.asked.rowsWithLists == [2, 2 * 5, 2 * 9, 2 * 4])
        }
    }

    @Test func skippedListsDoNotStopPrefetching() throws {
        let walk = try Walk((0..<40).map { $0 % 5 })
        walk.context.performAndWait {
            for number in 0..<40 where number % 3 > 0 { #expect(walk.teams(number) == number % 5) }
            #expect(walk.store.asked.rowsWithLists.count < 12)
            for number in (0..<40).reversed() { #expect(walk.teams(number) == number % 5) }
        }
    }

    @Test func listsInNoOrderAreReadOneByOne() throws {
        let walk = try Walk(Array(repeating: 1, count: 30))
        walk.context.performAndWait {
            for number in (0..<30).reversed() { #expect(walk.teams(number) == 1) }
            #expect(walk.store.asked.rowRequests.count + walk.store.asked.rowsWithLists.count == 30)
        }
    }

    @Test func prefetchedListsAreNotVisible() throws {
        let walk = try Walk(Array(repeating: 2, count: 10))
        walk.context.performAndWait {
            for number in 0..<3 { walk.teams(number) }
            #expect(walk.store.asked.rowsWithLists.last == 10)
            #expect((3..<10).allSatisfy(walk.isUnread))
            #expect(walk.context.registeredObjects.count == 10 + 3 * 2)
        }
    }

    @Test func listsAreAsLongAsTheyAreAfterASave() throws {
        let walk = try Walk(Array(repeating: 2, count: 12))
        try walk.context.performAndWait { () throws in
            for number in 0..<4 { walk.teams(number) }
            try walk.add(toVenue: 4, in: walk.coordinator)
            #expect(walk.teams(4) == 3)
            try walk.add(toVenue: 6, in: walk.coordinator)
            #expect((5..<12).map { walk.teams($0) } == [2, 3, 2, 2, 2, 2, 2])
        }
    }

    @Test func unsavedChangesShowInListsThatWereReadAhead() throws {
        let walk = try Walk(Array(repeating: 2, count: 8))
        try walk.context.performAndWait { () throws in
            for number in 0..<3 { walk.teams(number) }
            let moved = try #require(walk.venues[0].value(forKey: "teams") as? Set<NSManagedObject>).first
            moved?.setValue(walk.venues[4], forKey: "venue")
            walk.context.addTeam("New", wins: 1).setValue(walk.venues[5], forKey: "venue")
            let gone = try walk.context.fetch(League.request("Team", NSPredicate(format: "venue = %@", walk.venues[3])))
            walk.context.delete(gone[0])
            walk.context.processPendingChanges()
            #expect((0..<8).map { walk.teams($0) } == [1, 2, 2, 1, 3, 3, 2, 2])
        }
    }

    @Test func aRefreshReadsListsAgain() throws {
        let walk = try Walk(Array(repeating: 2, count: 8))
        try walk.context.performAndWait { () throws in
            for number in 0..<3 { walk.teams(number) }
            try walk.add(toVenue: 4, in: walk.otherProcess())
            walk.context.refresh(walk.venues[4], mergeChanges: true)
            #expect(walk.teams(4) == 3)
        }
    }

    @Test func aMergeReadsListsAgain() throws {
        let walk = try Walk(Array(repeating: 2, count: 8))
        try walk.context.performAndWait { () throws in
            for number in 0..<3 { walk.teams(number) }
            let other = try walk.otherProcess()
            try walk.add(toVenue: 4, in: other)
            let team = walk.venues[7].objectID
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectsKey: [team.uriRepresentation()]], into: [walk.context])
            #expect(walk.teams(4) == 3)
        }
    }

    @Test func prefetchedListsExpire() throws {
        let walk = try Walk(Array(repeating: 2, count: 8))
        try walk.context.performAndWait { () throws in
            for number in 0..<3 { walk.teams(number) }
            try walk.add(toVenue: 4, in: walk.otherProcess())
            #expect(walk.teams(4) == 2, "what others wrote is not known of yet")
            try walk.add(toVenue: 5, in: walk.otherProcess())
            walk.context.faults.ahead.lifetime = .zero
            #expect(walk.teams(5) == 3)
        }
    }

    @Test func aResetForgetsTheOrder() throws {
        let walk = try Walk(Array(repeating: 2, count: 8))
        try walk.context.performAndWait { () throws in
            for number in 0..<3 { walk.teams(number) }
            walk.context.reset()
            try walk.fetch()
            // Prefetched lists would belong to released objects.
            for number in [3, 4, 0, 1, 2, 5, 6, 7] { #expect(walk.teams(number) == 2) }
            let teams = try walk.context.fetch(League.request("Team"))
            #expect(walk.context.registeredObjects.count == 8 + 16 && teams.count == 16)
        }
    }

    /// A list that is much longer than the previous ones is not prefetched.
    @Test func longListsAreNotReadAhead() throws {
        let walk = try Walk([2, 2, 2, 2, 1500, 2, 2, 2, 2])
        walk.context.performAndWait {
            for number in 0..<4 { #expect(walk.teams(number) == 2) }
            #expect(walk.store.asked.rowsWithLists.allSatisfy { $0 <= 2 })
            #expect((4..<9).map { walk.teams($0) } == [1500, 2, 2, 2, 2])
        }
    }

    @Test func aFailedPrefetchDoesNotLoseLists() throws {
        let walk = try Walk(Array(repeating: 2, count: 8))
        walk.context.performAndWait {
            for number in 0..<3 { walk.teams(number) }
            walk.store.asked.readFailure = CocoaError(.fileReadCorruptFile)
            #expect((3..<7).map { walk.teams($0) } == [2, 2, 2, 2], "read before")
            walk.store.asked.readFailure = nil
            #expect(walk.teams(7) == 2)
        }
    }

    /// Walks over a file while another context moves teams: each list is current when it is read.
    @Test func listsOnAFileAreThoseOfTheirTime() throws {
        let place = try League.Place(.sqlite)
        let coordinator = try place.coordinator()
        let writer = League.context(coordinator)
        var lists = Array(repeating: 3, count: 60)
        try writer.performAndWait {
            for number in 0..<60 {
                let venue = writer.addVenue("V\(1000 + number)")
                for team in 0..<3 { writer.addTeam("T\(team)", wins: 1).setValue(venue, forKey: "venue") }
            }
            try writer.save()
        }
        let reader = League.context(coordinator)
        var random = SeededGenerator(seed: 7)
        try reader.performAndWait { () throws in
            let venues = try reader.fetch(League.request("Venue", by: "name"))
            for (number, venue) in venues.enumerated() {
                if Int.random(in: 0..<4, using: &random) == 0 {
                    let (from, to) = (Int.random(in: 0..<60, using: &random), Int.random(in: 0..<60, using: &random))
                    try writer.performAndWait { () throws in
                        let all = try writer.fetch(League.request("Venue", by: "name"))
                        guard let team = (all[from].value(forKey: "teams") as? Set<NSManagedObject>)?.first else {
                            return
                        }
                        team.setValue(all[to], forKey: "venue")
                        try writer.save()
                        lists[from] -= 1
                        lists[to] += 1
                    }
                }
                let teams = venue.value(forKey: "teams") as? Set<NSManagedObject> ?? []
                #expect(teams.count == lists[number])
                for team in teams { #expect(team.value(forKey: "wins") as? Int == 1) }
            }
        }
    }
}
