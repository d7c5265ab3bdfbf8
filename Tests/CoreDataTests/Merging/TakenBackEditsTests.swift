import Foundation
import Testing

@testable import CoreData

/// Edits and deletions that are reverted by rollback, undo or a merge policy after others changed the same objects.
@Suite struct TakenBackEditsTests {
    // MARK: Rollback

    @Test(arguments: [false, true])
    func aRolledBackDeletionHasTheValuesOfOthers(nested: Bool) throws {
        let world = try TakenBackWorld(nested: nested)
        try world.mine.use { mine in
            let team = try #require(try world.object("Albion", mine) as? ClubTeam)
            mine.delete(team)
            mine.processPendingChanges()
            try world.editElsewhere { try world.object("Albion", $0).setValue(7, forKey: "wins") }
            mine.rollback()
            #expect(team.wins == 7 && !team.isDeleted && !mine.hasChanges)
            #expect(team.names("players") == ["Ada"] && team.object("venue")?.names("teams") == ["Albion"])
        }
    }

    @Test func anObjectDeletedHereAndElsewhereIsNotRestored() throws {
        let world = try TakenBackWorld(nested: true)
        try world.mine.use { mine in
            let (skill, ada) = (try world.object("pace", mine), try world.object("Ada", mine))
            mine.delete(skill)
            mine.processPendingChanges()
            try world.other.use { other in
                other.delete(try world.object("pace", other))
                other.processPendingChanges()
            }
            mine.refreshAllObjects()
            mine.rollback()
            #expect(skill.managedObjectContext == nil && ada.objects("skills").isEmpty && !mine.hasChanges)
        }
    }

    @Test func undoKeepsAnEqualEditOfOthers() throws {
        let world = try TakenBackWorld(nested: false)
        try world.other.use { other in
            try world.object("Ada", other).setValue(Set<NSManagedObject>(), forKey: "skills")
            try other.save()
        }
        try world.mine.use { mine in
            mine.refreshAllObjects()
            let (skill, ada) = (try world.object("pace", mine), try world.object("Ada", mine))
            #expect(skill.objects("players").isEmpty)
            skill.mutableSetValue(forKey: "players").add(ada)
            try world.editElsewhere { other in
                let ada = try world.object("Ada", other)
                ada.setValue(Set([try world.object("pace", other)]), forKey: "skills")
            }
            #expect(ada.names("skills") == ["pace"])
            #expect(!ada.hasPersistentChangedValues, "others saved it")
            mine.rollback()
            #expect(ada.names("skills") == ["pace"] && skill.names("players") == ["Ada"])
        }
    }

    // MARK: Merge policies

    @Test(arguments: [NSMergePolicy.rollback, .mergeByPropertyStoreTrump])
    func aDeletionUndoneByThePolicyIsUndoneAtBothEnds(policy: NSMergePolicy) throws {
        let world = try TakenBackWorld(nested: false)
        try world.mine.use { mine in
            mine.mergePolicy = policy
            for name in ["Park", "pace", "Ada"] { mine.delete(try world.object(name, mine)) }
            mine.processPendingChanges()
            try world.editElsewhere(merging: false) { other in
                for name in ["Park", "pace", "Ada"] {
                    try world.object(name, other).setValue("\(name) by others", forKey: "name")
                }
            }
            try mine.save()
            #expect(!mine.hasChanges)
            func check(_ context: NSManagedObjectContext) throws {
                let (team, ada) = (try world.object("Albion", context), try world.object("Ada", context))
                let (venue, skill) = (try world.object("Park", context), try world.object("pace", context))
                #expect(venue.value(forKey: "name") as? String == "Park by others")
                #expect(team.object("venue") === venue && venue.objects("teams") == [team])
                #expect(ada.objects("skills") == [skill] && skill.objects("players") == [ada])
                #expect(ada.object("team") === team && team.objects("players") == [ada])
                #expect(team.object("captain") === ada && ada.object("captainOf") === team)
            }
            try check(mine)
            try world.stack.context().use(check)
        }
    }

    // MARK: Lists and rows that were read

    @Test func aListThatWasReadBeforeItsOwnerForgetsWhatOthersDeleted() throws {
        let world = try TakenBackWorld(nested: false)
        let context = world.stack.context()
        try context.use { context in
            let ada = context.object(with: try #require(world.ids["Ada"]))
            let skill = context.object(with: try #require(world.ids["pace"]))
            #expect(ada.objectIDs(forRelationshipNamed: "skills") == [skill.objectID] && ada.isFault)
            let notices = Notices(world.other, [.NSManagedObjectContextDidSave])
            try world.other.use { other in
                other.delete(try world.object("pace", other))
                try other.save()
            }
            // The row is read again and is current; the list is not.
            #expect(ada.value(forKey: "name") as? String == "Ada")
            context.mergeChanges(fromContextDidSave: try #require(notices.take().first))
            #expect(ada.objects("skills").isEmpty && skill.isDeleted && !context.hasChanges)
        }
    }

    @Test func aGrandchildDoesNotSeeWhatItsParentDeleted() throws {
        let world = try TakenBackWorld(nested: true)
        let grandchild = world.mine.child()
        let ids = try world.mine.use { mine in
            mine.delete(try world.object("Park", mine))
            mine.delete(try world.object("pace", mine))
            mine.processPendingChanges()
            // The context in the middle has no instance of this object.
            return try world.other.use { other in
                let team = other.team("Late")
                team.setValue(try world.object("Park", other), forKey: "venue")
                let bob = other.make("Player", ["name": "Bob"])
                bob.mutableSetValue(forKey: "skills").add(try world.object("pace", other))
                try other.save()
                return [team.objectID, bob.objectID]
            }
        }
        try grandchild.use { grandchild in
            for request in ["Team", "Player"].map({ NSFetchRequest<NSManagedObject>(entityName: $0) }) {
                _ = try grandchild.fetch(request)
            }
            let (team, bob) = (grandchild.object(with: ids[0]), grandchild.object(with: ids[1]))
            #expect(team.object("venue") == nil && bob.objects("skills").isEmpty)
        }
    }
}
