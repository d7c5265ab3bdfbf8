import Foundation
import Testing

@testable import CoreData

/// Two contexts edit the ends of one relationship differently, or one deletes an object that the other refers to: both
/// ends agree in each context and in the store.
@Suite struct ConflictingEditsTests {
    /// Two sibling contexts that have read the same teams and a player.
    private struct World {
        let stack: ClubStack
        let mine: NSManagedObjectContext
        let other: NSManagedObjectContext
        let ids: [String: NSManagedObjectID]

        init(nested: Bool = false) throws {
            stack = try ClubStack()
            let (root, second) = (stack.context(), stack.context())
            ids = try root.use { context in
                let teams = ["Albion", "Borough", "City"].map { context.team($0) }
                let player = context.make("Player", ["name": "Ada", "team": teams[0]])
                let skill = context.make("Skill", ["name": "pace"])
                let objects = teams + [player, skill]
                try context.save()
                return Dictionary(uniqueKeysWithValues: zip(["A", "B", "C", "Ada", "pace"], objects.map(\.objectID)))
            }
            mine = nested ? root.child() : root
            other = nested ? root : second
            for context in [mine, other] {
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                try context.use { context in
                    for id in ids.values { context.retain(try context.existingObject(with: id)) }
                }
            }
        }

        func object(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
            try context.existingObject(with: try #require(ids[name]))
        }

        /// Saves the other context's edits and merges them into `mine`.
        func editElsewhere(_ edit: (NSManagedObjectContext) throws -> Void) throws {
            let notices = Notices(other, [.NSManagedObjectContextDidSave])
            try other.use { context in
                try edit(context)
                try context.save()
            }
            let saved = try #require(notices.take().first)
            try mine.use { $0.mergeChanges(fromContextDidSave: saved) }
        }

        func players(_ context: NSManagedObjectContext) throws -> [[String]] {
            try ["A", "B", "C"].map { try object($0, context).names("players") }
        }

        func stored<Result>(_ look: (NSManagedObjectContext) throws -> Result) throws -> Result {
            try stack.context().use(look)
        }
    }

    // MARK: One-to-many

    @Test func anUnsavedMoveStaysOnTopOfAnotherMoveAtBothEnds() throws {
        let world = try World()
        try world.mine.use { mine in
            let ada = try world.object("Ada", mine)
            #expect(try world.players(mine) == [["Ada"], [], []])
            ada.setValue(try world.object("B", mine), forKey: "team")
            try world.editElsewhere { try world.object("Ada", $0).setValue(try world.object("C", $0), forKey: "team") }
            #expect(try world.players(mine) == [[], ["Ada"], []] && ada.object("team")?.objectID == world.ids["B"])
            try mine.save()
            #expect(!mine.hasChanges)
            #expect(try world.stored { try world.players($0) } == [[], ["Ada"], []])
        }
    }

    @Test func rollbackTakesTheValuesOfOthers() throws {
        let world = try World()
        try world.mine.use { mine in
            let ada = try world.object("Ada", mine)
            ada.setValue(try world.object("B", mine), forKey: "team")
            try world.editElsewhere { try world.object("Ada", $0).setValue(try world.object("C", $0), forKey: "team") }
            #expect(try world.players(mine) == [[], ["Ada"], []])
            mine.rollback()
            #expect(try world.players(mine) == [[], [], ["Ada"]] && ada.object("team")?.objectID == world.ids["C"])
            // The same edit on both sides changes nothing.
            ada.setValue(try world.object("B", mine), forKey: "team")
            try world.editElsewhere { try world.object("Ada", $0).setValue(try world.object("B", $0), forKey: "team") }
            #expect(!ada.hasPersistentChangedValues && ada.changedValues().isEmpty)
            mine.rollback()
            #expect(try world.players(mine) == [[], ["Ada"], []])
        }
    }

    @Test func aChildsMoveWinsOverTheParentsMove() throws {
        let world = try World(nested: true)
        try world.mine.use { child in
            let ada = try world.object("Ada", child)
            ada.setValue(try world.object("B", child), forKey: "team")
            try world.other.use { try world.object("Ada", $0).setValue(try world.object("C", $0), forKey: "team") }
            // The child reads the parent's list, which now contains Ada.
            #expect(try world.players(child) == [[], ["Ada"], []])
            try child.save()
            #expect(try world.players(child) == [[], ["Ada"], []])
        }
        try world.other.use { parent in
            #expect(try world.players(parent) == [[], ["Ada"], []])
            try parent.save()
        }
        #expect(try world.stored { try world.players($0) } == [[], ["Ada"], []])
    }

    @Test func aPolicyThatPrefersTheStoreMovesBothEnds() throws {
        for policy in [NSMergePolicy.mergeByPropertyStoreTrump, .rollback] {
            let world = try World()
            try world.mine.use { mine in
                mine.mergePolicy = policy
                let ada = try world.object("Ada", mine)
                ada.setValue(try world.object("B", mine), forKey: "team")
                try world.other.use { other in
                    try world.object("Ada", other).setValue(try world.object("C", other), forKey: "team")
                    try other.save()
                }
                try mine.save()
                #expect(ada.object("team")?.objectID == world.ids["C"])
                #expect(try world.players(mine) == [[], [], ["Ada"]], "\(policy)")
            }
            #expect(try world.stored { try world.players($0) } == [[], [], ["Ada"]])
        }
    }

