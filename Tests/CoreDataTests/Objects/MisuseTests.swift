import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Misuse that raises an exception in Apple's framework stops the program with a message.
@Suite struct MisuseTests {
    @Test(.needs(.process)) func relationshipsBetweenContexts() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let stack = try ClubStack()
            let (first, second) = (stack.context(), stack.context())
            first.make("Player").setValue(second.team(), forKey: "team")
        }
        expect(result, "Illegal attempt to establish a relationship 'team' between objects in different contexts")
    }

    @Test(.needs(.process)) func unknownKeysAndWrongTypes() async {
        let unknown = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try ClubStack().context().make("Player").value(forKey: "nickname")
        }
        expect(unknown, "The entity 'Player' is not key value coding-compliant for the key \"nickname\".")
        let wrong = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try ClubStack().context().make("Player").setValue("ten", forKey: "number")
        }
        expect(wrong, "Unacceptable type of value for attribute: property = \"number\"; desired type = NSNumber")
    }

    @Test(.needs(.process)) func classesThatAreNoStoresAreNotRegistered() async {
        let outside = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            NSPersistentStoreCoordinator.registerStoreClass(NSPersistentStore.self, forStoreType: "Bare")
        }
        expect(
            outside, "NSPersistentStore cannot be the class of a store type: it is not a subclass of NSAtomicStore or")
        let other = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            NSPersistentStoreCoordinator.registerStoreClass(ClubTeam.self, forStoreType: "Team")
        }
        expect(other, "ClubTeam cannot be the class of a store type")
    }

    @Test(.needs(.process)) func useOutsideOfTheQueueWhenItIsChecked() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            setenv("CoreDataConcurrencyDebug", "1", 1)
            _ = try ClubStack().context().make("Player")
        }
        expect(result, "A managed object context is used outside of its queue, by inserting 'x-coredata:///Player/t")
    }

    @Test(.needs(.process)) func theAccessOutsideOfTheQueueIsNamed() async {
        let read = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            setenv("CoreDataConcurrencyDebug", "1", 1)
            let context = try ClubStack().contextKeepingStack()
            context.name = "Import"
            let team = context.performAndWait { context.team() }
            _ = team.value(forKey: "name")
        }
        expect(
            read,
            "A managed object context named 'Import' is used outside of its queue, by reading 'name' of 'x-coredata:///Team/"
        )
        let fetched = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            setenv("CoreDataConcurrencyDebug", "1", 1)
            let context = try ClubStack().contextKeepingStack()
            _ = try context.fetch(NSFetchRequest<ClubTeam>(entityName: "Team"))
        }
        expect(fetched, "is used outside of its queue, by a fetch of 'Team'. Wrap the use in perform(_:).")
    }

    /// Accessors are checked, too, even if the object has its values and was changed in the same event.
    @Test(.needs(.process)) func accessorsOutsideOfTheQueueAreNamed() async {
        let read = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let team = try Self.checkedTeam()
            _ = team.wins
        }
        expect(read, "is used outside of its queue, by accessing 'wins' of 'x-coredata:///Team/")
        let again = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let team = try Self.checkedTeam()
            // While queues are checked, cached values are not read without the check.
            try team.managedObjectContext?.performAndWait {
                try team.managedObjectContext?.save()
                for _ in 1...2 where team.wins != 0 { exit(0) }
            }
            _ = team.wins
        }
        expect(again, "is used outside of its queue, by accessing 'wins' of 'x-coredata://")
        let written = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let team = try Self.checkedTeam()
            team.wins = 2
        }
        expect(written, "is used outside of its queue, by accessing 'wins' of 'x-coredata:///Team/")
        let generated = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let team = try Self.checkedTeam()
            let name: String = team[managed: "name"]
            _ = name
        }
        expect(generated, "is used outside of its queue, by accessing 'name' of 'x-coredata:///Team/")
        let members = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let team = try Self.checkedTeam()
            _ = team[members: "players"]
        }
        expect(members, "is used outside of its queue, by accessing 'players' of 'x-coredata:///Team/")
        let byKey = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let team = try Self.checkedTeam()
            team.setValue(2, forKey: "wins")
        }
        expect(byKey, "is used outside of its queue, by setting 'wins' of 'x-coredata:///Team/")
        let set = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let team = try Self.checkedTeam()
            _ = team.mutableSetValue(forKey: "players")
        }
        expect(set, "is used outside of its queue, by changing 'players' of 'x-coredata:///Team/")
    }

    @Test(.needs(.process)) func lookingUpOutsideOfTheQueueIsNamed() async {
        let object = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let team = try Self.checkedTeam()
            _ = team.managedObjectContext?.object(with: team.objectID)
        }
        expect(object, "is used outside of its queue, by object(with:)")
        let registered = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let team = try Self.checkedTeam()
            _ = team.managedObjectContext?.registeredObject(for: team.objectID)
        }
        expect(registered, "is used outside of its queue, by registeredObject(for:)")
        let processed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let team = try Self.checkedTeam()
            team.managedObjectContext?.processPendingChanges()
        }
        expect(processed, "is used outside of its queue, by processPendingChanges()")
    }

    @Test(.needs(.process)) func askingForTheStateOutsideOfTheQueueIsNamed() async {
        let state = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.checkedTeam().managedObjectContext?.hasChanges
        }
        expect(state, "is used outside of its queue, by hasChanges.")
        let inserted = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.checkedTeam().managedObjectContext?.insertedObjects
        }
        expect(inserted, "is used outside of its queue, by insertedObjects.")
        let registered = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.checkedTeam().managedObjectContext?.registeredObjects
        }
        expect(registered, "is used outside of its queue, by registeredObjects.")
        let permanent = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let team = try Self.checkedTeam()
            try team.managedObjectContext?.obtainPermanentIDs(for: [team])
        }
        expect(permanent, "is used outside of its queue, by obtainPermanentIDs(for:)")
        let locked = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let team = try Self.checkedTeam()
            team.managedObjectContext?.detectConflicts(for: team)
        }
        expect(locked, "is used outside of its queue, by detectConflicts(for:)")
        let undone = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try Self.checkedTeam().managedObjectContext?.undo()
        }
        expect(undone, "is used outside of its queue, by undo()")
    }

    /// Correct use of the queue does not stop the program: accessors, relationships, saves, a child and a merge.
    @Test(.needs(.process)) func correctUseOfTheQueueDoesNotStopTheProgram() async {
        await #expect(processExitsWith: .success) {
            let team = try Self.checkedTeam()
            let context = try #require(team.managedObjectContext)
            let other = try #require(context.persistentStoreCoordinator).other()
            try context.use { context in
                context.automaticallyMergesChangesFromParent = true
                _ = context.make("Player", ["name": "Ada", "team": team])
                team.wins = 3
                try context.save()
                try context.child().use { child in
                    try child.twin(of: team).wins = 4
                    try child.save()
                }
                try context.save()
            }
            try other.use { other in
                try other.twin(of: team).wins = 5
                try other.save()
            }
            try context.use { context in
                context.refreshAllObjects()
                precondition(team.wins == 5 && team.players.count == 1)
            }
        }
    }

    /// A team in a context with queue checks, created on its queue.
    private static func checkedTeam() throws -> ClubTeam {
        setenv("CoreDataConcurrencyDebug", "1", 1)
        let context = try ClubStack().contextKeepingStack()
        checked = context
        return try context.use { $0.team() }
    }

    nonisolated(unsafe) private static var checked: NSManagedObjectContext?

    private func expect(_ result: ExitTest.Result?, _ text: String) {
        let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(output.contains(text))
    }
}

extension NSPersistentStoreCoordinator {
    fileprivate func other() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = self
        return context
    }
}
