import Foundation
import Testing

@testable import CoreData

/// Undo after others changed the same objects, and rows that others restore by undo.
@Suite struct UndoneEditsTests {
    @Test func undoingAnInsertionRemovesTheParentsReferences() throws {
        let world = try TakenBackWorld(nested: true)
        try world.mine.use { mine in
            let (venue, skill) = (mine.make("Venue", ["name": "New"]), mine.make("Skill", ["name": "wit"]))
            mine.processPendingChanges()
            try mine.save()
            try world.other.use { other in
                let (ada, team) = (try world.object("Ada", other), try world.object("Albion", other))
                ada.mutableSetValue(forKey: "skills").add(try other.existingObject(with: skill.objectID))
                team.setValue(try other.existingObject(with: venue.objectID), forKey: "venue")
                other.processPendingChanges()
            }
            mine.refreshAllObjects()
            let (ada, team) = (try world.object("Ada", mine), try world.object("Albion", mine))
            #expect(ada.names("skills") == ["pace", "wit"] && team.object("venue") === venue)
            mine.undo()
            #expect(venue.isDeleted && skill.isDeleted)
            #expect(ada.names("skills") == ["pace"] && team.object("venue") == nil)
            mine.redo()
            #expect(ada.names("skills") == ["pace", "wit"] && team.object("venue") === venue)
            #expect(venue.names("teams") == ["Albion"])
            mine.undo()
            try mine.save()
            try world.other.use { other in
                #expect(try world.object("Ada", other).names("skills") == ["pace"])
                try other.save()
            }
        }
    }

    @Test func anUndoneEditKeepsTheDestinationThatTheParentSet() throws {
        let world = try TakenBackWorld(nested: true)
        try world.mine.use { mine in
            let (team, ada) = (try world.object("Borough", mine), try world.object("Ada", mine))
            let bob = mine.make("Player", ["name": "Bob"])
            mine.processPendingChanges()
            team.setValue(bob, forKey: "captain")
            mine.processPendingChanges()
            try mine.save()
            try world.other.use { other in
                try world.object("Borough", other).setValue(try world.object("Ada", other), forKey: "captain")
                other.processPendingChanges()
            }
            mine.refreshAllObjects()
            #expect(team.object("captain") === ada && ada.object("captainOf") === team)
            mine.undo()
            #expect(team.object("captain") == nil && ada.object("captainOf") == nil && bob.object("captainOf") == nil)
        }
    }

    @Test func anOrderThatIsUndoneKeepsWhatOthersAdded() throws {
        let world = try TakenBackWorld(nested: true)
        try world.mine.use { mine in
            let team = try world.object("Albion", mine)
            let fan = mine.make("Fan", ["name": "Fay"])
            mine.processPendingChanges()
            team.setValue(NSOrderedSet(array: [fan]), forKey: "fans")
            mine.processPendingChanges()
            try world.editElsewhere { other in
                let guest = other.make("Fan", ["name": "Gus"])
                try world.object("Albion", other).setValue(NSOrderedSet(array: [guest]), forKey: "fans")
            }
            #expect(Set(team.names("fans")) == ["Fay", "Gus"])
            mine.undo()
            let guest = try #require((team.value(forKey: "fans") as? NSOrderedSet)?.firstObject as? NSManagedObject)
            #expect(team.names("fans") == ["Gus"] && guest.object("team") === team && fan.object("team") == nil)
            mine.redo()
            #expect(Set(team.names("fans")) == ["Fay", "Gus"] && fan.object("team") === team)
        }
    }

    @Test func aDeletionUndoneAfterItsSaveIsRestoredAtBothEnds() throws {
        let world = try TakenBackWorld(nested: true)
        try world.mine.use { mine in
            let (ada, skill) = (try world.object("Ada", mine), try world.object("pace", mine))
            let wit = try world.other.use { other in
                let wit = other.make("Skill", ["name": "wit"])
                other.processPendingChanges()
                return wit.objectID
            }
            let late = try mine.existingObject(with: wit)
            ada.setValue(Set([late]), forKey: "skills")
            mine.processPendingChanges()
            for object in [late, skill] { mine.delete(object) }
            mine.processPendingChanges()
            // The lists of deleted objects are released, too.
            mine.refreshAllObjects()
            try mine.save()
            mine.undo()
            #expect(ada.objects("skills") == [late] && late.objects("players") == [ada])
            mine.undo()
            #expect(ada.objects("skills") == [skill] && skill.objects("players") == [ada])
        }
    }