    @Test func anUndoneMoveTakesBothEndsBackOverTheOthersMove() throws {
        let world = try World()
        try world.mine.use { mine in
            mine.undoManager = UndoManager()
            let ada = try world.object("Ada", mine)
            ada.setValue(try world.object("B", mine), forKey: "team")
            mine.processPendingChanges()
            try world.editElsewhere { try world.object("Ada", $0).setValue(try world.object("C", $0), forKey: "team") }
            mine.undo()
            #expect(ada.object("team")?.objectID == world.ids["A"])
            #expect(try world.players(mine) == [["Ada"], [], []])
            try mine.save()
            #expect(try world.stored { try world.players($0) } == [["Ada"], [], []])
        }
    }

    // MARK: One-to-one

    private func captains(_ world: World, _ context: NSManagedObjectContext) throws -> [String?] {
        let captains = try ["A", "B", "C"].map { try world.object($0, context).object("captain") }
        for (name, captain) in zip(["A", "B", "C"], captains) {
            #expect(captain == nil || captain?.object("captainOf")?.objectID == world.ids[name], "both ends")
        }
        return captains.map { $0?.value(forKey: "name") as? String }
    }

    @Test func onlyOneTeamHasTheCaptainThatTwoContextsChose() throws {
        for nested in [false, true] {
            let world = try World(nested: nested)
            try world.mine.use { mine in
                try world.object("B", mine).setValue(try world.object("Ada", mine), forKey: "captain")
                if nested {
                    try world.other.use {
                        try world.object("C", $0).setValue(try world.object("Ada", $0), forKey: "captain")
                    }
                    mine.refreshAllObjects()
                } else {
                    try world.editElsewhere {
                        try world.object("C", $0).setValue(try world.object("Ada", $0), forKey: "captain")
                    }
                }
                #expect(try captains(world, mine) == [nil, "Ada", nil], "nested: \(nested)")
                #expect(try world.object("Ada", mine).object("captainOf")?.objectID == world.ids["B"])
                try mine.save()
                #expect(try captains(world, mine) == [nil, "Ada", nil])
            }
            if nested { try world.other.use { try $0.save() } }
            #expect(try world.stored { try captains(world, $0) } == [nil, "Ada", nil])
        }
    }

    @Test func aFaultReadLaterShowsTheEdit() throws {
        let stack = try ClubStack()
        let (root, ids) = try stack.context().use { root in
            let (team, ada) = (root.team("Late"), root.make("Player", ["name": "Ada"]))
            let other = root.team("Early")
            try root.save()
            return (root, [team, ada, other].map(\.objectID))
        }
        let child = root.child()
        try child.use { child in
            let ada = try child.existingObject(with: ids[1])
            ada.setValue(try child.existingObject(with: ids[2]), forKey: "captainOf")
            try root.use { root in
                try root.existingObject(with: ids[0]).setValue(try root.existingObject(with: ids[1]), forKey: "captain")
            }
            let late = child.object(with: ids[0])
            #expect(late.object("captain") == nil && ada.object("captainOf")?.objectID == ids[2])
            try child.save()
        }
        try root.use { root in
            let (late, early) = (try root.existingObject(with: ids[0]), try root.existingObject(with: ids[2]))
            #expect(late.object("captain") == nil && early.object("captain")?.objectID == ids[1])
        }
    }

    // MARK: Deletions

    @Test func anUnsavedReferenceToADeletedObjectIsNil() throws {
        let world = try World()
        try world.mine.use { mine in
            let (ada, skill, team) = (
                try world.object("Ada", mine), try world.object("pace", mine), try world.object("B", mine)
            )
            let note = mine.make("Note", ["text": "about B"])
            ada.setValue(team, forKey: "team")
            ada.setValue(Set([skill]), forKey: "skills")
            note.setValue(team, forKey: "about")
            mine.processPendingChanges()
            try world.editElsewhere { other in
                other.delete(try world.object("B", other))
                other.delete(try world.object("pace", other))
            }
            #expect(ada.object("team") == nil && ada.objects("skills").isEmpty && note.object("about") == nil)
            try mine.save()
            try world.stored { context in
                let stored = try world.object("Ada", context)
                #expect(stored.object("team") == nil && stored.objects("skills").isEmpty)
                #expect(try context.existingObject(with: note.objectID).object("about") == nil)
            }
        }
    }

