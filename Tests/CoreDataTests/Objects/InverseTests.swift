import Foundation
import Testing

@testable import CoreData

@Suite struct InverseTests {
    @Test func oneToManyIsKeptUpFromBothEnds() throws {
        try ClubStack().contextKeepingStack().use { context in
            let rovers = context.team()
            let united = context.team("United")
            let player = context.make("Player", ["name": "Ada"])
            player.setValue(rovers, forKey: "team")
            #expect(rovers.players == [player])
            player.setValue(united, forKey: "team")
            #expect(rovers.players.isEmpty && united.players == [player])
            rovers.players = [player]
            #expect(player.object("team") === rovers && united.players.isEmpty)
            rovers.players = []
            #expect(player.object("team") == nil)
        }
    }

    @Test func oneToOneDetachesBothOldEnds() throws {
        try ClubStack().contextKeepingStack().use { context in
            let (rovers, united) = (context.team(), context.team("United"))
            let (ada, bob) = (context.make("Player"), context.make("Player"))
            rovers.captain = ada
            united.captain = bob
            rovers.captain = bob
            #expect(bob.object("captainOf") === rovers && ada.object("captainOf") == nil && united.captain == nil)
            ada.setValue(united, forKey: "captainOf")
            #expect(united.captain === ada && rovers.captain === bob)
        }
    }

    @Test func manyToManyIsKeptUpFromBothEnds() throws {
        try ClubStack().contextKeepingStack().use { context in
            let (ada, bob) = (context.make("Player", ["name": "Ada"]), context.make("Player", ["name": "Bob"]))
            let (pace, aim) = (context.make("Skill", ["name": "pace"]), context.make("Skill", ["name": "aim"]))
            ada.setValue(Set([pace, aim]), forKey: "skills")
            pace.mutableSetValue(forKey: "players").add(bob)
            #expect(pace.names("players") == ["Ada", "Bob"] && aim.names("players") == ["Ada"])
            #expect(bob.names("skills") == ["pace"])
            pace.mutableSetValue(forKey: "players").remove(ada)
            #expect(ada.names("skills") == ["aim"])
        }
    }

    @Test func relationshipsSurviveSavingAndReading() throws {
        let stack = try ClubStack()
        let ids = try stack.context().use { context in
            let rovers = context.team()
            let ada = context.make("Player", ["name": "Ada", "team": rovers])
            _ = context.make("Player", ["name": "Bob", "team": rovers])
            rovers.captain = ada
            let skill = context.make("Skill", ["name": "pace"])
            ada.setValue(NSSet(array: [skill]), forKey: "skills")
            let note = context.make("Note", ["about": rovers])
            rovers.mutableOrderedSetValue(forKey: "fans").addObjects(
                from: ["c", "a", "b"].map { context.make("Fan", ["name": $0]) })
            try context.save()
            return [rovers.objectID, ada.objectID, skill.objectID, note.objectID]
        }
        try stack.context().use { context in
            let objects = try ids.map { try context.existingObject(with: $0) }
            #expect(objects[0].hasFault(forRelationshipNamed: "players"))
            #expect(objects[0].names("players") == ["Ada", "Bob"])
            #expect(!objects[0].hasFault(forRelationshipNamed: "players"))
            #expect(objects[0].object("captain") === objects[1])
            #expect(objects[0].objectIDs(forRelationshipNamed: "captain") == [ids[1]])
            #expect(objects[1].names("skills") == ["pace"] && objects[2].names("players") == ["Ada"])
            #expect(objects[3].object("about") === objects[0])
            #expect(objects[0].names("fans") == ["c", "a", "b"])
        }
    }

    @Test func anUnreadToManyIsKeptUpWithoutReadingIt() throws {
        let stack = try ClubStack()
        let ids = try stack.context().use { context in
            let venue = context.make("Venue", ["name": "Park"])
            for name in ["One", "Two", "Three"] { context.team(name).setValue(venue, forKey: "venue") }
            try context.save()
            return [venue.objectID] + venue.objects("teams").map(\.objectID)
        }
        try stack.context().use { context in
            let venue = context.object(with: ids[0])
            let team = try context.existingObject(with: ids[1])
            let name = team.value(forKey: "name") as? String
            team.setValue(nil, forKey: "venue")
            context.team("Four").setValue(venue, forKey: "venue")
            #expect(venue.hasFault(forRelationshipNamed: "teams"))
            #expect(venue.isUpdated)
            #expect(venue.objects("teams").count == 3)
            #expect(venue.names("teams").contains("Four") && !venue.names("teams").contains(name ?? ""))
            try context.save()
            #expect(venue.objects("teams").count == 3)
        }
        try stack.context().use { context in
            #expect(context.object(with: ids[0]).objects("teams").count == 3)
        }
    }

    @Test func orderedRelationshipsKeepTheirOrder() throws {
        let stack = try ClubStack()
        let id = try stack.context().use { context in
            let team = context.team()
            let fans = team.mutableOrderedSetValue(forKey: "fans")
            for name in ["a", "b", "c", "d"] { fans.add(context.make("Fan", ["name": name])) }
            try context.save()
            fans.insert(context.make("Fan", ["name": "x"]), at: 1)
            fans.moveObjects(at: IndexSet(integer: 4), to: 0)
            #expect(team.names("fans") == ["d", "a", "x", "b", "c"])
            try context.save()
            _ = context.make("Fan", ["name": "e", "team": team])
            #expect(team.names("fans").last == "e", "added by the inverse: at the end")
            fans.removeObject(at: 0)
            #expect(team.names("fans") == ["a", "x", "b", "c", "e"])
            try context.save()
            return team.objectID
        }
        try stack.context().use { context in
            #expect(context.object(with: id).names("fans") == ["a", "x", "b", "c", "e"])
        }
    }

    @Test func handWrittenAccessorsKeepTheInverse() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            let player = context.make("Player", ["name": "Ada"])
            player.willChangeValue(forKey: "team")
            player.setPrimitiveValue(team, forKey: "team")
            #expect(team.players.isEmpty)
            player.didChangeValue(forKey: "team")
            #expect(team.players == [player])
            try context.save()
            team.willChangeValue(forKey: "players")
            team.setPrimitiveValue(NSSet(), forKey: "players")
            team.didChangeValue(forKey: "players")
            #expect(player.object("team") == nil && player.isUpdated)
        }
    }

    @Test func primitiveWritesAreNotNoticed() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            try context.save()
            team.setPrimitiveValue(9, forKey: "wins")
            #expect(team.wins == 9 && !team.hasChanges && !context.hasChanges)
            #expect(team.primitiveValue(forKey: "wins") as? Int == 9)
        }
    }
}
