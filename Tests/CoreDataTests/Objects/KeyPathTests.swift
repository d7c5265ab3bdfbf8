import Foundation
import Testing

@testable import CoreData

/// Key paths with collection operators, and access by several keys.
@Suite struct KeyPathTests {
    private func withTeam(_ body: (NSManagedObjectContext, ClubTeam) throws -> Void) throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            for (name, number) in [("Ada", 3), ("Bob", 5), ("Cy", 5), ("Di", nil)] as [(String, Int?)] {
                _ = context.make("Player", ["name": name, "number": number as Any, "team": team])
            }
            for name in ["x", nil, "x"] as [String?] { _ = context.make("Fan", ["name": name as Any, "team": team]) }
            try body(context, team)
        }
    }

    @Test func valuesThatAreUnsetCountAsZeroOrNotAtAll() throws {
        try withTeam { _, team in
            #expect(team.value(forKeyPath: "players.@count") as? Int == 4)
            #expect(team.value(forKeyPath: "players.@sum.number") as? Int == 13)
            #expect(team.value(forKeyPath: "players.@avg.number") as? Double == 13.0 / 4)
            #expect(team.value(forKeyPath: "players.@min.number") as? Int == 3)
            #expect(team.value(forKeyPath: "players.@max.number") as? Int == 5)
        }
    }

    @Test func nothingHasASumButNoGreatest() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            #expect(team.value(forKeyPath: "players.@sum.number") as? Int == 0)
            #expect(team.value(forKeyPath: "players.@avg.number") as? Int == 0)
            #expect(team.value(forKeyPath: "players.@max.number") == nil)
            #expect(team.value(forKeyPath: "players.@count") as? Int == 0)
        }
    }

    @Test func collectionsKeepTheirKind() throws {
        try withTeam { context, team in
            let numbers = try #require(team.value(forKeyPath: "players.number") as? Set<Int>)
            #expect(numbers == [3, 5], "a set has nothing for what is unset")
            let fans = try #require(team.value(forKeyPath: "fans.name") as? NSOrderedSet)
            #expect(fans.array.count == 2 && fans[0] as? String == "x" && fans[1] is NSNull)
            let distinct = team.value(forKeyPath: "fans.@distinctUnionOfObjects.name") as? [String]
            #expect(distinct == ["x"])
            #expect(team.value(forKeyPath: "fans.@unionOfObjects.name") as? [String] == ["x", "x"])
            let venue = context.make("Venue", ["name": "Park"])
            team.setValue(venue, forKey: "venue")
            let all = try #require(
                venue.value(forKeyPath: "teams.@distinctUnionOfSets.players") as? Set<NSManagedObject>)
            #expect(all == team.players)
            team.setValue([[1, 2], [2, 3]], forKey: "extra")
            #expect(team.value(forKeyPath: "extra.@unionOfArrays.self") as? [Int] == [1, 2, 2, 3])
            #expect(team.value(forKeyPath: "extra.@distinctUnionOfArrays.self") as? [Int] == [1, 2, 3])
        }
    }

    /// Foundation's dictionaries distinguish keys that are equal in Swift, such as nulls.
    @Test func keysThatAreEqualInSwiftAreRead() throws {
        try withTeam { _, team in
            let keys = (0..<8).map { _ in NSNull() } + ["name" as NSString]
            team.setValue(NSDictionary(objects: Array(0..<8) + ["Ada"], forKeys: keys), forKey: "extra")
            #expect(team.value(forKeyPath: "extra.name") as? String == "Ada")
        }
    }

    /// Foundation's own hash of decimal numbers does not terminate.
    @Test func decimalsAreMembersOfSets() throws {
        try withTeam { context, team in
            let venue = context.make("Venue", ["name": "Park"])
            for (name, text) in [("A", "1.5"), ("B", "1.50"), ("C", "2")] {
                let other = context.make("Team", ["name": name, "budget": NSDecimalNumber(string: text)])
                other.setValue(venue, forKey: "venue")
            }
            let budgets = try #require(venue.value(forKeyPath: "teams.budget") as? NSSet)
            #expect(budgets.count == 2 && Set(budgets.compactMap { "\($0)" }) == ["1.5", "2"])
            #expect(budgets.contains(budgets.anyObject() ?? 0))
            let distinct = venue.value(forKeyPath: "teams.@distinctUnionOfObjects.budget") as? [NSDecimalNumber]
            #expect(distinct?.map(\.stringValue).sorted() == ["1.5", "2"])
        }
    }

    @Test func settingThroughACollectionSetsEachMember() throws {
        try withTeam { _, team in
            team.setValue(9, forKeyPath: "players.number")
            #expect(team.value(forKeyPath: "players.@sum.number") as? Int == 36)
            team.setValue(1, forKeyPath: "venue.capacity")
            #expect(team.value(forKeyPath: "venue.capacity") == nil, "there is nobody to set it")
        }
    }

    @Test func severalKeysAtOnce() throws {
        try withTeam { _, team in
            team.setValuesForKeys(["wins": 4, "code": "ABC", "rating": NSNull()])
            #expect(team.wins == 4 && team.value(forKey: "rating") == nil)
            let values = team.dictionaryWithValues(forKeys: ["wins", "code", "rating"])
            #expect(values["wins"] as? Int == 4 && values["code"] as? String == "ABC" && values["rating"] is NSNull)
        }
    }

    @Test func mutableSetsAtTheEndOfAPath() throws {
        try withTeam { context, team in
            let player = try #require(team.players.first)
            let fan = context.make("Fan", ["name": "z"])
            player.mutableOrderedSetValue(forKeyPath: "team.fans").add(fan)
            #expect(team.fans?.lastObject as? NSManagedObject === fan)
            player.mutableSetValue(forKeyPath: "team.players").remove(player)
            #expect(team.players.count == 3 && player.object("team") == nil)
        }
    }

    @Test func theSetMutationHooksKeepTheInverse() throws {
        try withTeam { context, team in
            let added = context.make("Player", ["name": "Ed"])
            try context.save()
            let changed: Set<AnyHashable> = [added]
            team.willChangeValue(forKey: "players", withSetMutation: .union, using: changed)
            team.setPrimitiveValue(team.players.union([added]), forKey: "players")
            team.didChangeValue(forKey: "players", withSetMutation: .union, using: changed)
            #expect(added.object("team") === team && team.isUpdated && added.isUpdated)
            team.willChangeValue(forKey: "players", withSetMutation: .minus, using: changed)
            team.setPrimitiveValue(team.players.subtracting([added]), forKey: "players")
            team.didChangeValue(forKey: "players", withSetMutation: .minus, using: changed)
            #expect(added.object("team") == nil)
            try context.save()
        }
    }

    /// A divergence: Foundation's cast ignores overrides of `NSSet` subclasses.
    @Test func aMutableSetIsNotCastToASwiftSet() throws {
        try withTeam { _, team in
            let set = team.mutableSetValue(forKey: "players")
            #expect(set.count == 4 && (set as? Set<NSManagedObject>)?.count == 0)
            #expect((set.copy() as? Set<NSManagedObject>)?.count == 4)
            #expect(Set(set.allObjects.compactMap { $0 as? NSManagedObject }) == team.players)
        }
    }

    /// A divergence: the set that `value(forKey:)` returns for a to-many relationship does not change with it.
    @Test func theValueOfAToManyIsACopy() throws {
        try withTeam { context, team in
            let before = try #require(team.value(forKey: "players") as? NSSet)
            _ = context.make("Player", ["name": "Ed", "team": team])
            #expect(before.count == 4 && (team.value(forKey: "players") as? NSSet)?.count == 5)
        }
    }

    @Test func statesHaveKeys() throws {
        try withTeam { context, team in
            try context.save()
            let id = team.objectID
            context.refresh(team, mergeChanges: false)
            #expect(team.value(forKey: "isFault") as? Bool == true && team.value(forKey: "faultingState") as? Int == 1)
            #expect(team.value(forKey: "objectID") as? NSManagedObjectID == id && team.isFault)
            #expect((team.value(forKey: "entity") as? NSEntityDescription)?.name == "Team" && team.isFault)
            #expect(team.value(forKeyPath: "self.wins") as? Int == 0 && !team.isFault)
            #expect(team.faultingState == 0)
        }
    }
}