    @Test func undoDoesNotRestoreAReferenceToAnObjectDeletedByOthers() throws {
        let world = try World()
        try world.mine.use { mine in
            mine.undoManager = UndoManager()
            let (ada, skill) = (try world.object("Ada", mine), try world.object("pace", mine))
            ada.setValue(try world.object("B", mine), forKey: "team")
            ada.setValue(Set([skill]), forKey: "skills")
            mine.processPendingChanges()
            ada.setValue(nil, forKey: "team")
            ada.setValue(Set<NSManagedObject>(), forKey: "skills")
            mine.processPendingChanges()
            try world.editElsewhere { other in
                other.delete(try world.object("B", other))
                other.delete(try world.object("pace", other))
            }
            mine.undo()
            #expect(ada.object("team") == nil && ada.objects("skills").isEmpty)
            try mine.save()
            #expect(try world.stored { try world.object("Ada", $0).object("team") } == nil)
        }
    }

    // MARK: Refreshing children

    /// Unsaved objects of the parent among saved ones have no order.
    @Test func aChildRefreshesSavedAndNewObjectsTogether() throws {
        let stack = try ClubStack()
        let root = stack.context()
        try root.use { root in
            let saved = (0..<30).map { root.make("Fan", ["name": "Saved \($0)"]) }
            try root.save()
            let all = saved + (0..<30).map { root.make("Fan", ["name": "New \($0)"]) }
            let child = root.child()
            try child.use { child in
                let twins = try all.map { try child.twin(of: $0) }
                for fan in all { fan.setValue("Dot", forKey: "name") }
                child.refreshAllObjects()
                #expect(twins.allSatisfy { $0.isFault })
                #expect(twins.allSatisfy { $0.value(forKey: "name") as? String == "Dot" })
            }
        }
    }

    // MARK: Lists with an order

    /// The rows of members are written even if only their positions changed, because a merging context needs them.
    @Test func placesInAListAreMergedLikeOtherChanges() throws {
        let stack = try ClubStack()
        let (mine, other) = (stack.context(), stack.context())
        let ids = try other.use { other in
            let team = other.team()
            let fans = ["a", "b", "c"].map { other.make("Fan", ["name": $0]) }
            team.setValue(NSOrderedSet(array: fans), forKey: "fans")
            try other.save()
            return [team.objectID] + fans.map(\.objectID)
        }
        try mine.use { mine in
            let team = try mine.existingObject(with: ids[0])
            let fans = try ids.dropFirst().map { try mine.existingObject(with: $0) }
            #expect(team.names("fans") == ["a", "b", "c"])
            let notices = Notices(other, [.NSManagedObjectContextDidSave])
            try other.use { other in
                let list = try other.existingObject(with: ids[0]).mutableOrderedSetValue(forKey: "fans")
                list.moveObjects(at: IndexSet(integer: 2), to: 0)
                try other.save()
            }
            mine.mergeChanges(fromContextDidSave: try #require(notices.take().first))
            #expect(team.names("fans") == ["c", "a", "b"])
            for fan in fans { fan.setValue("changed", forKey: "name") }
            try mine.save()
        }
    }

    // MARK: Deleted here

    @Test func anObjectDeletedHereIsNotADestinationOfMergedEdits() throws {
        let world = try World()
        try world.mine.use { mine in
            let (ada, skill) = (try world.object("Ada", mine), try world.object("pace", mine))
            mine.undoManager = UndoManager()
            mine.delete(skill)
            mine.delete(try world.object("B", mine))
            mine.processPendingChanges()
            try world.editElsewhere { other in
                let ada = try world.object("Ada", other)
                ada.setValue(try world.object("B", other), forKey: "team")
                ada.setValue(Set([try world.object("pace", other)]), forKey: "skills")
            }
            #expect(ada.object("team") == nil && ada.objects("skills").isEmpty && !ada.isDeleted)
            mine.undo()
            #expect(ada.objects("skills").isEmpty && skill.objects("players").isEmpty && !skill.isDeleted)
            mine.redo()
            try mine.save()
            try world.stored { context in
                let stored = try world.object("Ada", context)
                #expect(stored.object("team") == nil && stored.objects("skills").isEmpty)
            }
        }
    }

    @Test func aNewObjectThatTheParentRolledBackIsNotADestination() throws {
        let stack = try ClubStack()
        let root = stack.context()
        let child = root.child()
        try root.use { root in
            let (team, venue) = (root.team(), root.make("Venue"))
            try child.use { child in
                let note = child.make("Note", ["about": try child.twin(of: team)])
                child.delete(try child.existingObject(with: venue.objectID))
                root.rollback()
                try child.save()
                #expect(note.object("about") == nil)
            }
            #expect(root.insertedObjects.count == 1 && root.deletedObjects.isEmpty)
            // An object of another tree of contexts is unknown here, too.
            let foreign = try stack.context().use { $0.team().objectID }
            #expect(root.object(with: foreign).value(forKey: "name") == nil)
            try root.save()
            #expect(!root.hasChanges)
        }
        try stack.context().use { context in
            let note = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).first)
            #expect(note.object("about") == nil)
        }
    }
}

extension NSManagedObjectContext {
    /// Keeps an object alive as long as the context, as a program would that displays it.
    fileprivate func retain(_ object: NSManagedObject) {
        let kept = userInfo["kept"] as? [NSManagedObject] ?? []
        userInfo["kept"] = kept + [object]
    }
}
