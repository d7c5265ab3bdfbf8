import Foundation
import Testing

@testable import CoreData

/// Number of requests to the store for rows.
@Suite struct FaultBatchTests {
    private func filled(_ count: Int) throws -> (NSManagedObjectContext, MemoryOperations) {
        let (coordinator, store) = try League.memoryStack()
        let writer = League.context(coordinator)
        try writer.performAndWait {
            for number in 0..<count { writer.addTeam("T\(1000 + number)", wins: number) }
            try writer.save()
        }
        store.asked.forget()
        return (League.context(coordinator), store.asked)
    }

    @Test func aFetchBringsTheRows() throws {
        let (context, asked) = try filled(50)
        try context.performAndWait { () throws in
            let teams = try context.fetch(League.request("Team"))
            #expect(teams.allSatisfy { $0.isFault })
            let wins: [Int] = teams.compactMap { $0.value(forKey: "wins") as? Int }
            #expect(wins.reduce(0, +) == 1_225)
            #expect(asked.fetches == 1)
            #expect(asked.rowRequests == [])
        }
    }

    @Test func objectsComeRealOnRequest() throws {
        let (context, asked) = try filled(5)
        try context.performAndWait { () throws in
            let request = League.request("Team")
            request.returnsObjectsAsFaults = false
            #expect(try context.fetch(request).allSatisfy { !$0.isFault })
            #expect(asked.rowRequests == [])
        }
    }

