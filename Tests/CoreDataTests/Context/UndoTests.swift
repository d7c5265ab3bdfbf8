import Foundation
import Testing

@testable import CoreData

@Suite struct UndoTests {
    private func withUndo(_ body: (NSManagedObjectContext) throws -> Void) throws {
        let context = try ClubStack().contextKeepingStack()
        try context.use { context in
            context.undoManager = UndoManager()
            try body(context)
        }
    }

    @Test func editsAreUndoneEventByEvent() throws {
        try withUndo { context in
            let team = context.team()
            try context.save()
            let manager = try #require(context.undoManager)
            manager.removeAllActions()
            team.wins = 1
            context.processPendingChanges()
            team.wins = 2
            team.name = "United"
            context.processPendingChanges()
            team.log = []
            context.undo()
            #expect(team.wins == 1 && team.name == "Rovers" && team.log == ["awake 8"])
            context.undo()
            #expect(team.wins == 0 && !manager.canUndo && manager.canRedo)
            context.redo()
            context.redo()
            #expect(team.wins == 2 && team.name == "United" && !manager.canRedo && manager.canUndo)
            context.undo()
            #expect(team.wins == 1)
            team.wins = 7
            context.processPendingChanges()
            #expect(!manager.canRedo, "a new edit ends redo")
        }
    }

    @Test func insertionsAreUndoneAndRedoneWithoutAwakening() throws {
        try withUndo { context in
            let team = context.team()
            team.log = []
            context.undo()
            #expect(context.insertedObjects.isEmpty && !context.hasChanges && team.managedObjectContext == nil)
            context.redo()
            #expect(context.insertedObjects == [team] && team.name == "Rovers" && team.managedObjectContext === context)
            #expect(!(team.log ?? []).contains("awakeFromInsert"))
            try context.save()
            #expect(!team.objectID.isTemporaryID)
            context.undo()
            #expect(context.deletedObjects == [team], "undoing a saved insertion deletes")
            try context.save()
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Team")) == 0)
        }
    }

    @Test func deletionsAreUndoneWithAllTheyReached() throws {
        try withUndo { context in
            let team = context.team()
            let players = ["Ada", "Bob"].map { context.make("Player", ["name": $0, "team": team]) }
            let venue = context.make("Venue", ["name": "Park"])
            team.setValue(venue, forKey: "venue")
            team.mutableOrderedSetValue(forKey: "fans").addObjects(
                from: ["x", "y", "z"].map { context.make("Fan", ["name": $0]) })
            try context.save()
            context.delete(team)
            context.processPendingChanges()
            #expect(context.deletedObjects == Set(players + [team]) && venue.objects("teams").isEmpty)
            context.undo()
            #expect(context.deletedObjects.isEmpty && !team.isDeleted)
            #expect(team.players == Set(players) && venue.objects("teams") == [team])
            #expect(team.names("fans") == ["x", "y", "z"])
            #expect(players[0].object("team") === team)
            context.redo()
            #expect(context.deletedObjects == Set(players + [team]) && venue.objects("teams").isEmpty)
            try context.save()
            context.undo()
            #expect(context.insertedObjects == Set(players + [team]), "undoing a saved deletion inserts again")
            try context.save()
        }
    }

    @Test func aSavedDeletionIsWrittenAgainAfterUndo() throws {
        let stack = try ClubStack()
        let context = stack.context()
        let id = try context.use { context in
            context.undoManager = UndoManager()
            let team = context.team()
            _ = context.make("Player", ["name": "Ada", "team": team])
            try context.save()
            context.delete(team)
            try context.save()
            context.undo()
            try context.save()
            #expect(team.isInserted == false && team.name == "Rovers")
            return team.objectID
        }
        try stack.context().use { context in
            let team = try context.existingObject(with: id)
            #expect(team.value(forKey: "name") as? String == "Rovers" && team.names("players") == ["Ada"])
        }
    }

    @Test func relationshipChangesAreUndone() throws {
        try withUndo { context in
            let (rovers, united) = (context.team(), context.team("United"))
            let player = context.make("Player", ["name": "Ada", "team": rovers])
            let fans = rovers.mutableOrderedSetValue(forKey: "fans")
            for name in ["a", "b", "c"] { fans.add(context.make("Fan", ["name": name])) }
            try context.save()
            player.setValue(united, forKey: "team")
            context.processPendingChanges()
            fans.moveObjects(at: IndexSet(integer: 0), to: 2)
            fans.removeObject(at: 0)
            context.processPendingChanges()
            #expect(rovers.names("fans") == ["c", "a"])
            context.undo()
            #expect(rovers.names("fans") == ["a", "b", "c"])
            context.undo()
            #expect(player.object("team") === rovers && rovers.players == [player] && united.players.isEmpty)
            #expect(!player.hasPersistentChangedValues && !rovers.hasPersistentChangedValues)
            context.redo()
            context.redo()
            #expect(united.players == [player] && rovers.names("fans") == ["c", "a"])
        }
    }

    @Test func rollbackRestoresTheSavedStateAndForgetsUndo() throws {
        try withUndo { context in
            let team = context.team()
            let gone = context.team("Gone")
            let player = context.make("Player", ["name": "Ada", "team": team])
            try context.save()
            team.wins = 9
            player.setValue(gone, forKey: "team")
            let fresh = context.team("Fresh")
            context.delete(gone)
            context.processPendingChanges()
            let notices = Notices(context)
            context.rollback()
            #expect(!context.hasChanges && context.undoManager?.canUndo == false)
            #expect(team.wins == 0 && team.players == [player] && !gone.isDeleted && fresh.managedObjectContext == nil)
            #expect(player.object("team") === team && gone.players.isEmpty && !player.isDeleted)
            let notice = try #require(notices.take().first)
            #expect(notice.objects(NSDeletedObjectsKey) == [fresh])
            #expect(notice.objects(NSInsertedObjectsKey) == [gone, player])
            #expect(notice.objects(NSRefreshedObjectsKey).contains(team))
        }
    }
}
