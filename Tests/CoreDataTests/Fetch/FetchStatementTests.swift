import Foundation
import Testing

@testable import CoreData

/// Statements of Apple's documentation about fetches that no other suite tests.
@Suite struct FetchStatementTests {
    private func withTeams(_ body: (NSManagedObjectContext, [ClubTeam]) throws -> Void) throws {
        let stack = try ClubStack()
        try stack.context().use { context in
            let teams = ["Albion", "Borough", "City"].enumerated().map { index, name in
                let team = context.team(name)
                team.wins = Int16(index)
                return team
            }
            try context.save()
            try body(context, teams)
        }
    }

    private func request(_ predicate: NSPredicate? = nil) -> NSFetchRequest<ClubTeam> {
        let request = NSFetchRequest<ClubTeam>(entityName: "Team")
        request.predicate = predicate
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return request
    }

    @Test func withoutPendingChangesSavedMatchesComeWithTheirPresentValues() throws {
        try withTeams { context, teams in
            teams[0].wins = 9
            teams[2].wins = 0
            let wanted = request(NSPredicate(format: "wins > 1"))
            let present = try context.fetch(wanted)
            #expect(present == [teams[0]])
            wanted.includesPendingChanges = false
            let saved = try context.fetch(wanted)
            #expect(saved == [teams[2]] && teams[2].wins == 0)
        }
    }

    @Test func anEmptyConjunctionMeansNoPredicate() throws {
        try withTeams { context, teams in
            let none = NSCompoundPredicate(type: .and, subpredicates: [])
            let found = try context.fetch(request(none))
            let count = try context.count(for: request(none))
            #expect(found == teams && count == 3)
        }
    }

    @Test func anAbstractEntityIsFetchedAsItsSubentities() throws {
        try withTeams { context, _ in
            _ = (context.make("Player", ["name": "Ada"]), context.make("Coach", ["name": "Bob"]))
            try context.save()
            let people = NSFetchRequest<NSManagedObject>(entityName: "Person")
            people.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            #expect(try context.fetch(people).map { $0.entity.name } == ["Player", "Coach"])
            people.includesSubentities = false
            #expect(try context.fetch(people).isEmpty)
        }
    }

    @Test func transientAttributesAreComparedInMemory() throws {
        try withTeams { context, teams in
            for (team, scratch) in zip(teams, [2, 3, 1] as [Int32]) { team.scratch = scratch }
            let byScratch = request(NSPredicate(format: "scratch < 3"))
            byScratch.sortDescriptors = [NSSortDescriptor(key: "scratch", ascending: true)]
            let found = try context.fetch(byScratch)
            #expect(found == [teams[2], teams[0]])
        }
    }

    @Test func objectsHaveAllTheirValuesWhateverIsFetched() throws {
        try withTeams { context, teams in
            context.reset()
            let partial = request()
            partial.propertiesToFetch = ["name"]
            partial.returnsDistinctResults = true
            let found = try context.fetch(partial)
            #expect(found.map(\.name) == ["Albion", "Borough", "City"] && found.map(\.wins) == [0, 1, 2])
            #expect(!context.hasChanges && found.allSatisfy { $0.changedValues().isEmpty })
        }
    }

    @Test func distinctResultsNeedPropertiesToFetch() throws {
        try withTeams { context, teams in
            let double = context.team("Albion")
            try context.save()
            let objects = request(NSPredicate(format: "name == %@", "Albion"))
            objects.returnsDistinctResults = true
            let found = try context.fetch(objects)
            #expect(found.count == 2 && Set(found) == [teams[0], double])
            let rows = NSFetchRequest<NSDictionary>(entityName: "Team")
            rows.resultType = .dictionaryResultType
            rows.predicate = objects.predicate
            rows.returnsDistinctResults = true
            #expect(try context.fetch(rows).count == 2)
            rows.propertiesToFetch = ["name"]
            #expect(try context.fetch(rows).count == 1)
        }
    }

    @Test func distinctValuesAreOfThePropertiesToFetch() throws {
        try withTeams { context, teams in
            teams[1].wins = 0
            try context.save()
            let wins = NSFetchRequest<NSDictionary>(entityName: "Team")
            wins.resultType = .dictionaryResultType
            wins.returnsDistinctResults = true
            wins.propertiesToFetch = ["wins"]
            #expect(try context.fetch(wins).count == 2)
            wins.propertiesToFetch = ["name", "wins"]
            #expect(try context.fetch(wins).count == 3)
        }
    }
}