    @Test func anObjectRestoredByTheParentIsNotRestoredByUndo() throws {
        let world = try TakenBackWorld(nested: true)
        try world.mine.use { mine in
            mine.delete(try world.object("Albion", mine))
            mine.processPendingChanges()
            try mine.save()
            try world.other.use { other in
                other.undo()
                try world.object("Albion", other).setValue(nil, forKey: "captain")
                other.processPendingChanges()
            }
            mine.refreshAllObjects()
            mine.undo()
            let (team, ada) = (try world.object("Albion", mine), try world.object("Ada", mine))
            #expect(team.object("captain") == nil && ada.object("captainOf") == nil && ada.object("team") === team)
            #expect(team.names("players") == ["Ada"] && !mine.hasChanges)
            try mine.save()
            #expect(try mine.count(for: NSFetchRequest<NSManagedObject>(entityName: "Team")) == 2)
        }
    }

    @Test func anObjectRestoredByTheParentLaterIsTheSameInstance() throws {
        let world = try TakenBackWorld(nested: true)
        try world.mine.use { mine in
            mine.delete(try world.object("Albion", mine))
            mine.processPendingChanges()
            try mine.save()
            mine.undo()
            let team = try world.object("Albion", mine)
            try world.other.use { other in
                other.undo()
                _ = other.make("Player", ["name": "Bob", "team": try world.object("Albion", other)])
                other.processPendingChanges()
            }
            mine.refreshAllObjects()
            #expect(team.names("players") == ["Ada", "Bob"] && !team.isInserted)
            #expect(try world.object("Ada", mine).object("captainOf") === team)
            try mine.save()
            #expect(!mine.hasChanges && team.names("players") == ["Ada", "Bob"])
        }
        try world.other.use { other in
            #expect(try world.object("Albion", other).names("players") == ["Ada", "Bob"])
            try other.save()
        }
    }

    @Test func anObjectDeletedByTheParentIsNotRestoredByUndo() throws {
        let world = try TakenBackWorld(nested: true)
        try world.mine.use { mine in
            let (ada, skill) = (try world.object("Ada", mine), try world.object("pace", mine))
            mine.delete(skill)
            mine.processPendingChanges()
            try world.other.use { other in
                other.delete(try world.object("Ada", other))
                other.processPendingChanges()
            }
            mine.refreshAllObjects()
            mine.undo()
            #expect(ada.managedObjectContext == nil && !skill.isDeleted && skill.objects("players").isEmpty)
        }
    }

    @Test func restoredObjectsDoNotReferToDeletedOnes() throws {
        let world = try TakenBackWorld(nested: true)
        try world.mine.use { mine in
            let (rival, ada) = (try world.object("Borough", mine), try world.object("Ada", mine))
            for object in [rival, ada] {
                mine.delete(object)
                mine.processPendingChanges()
            }
            try world.other.use { other in
                try world.object("Ada", other).setValue(try world.object("Borough", other), forKey: "team")
                other.processPendingChanges()
            }
            mine.refreshAllObjects()
            mine.undo()
            #expect(!ada.isDeleted && rival.isDeleted && ada.object("team") == nil)
            #expect(try world.object("Albion", mine).objects("players").isEmpty)
        }
    }

    // MARK: Restored rows

    @Test(arguments: [false, true])
    func aRowRestoredByOthersHasTheirValues(merging: Bool) throws {
        let world = try TakenBackWorld(nested: false)
        let ada = try world.mine.use { try world.object("Ada", $0) }
        try world.editElsewhere { $0.delete(try world.object("Ada", $0)) }
        try world.mine.use { _ in #expect(ada.isDeleted) }
        try world.editElsewhere(merging: merging) { other in
            other.undo()
            try world.object("Ada", other).setValue(31, forKey: "number")
        }
        try world.mine.use { mine in
            let found = try mine.fetch(NSFetchRequest<NSManagedObject>(entityName: "Player"))
            #expect(found.map { $0.value(forKey: "number") as? Int } == [31] && found.allSatisfy { !$0.isDeleted })
            #expect(found.first === ada && !ada.hasChanges && ada.object("team")?.names("players") == ["Ada"])
        }
    }

    @Test func aRowRestoredByOthersIsNotTheOneThatWasRead() throws {
        let world = try TakenBackWorld(nested: false)
        try world.editElsewhere(merging: false) { $0.delete(try world.object("pace", $0)) }
        try world.editElsewhere(merging: false) { $0.undo() }
        try world.mine.use { mine in
            try world.object("pace", mine).setValue("speed", forKey: "name")
            #expect { try mine.save() } throws: { ($0 as NSError).code == 133020 }
        }
    }
}
