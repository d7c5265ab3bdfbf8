import CoreData
import Foundation
import Synchronization
import Testing

/// Undo groups that a program opens and closes around unprocessed edits.
@Suite struct UndoGroupTests {
    private func withUndo(_ body: (NSManagedObjectContext, UndoManager, ClubTeam) throws -> Void) throws {
        let context = try ClubStack().contextKeepingStack()
        try context.use { context in
            let manager = UndoManager()
            context.undoManager = manager
            let team = context.team()
            try context.save()
            manager.removeAllActions()
            try body(context, manager, team)
            #expect(manager.groupingLevel == 0)
        }
    }

    @Test func editsWithinAGroupAreUndoneAtOnce() throws {
        try withUndo { context, manager, team in
            manager.beginUndoGrouping()
            team.wins = 1
            team.name = "United"
            let fan = context.make("Fan", ["name": "Dot", "team": team])
            manager.endUndoGrouping()
            manager.undo()
            #expect(team.wins == 0 && team.name == "Rovers" && fan.managedObjectContext == nil && !manager.canUndo)
            manager.redo()
            #expect(team.wins == 1 && team.name == "United" && fan.managedObjectContext === context)
            #expect(fan.value(forKey: "team") as? ClubTeam === team && !manager.canRedo && manager.canUndo)
            manager.undo()
            #expect(team.wins == 0)
        }
    }

    @Test func editsBeforeAGroupAreNotInIt() throws {
        try withUndo { context, manager, team in
            team.wins = 1
            manager.beginUndoGrouping()
            team.wins = 2
            context.processPendingChanges()
            team.wins = 3
            manager.endUndoGrouping()
            team.wins = 4
            manager.undo()
            #expect(team.wins == 3)
            manager.undo()
            #expect(team.wins == 1)
            manager.undo()
            #expect(team.wins == 0 && !manager.canUndo)
        }
    }

    @Test func groupsWithinAGroupAreUndoneWithIt() throws {
        try withUndo { _, manager, team in
            manager.beginUndoGrouping()
            team.wins = 1
            manager.beginUndoGrouping()
            team.wins = 2
            team.name = "United"
            manager.endUndoGrouping()
            team.wins = 3
            manager.endUndoGrouping()
            manager.undo()
            #expect(team.wins == 0 && team.name == "Rovers" && !manager.canUndo)
            manager.redo()
            #expect(team.wins == 3 && team.name == "United")
        }
    }

    @Test func theManagersUndoAndRedoTakePendingChanges() throws {
        try withUndo { _, manager, team in
            team.wins = 1
            manager.undo()
            #expect(team.wins == 0 && manager.canRedo)
            manager.redo()
            #expect(team.wins == 1)
            manager.undo()
            team.wins = 7
            #expect(!manager.canRedo, "a new edit ends redo, also before it was processed")
            manager.redo()
            #expect(team.wins == 7)
            manager.undoNestedGroup()
            #expect(team.wins == 0)
        }
    }

    @Test func groupsNeedNotFollowEvents() throws {
        try withUndo { _, manager, team in
            manager.groupsByEvent = false
            manager.beginUndoGrouping()
            team.wins = 1
            team.name = "United"
            manager.endUndoGrouping()
            team.wins = 2
            manager.undo()
            #expect(team.wins == 1 && team.name == "United")
            manager.undo()
            #expect(team.wins == 0 && team.name == "Rovers" && !manager.canUndo)
        }
    }

    @Test func registeringAnEventDoesNotBeginAnother() throws {
        try withUndo { context, manager, team in
            let checkpoints = Mutex(0)
            let events = Mutex(0)
            let center = NotificationCenter.default
            let observers = [
                center.addObserver(forName: .NSUndoManagerCheckpoint, object: manager, queue: nil) { _ in
                    checkpoints.withLock { $0 += 1 }
                },
                center.addObserver(forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil) { _ in
                    events.withLock { $0 += 1 }
                },
            ]
            defer { observers.forEach(center.removeObserver) }
            manager.beginUndoGrouping()
            team.wins = 1
            manager.endUndoGrouping()
            // The program's group and the event's group within it.
            #expect(checkpoints.withLock { $0 } == 4 && events.withLock { $0 } == 1)
            manager.undo()
            #expect(events.withLock { $0 } == 2 && team.wins == 0)
        }
    }

    @Test func unregisteredEditsAreInNoGroup() throws {
        try withUndo { context, manager, team in
            manager.disableUndoRegistration()
            manager.beginUndoGrouping()
            team.wins = 1
            manager.endUndoGrouping()
            manager.enableUndoRegistration()
            #expect(!manager.canUndo && context.hasChanges)
            team.wins = 2
            manager.undo()
            #expect(team.wins == 1)
        }
    }

    @Test func anActionOfTheProgramIsUndoneWithTheGroupAndRedone() throws {
        final class Title {
            var text = "old"
            func set(_ new: String, _ manager: UndoManager) {
                let old = text
                text = new
                manager.registerUndo(withTarget: self) { $0.set(old, manager) }
            }
        }
        try withUndo { _, manager, team in
            let title = Title()
            manager.beginUndoGrouping()
            title.set("new", manager)
            team.wins = 1
            manager.endUndoGrouping()
            manager.undo()
            #expect(title.text == "old" && team.wins == 0 && !manager.canUndo)
            manager.redo()
            #expect(title.text == "new" && team.wins == 1)
        }
    }

    @Test func aContextMayBeReleasedBeforeItsUndoManager() throws {
        let stack = try ClubStack()
        let manager = UndoManager()
        weak var lost: NSManagedObjectContext?
        func edit() throws {
            let context = stack.context()
            lost = context
            context.undoManager = manager
            try context.use { context in
                context.team().wins = 1
                context.processPendingChanges()
                #expect(manager.canUndo)
            }
        }
        try edit()
        #expect(lost == nil)
        manager.beginUndoGrouping()
        manager.endUndoGrouping()
        manager.undo()
        #expect(!manager.canRedo)
        try stack.context().use { context in
            context.undoManager = manager
            let team = context.team()
            context.undoManager = nil
            manager.beginUndoGrouping()
            manager.endUndoGrouping()
            #expect(!manager.canUndo && team.wins == 0, "a manager that was left hears nothing")
        }
    }
}
