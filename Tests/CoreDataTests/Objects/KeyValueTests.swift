import Foundation
import Testing

@testable import CoreData

@Suite struct KeyValueTests {
    @Test func numbersCastToEverySwiftNumber() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            for value in [5 as Any, Int16(5), Int64(5), 5.0, NSNumber(value: 5), Decimal(5), UInt8(5)] {
                team.setValue(value, forKey: "wins")
                let read = team.value(forKey: "wins")
                #expect(read as? Int == 5 && read as? Int16 == 5 && read as? Double == 5 && read is NSNumber)
            }
            team.setValue(5.9, forKey: "wins")
            #expect(team.wins == 5, "an integer drops the fraction, as NSNumber does")
            team.setValue(1, forKey: "favorite")
            #expect(team.value(forKey: "favorite") as? Bool == true && team.favorite)
            team.setValue(Float(0.1), forKey: "rating")
            #expect(team.rating == Double(Float(0.1)))
            let nothing: Int? = nil
            team.setValue(nothing as Any, forKey: "rating")
            #expect(team.value(forKey: "rating") == nil && team.rating == 0)
        }
    }

    @Test func pathsFollowRelationshipsAndOperators() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            let venue = context.make("Venue", ["name": "Park", "capacity": 500])
            team.setValue(venue, forKey: "venue")
            for (name, number) in [("Ada", 3), ("Bob", 5), ("Cy", 5)] {
                _ = context.make("Player", ["name": name, "number": number, "team": team])
            }
            #expect(team.value(forKeyPath: "venue.capacity") as? Int == 500)
            team.setValue(900, forKeyPath: "venue.capacity")
            #expect(venue.value(forKey: "capacity") as? Int == 900)
            #expect(team.value(forKeyPath: "players.@count") as? Int == 3)
            #expect(team.value(forKeyPath: "players.@sum.number") as? Int == 13)
            #expect(team.value(forKeyPath: "players.@max.number") as? Int == 5)
            #expect(team.value(forKeyPath: "players.@min.name") as? String == "Ada")
            let average = try #require(team.value(forKeyPath: "players.@avg.number") as? Double)
            #expect(abs(average - 13.0 / 3) < 1e-9)
            let numbers = team.value(forKeyPath: "players.@distinctUnionOfObjects.number") as? [Int]
            #expect(numbers?.sorted() == [3, 5])
            let names = team.value(forKeyPath: "players.name") as? Set<String>
            #expect(names == ["Ada", "Bob", "Cy"])
            #expect(team.value(forKeyPath: "captain.name") == nil)
            let all = venue.value(forKeyPath: "teams.@distinctUnionOfSets.players") as? Set<NSManagedObject>
            #expect(all?.count == 3)
            #expect(team["wins"] as? Int == 0)
        }
    }

    @Test func subscriptsReadAndSet() throws {
        try ClubStack().context().use { context in
            let team = context.team()
            team["name"] = "Albion"
            team[key: "wins"] = 3
            #expect(team[key: "name"] as? String == "Albion" && team["wins"] as? Int == 3)
            #expect(team.hasChanges)
        }
    }

    @Test func keysBeyondTheModelCanBeAnswered() throws {
        final class Answering: NSManagedObject {
            override func value(forUndefinedKey key: String) -> Any? { key == "shout" ? "HEY" : nil }
        }
        let entity = Club.entity("Thing", [Club.attribute("name", .stringAttributeType)])
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let thing = Answering(entity: entity, insertInto: nil)
        #expect(thing.value(forKey: "shout") as? String == "HEY")
        #expect(thing.value(forKey: "objectID") as? NSManagedObjectID == thing.objectID)
        #expect(thing.value(forKey: "isDeleted") as? Bool == false)
    }

    @Test func transformableValuesAreHandedOverUnchanged() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            team.setValue(["a", "b"], forKey: "extra")
            #expect(team.value(forKey: "extra") as? [String] == ["a", "b"])
            team.setValue(NSArray(array: [1, 2]), forKey: "extra")
            #expect(team.value(forKey: "extra") as? NSArray == [1, 2])
        }
    }

    @Test func mutableSetsFollowTheRelationship() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            let players = (1...3).map { context.make("Player", ["name": "P\($0)"]) }
            let set = team.mutableSetValue(forKey: "players")
            set.addObjects(from: players)
            #expect(set.count == 3 && set.contains(players[0]) && team.players == Set(players))
            players[2].setValue(nil, forKey: "team")
            #expect(set.count == 2 && !set.contains(players[2]))
            set.minus([players[0]])
            #expect(team.players == [players[1]] && Set(set.allObjects.map { $0 as! NSManagedObject }) == [players[1]])
            set.removeAllObjects()
            #expect(team.players.isEmpty && players.allSatisfy { $0.object("team") == nil })
        }
    }

    @Test func mutableOrderedSetsFollowEveryKindOfChange() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            let fans = ["a", "b", "c", "d", "e"].map { context.make("Fan", ["name": $0]) }
            let set = team.mutableOrderedSetValue(forKey: "fans")
            set.addObjects(from: Array(fans[0..<3]))
            #expect(team.names("fans") == ["a", "b", "c"])
            set.insert([fans[3], fans[4]], at: IndexSet([0, 2]))
            #expect(team.names("fans") == ["d", "a", "e", "b", "c"])
            set.exchangeObject(at: 0, withObjectAt: 4)
            set.remove(fans[0])
            #expect(team.names("fans") == ["c", "e", "b", "d"] && fans[0].object("team") == nil)
            set.replaceObject(at: 1, with: fans[0])
            #expect(team.names("fans") == ["c", "a", "b", "d"] && fans[4].object("team") == nil)
            set.minusSet([fans[2], fans[3]])
            #expect(team.names("fans") == ["a", "b"])
            set.sort { left, right in
                let names = [left, right].map { ($0 as? NSManagedObject)?.value(forKey: "name") as? String ?? "" }
                return names[1].compare(names[0])
            }
            #expect(team.names("fans") == ["b", "a"] && set.array.count == 2)
            set.removeAllObjects()
            #expect(team.names("fans").isEmpty)
        }
    }
}