    @Test func touchingOneObjectReadsItsBatch() throws {
        let (context, asked) = try filled(100)
        try context.performAndWait { () throws in
            let request = League.request("Team")
            request.fetchBatchSize = 20
            let teams = try context.fetch(request)
            #expect(teams.count == 100)
            #expect(asked.rowRequests == [])
            #expect(teams[45].value(forKey: "name") as? String == "T1045")
            #expect(asked.rowRequests == [20])
            for index in 40..<60 { #expect(teams[index].value(forKey: "wins") as? Int == index) }
            #expect(asked.rowRequests == [20])
            #expect(teams[60].value(forKey: "wins") as? Int == 60)
            #expect(asked.rowRequests == [20, 20])
            #expect(asked.fetches == 1, "all IDs are read once")
        }
    }

    @Test func dictionariesComeAllAtOnceWhateverTheBatchSize() throws {
        let (context, asked) = try filled(5)
        try context.performAndWait { () throws in
            let request = NSFetchRequest<NSDictionary>(entityName: "Team")
            request.resultType = .dictionaryResultType
            request.fetchBatchSize = 2
            request.propertiesToFetch = ["wins"]
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let rows = try context.fetch(request)
            #expect(asked.fetches == 1 && asked.rowRequests == [])
            #expect(rows.map { $0["wins"] as? Int } == [0, 1, 2, 3, 4])
            #expect(asked.fetches == 1 && asked.rowRequests == [])
        }
    }

    @Test func objectsWithoutValuesReadTheirNeighboursToo() throws {
        let (context, asked) = try filled(300)
        try context.performAndWait { () throws in
            let request = League.request("Team")
            request.includesPropertyValues = false
            let teams = try context.fetch(request)
            for (index, team) in teams.enumerated() { #expect(team.value(forKey: "wins") as? Int == index) }
            #expect(asked.rowRequests == [128, 128, 44])
        }
    }

    /// Faults that were created one by one are read together when the first one fires.
    @Test func objectsThatAreRefreshedOneByOneReadTheirNeighbours() throws {
        let (context, asked) = try filled(300)
        try context.performAndWait { () throws in
            let request = League.request("Team")
            request.returnsObjectsAsFaults = false
            let teams = try context.fetch(request)
            for team in teams { context.refresh(team, mergeChanges: false) }
            #expect(asked.rowRequests == [])
            for (index, team) in teams.enumerated() { #expect(team.value(forKey: "wins") as? Int == index) }
            #expect(asked.rowRequests == [128, 128, 44])
            asked.forget()
            for team in teams[10..<14] {
                context.refresh(team, mergeChanges: false)
                #expect(team.value(forKey: "wins") as? Int != nil)
            }
            #expect(asked.rowRequests == [1, 1, 1, 1])
        }
    }

    @Test func membersOfARelationshipReadTheirNeighboursToo() throws {
        let (coordinator, store) = try League.memoryStack()
        let writer = League.context(coordinator)
        try writer.performAndWait {
            let venue = writer.addVenue("Azteca")
            for number in 0..<40 { writer.addTeam("T\(number)", wins: number).setValue(venue, forKey: "venue") }
            try writer.save()
        }
        let context = League.context(coordinator)
        try context.performAndWait { () throws in
            let venue = try #require(try context.fetch(League.request("Venue")).first)
            store.asked.forget()
            let teams = (venue.value(forKey: "teams") as? NSSet)?.allObjects as? [NSManagedObject] ?? []
            let wins: [Int] = teams.compactMap { $0.value(forKey: "wins") as? Int }
            #expect(wins.reduce(0, +) == 780)
            #expect(store.asked.rowRequests == [40])
        }
    }

    /// A context on venues with the given numbers of teams, in order, and the requests to the store.
    private func venues(_ sizes: [Int]) throws -> (NSManagedObjectContext, [NSManagedObject], MemoryOperations) {
        let (coordinator, store) = try League.memoryStack()
        let writer = League.context(coordinator)
        try writer.performAndWait {
            for (number, size) in sizes.enumerated() {
                let venue = writer.addVenue("V\(number)")
                for team in 0..<size { writer.addTeam("T\(team)", wins: 1).setValue(venue, forKey: "venue") }
            }
            try writer.save()
        }
        let context = League.context(coordinator)
        context.faults.ahead.lifetime = .seconds(3600)
        let venues = try context.performAndWait {
            try context.fetch(League.request("Venue")).sorted { venue, other in
                guard let left = venue.value(forKey: "name") as? String else { return false }
                return left < other.value(forKey: "name") as? String ?? ""
            }
        }
        store.asked.forget()
        return (context, venues, store.asked)
    }

    private func wins(_ venue: NSManagedObject) -> Int {
        (venue.value(forKey: "teams") as? Set<NSManagedObject> ?? []).reduce(0) {
            $0 + ($1.value(forKey: "wins") as? Int ?? 0)
        }
    }

    @Test func shortListsBringTheirRowsOnceMembersWereTouched() throws {
        let (context, venues, asked) = try venues([5, 4, 3, 0, 1])
        context.performAndWait {
            #expect(venues.map(wins) == [5, 4, 3, 0, 1])
            #expect(asked.rowRequests == [5] && asked.rowsWithLists == [4, 3 + 0 + 1])
        }
    }

    @Test func listsThatAreOnlyCountedBringNoRows() throws {
        let (context, venues, asked) = try venues([5, 4, 3])
        context.performAndWait {
            for venue in venues { #expect(venue.objectIDs(forRelationshipNamed: "teams").count > 2) }
            #expect(asked.rowRequests == [] && asked.rowsWithLists == [])
        }
    }

    @Test func aLongListBringsItsFirstRowsOnly() throws {
        let (context, venues, asked) = try venues([200, 3, 300])
        context.performAndWait {
            #expect(wins(venues[0]) == 200)
            #expect(wins(venues[1]) == 3)
            #expect(asked.rowsWithLists == [], "a list that takes several batches is none to bring rows with")
            #expect(wins(venues[2]) == 300)
            // The members of a set have no order.
            #expect(asked.rowRequests.sorted() == [3, 44, 72, 128, 128] && asked.rowsWithLists == [128])
        }
    }

    @Test func prefetchedListsComeWithTheirRows() throws {
        let (context, _, asked) = try venues([5, 4, 3])
        try context.performAndWait { () throws in
            context.reset()
            let request = League.request("Venue")
            request.relationshipKeyPathsForPrefetching = ["teams"]
            #expect(try context.fetch(request).reduce(0) { $0 + wins($1) } == 12)
            #expect(asked.rowRequests == [] && asked.rowsWithLists == [12])
        }
    }

    @Test func countsReadNothing() throws {
        let (context, asked) = try filled(10)
        try context.performAndWait { () throws in
            #expect(try context.count(for: League.request("Team")) == 10)
            let request = NSFetchRequest<NSNumber>(entityName: "Team")
            request.resultType = .countResultType
            request.fetchLimit = 4
            #expect(try context.fetch(request) == [4])
            #expect(asked.fetches == 0 && asked.rowRequests == [])
            #expect(context.registeredObjects.isEmpty)
        }
    }

    @Test func aCountThatTheStoreCannotDoIsDoneOverRows() throws {
        let (context, asked) = try filled(10)
        try context.performAndWait { () throws in
            #expect(try context.count(for: League.request("Team", NSPredicate(format: "wins >= 4"))) == 6)
            #expect(asked.fetches == 1)
            #expect(context.registeredObjects.isEmpty)
        }
    }

    @Test func listsByKeyCreateNoObjects() throws {
        let (context, asked) = try filled(100)
        try context.performAndWait { () throws in
            let request = League.request("Team", by: "-wins").erased
            let found = try #require(try context.fetchPipeline.keys(request))
            #expect(found.keys.count == 100)
            #expect(context.registeredObjects.isEmpty)
            asked.forget()
            let page = try context.fetchPipeline.objects(for: found.keys[10..<20], in: found.store)
            #expect(page.compactMap { $0.value(forKey: "wins") as? Int } == Array((80..<90).reversed()))
            #expect(asked.rowRequests == [10])
        }
    }

    @Test func prefetchingReadsDestinationsAtOnce() throws {
        let (coordinator, store) = try League.memoryStack()
        let writer = League.context(coordinator)
        try writer.performAndWait {
            for number in 0..<6 {
                let venue = writer.addVenue("V\(number)", city: "C\(number)")
                for team in 0..<3 { writer.addTeam("T\(number)\(team)").setValue(venue, forKey: "venue") }
            }
            try writer.save()
        }
        let context = League.context(coordinator)
        try context.performAndWait { () throws in
            store.asked.forget()
            let request = League.request("Team", by: "name")
            request.relationshipKeyPathsForPrefetching = ["venue"]
            let teams = try context.fetch(request)
            #expect(store.asked.rowRequests == [6])
            let cities = teams.compactMap { $0.value(forKeyPath: "venue.city") as? String }
            #expect(Set(cities).count == 6 && cities.count == 18)
            #expect(store.asked.rowRequests == [6])
        }
        let other = League.context(coordinator)
        try other.performAndWait { () throws in
            store.asked.forget()
            let request = League.request("Venue", by: "name")
            request.relationshipKeyPathsForPrefetching = ["teams"]
            let venues = try other.fetch(request)
            let rows = store.asked.rowRequests
            #expect(rows == [] && store.asked.rowsWithLists == [18])
            for venue in venues {
                let members = venue.value(forKey: "teams") as? NSSet
                #expect(members?.count == 3)
                for case let team as NSManagedObject in members ?? NSSet() { _ = team.value(forKey: "name") }
            }
            #expect(store.asked.rowRequests == rows)
        }
    }
}
