import Foundation
import Testing

@testable import CoreData

/// Edits and deletions that are taken back, by rollback, undo or a merge policy, after others changed what they stood on.
@Suite struct TakenBackEditsTests {
    /// A team in a venue with a player who has a skill, all saved and all read in a context and in another one: a sibling, or
    /// the parent.
    private final class World {
        let stack: ClubStack
        let mine: NSManagedObjectContext
        let other: NSManagedObjectContext
        private(set) var ids: [String: NSManagedObjectID] = [:]
        private var held: [NSManagedObject] = []

        init(nested: Bool) throws {
            stack = try ClubStack()
            let (root, second) = (stack.context(), stack.context())
            mine = nested ? root.child() : second
            other = root
            ids = try root.use { context in
                let venue = context.make("Venue", ["name": "Park"])
                let (team, rival) = (context.team("Albion"), context.team("Borough"))
                team.setValue(venue, forKey: "venue")
                let skill = context.make("Skill", ["name": "pace"])
                let ada = context.make("Player", ["name": "Ada", "team": team, "skills": NSSet(array: [skill])])
                team.captain = ada
                try context.save()
                return [
                    "Park": venue.objectID, "Albion": team.objectID, "Borough": rival.objectID, "pace": skill.objectID,
                    "Ada": ada.objectID,
                ]
            }
            for context in [mine, other] {
                try context.use { context in
                    context.undoManager = UndoManager()
                    for id in ids.values { held.append(try context.existingObject(with: id)) }
                    for object in context.registeredObjects { _ = object.value(forKey: "name") }
                }
            }
        }

        func object(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
            try context.existingObject(with: try #require(ids[name]))
        }

        /// Saves an edit of the other context, and lets mine take it over: by a merge, or by looking anew.
        func editElsewhere(merging: Bool = true, _ edit: (NSManagedObjectContext) throws -> Void) throws {
            let notices = Notices(other, [.NSManagedObjectContextDidSave])
            try other.use { context in
                try edit(context)
                try context.save()
            }
            let saved = try #require(notices.take().first)
            guard merging else { return }
            try mine.use { mine.parent == nil ? $0.mergeChanges(fromContextDidSave: saved) : $0.refreshAllObjects() }
        }
    }

    // MARK: Rollback

    @Test(arguments: [false, true])
    func whatWasDeletedHereComesBackAsOthersLeftIt(nested: Bool) throws {
        let world = try World(nested: nested)
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

    @Test func whatWasDeletedHereAndElsewhereDoesNotComeBack() throws {
        let world = try World(nested: true)
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

    @Test func theSameEditOfOthersIsNotTakenBack() throws {
        let world = try World(nested: false)
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

    // MARK: Undo

    @Test func anInsertionThatIsUndoneLeavesWhatTheParentDidWithIt() throws {
        let world = try World(nested: true)
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

    @Test func anEditThatIsUndoneLeavesThePartnerThatTheParentChose() throws {
        let world = try World(nested: true)
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

    // MARK: Merge policies

    @Test(arguments: [NSMergePolicy.rollback, .mergeByPropertyStoreTrump])
    func aDeletionThatThePolicyTakesBackIsTakenBackAtBothEnds(policy: NSMergePolicy) throws {
        let world = try World(nested: false)
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
        let world = try World(nested: false)
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
            // The row that is read now is the newest, the list is not.
            #expect(ada.value(forKey: "name") as? String == "Ada")
            context.mergeChanges(fromContextDidSave: try #require(notices.take().first))
            #expect(ada.objects("skills").isEmpty && skill.isDeleted && !context.hasChanges)
        }
    }

    @Test func aGrandchildDoesNotSeeWhatItsParentDeleted() throws {
        let world = try World(nested: true)
        let grandchild = world.mine.child()
        let ids = try world.mine.use { mine in
            mine.delete(try world.object("Park", mine))
            mine.delete(try world.object("pace", mine))
            mine.processPendingChanges()
            // An object that the context in the middle never made.
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
