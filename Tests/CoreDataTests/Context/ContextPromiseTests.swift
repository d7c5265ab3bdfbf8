import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Statements of Apple's documentation about contexts that no other suite tests.
@Suite struct ContextPromiseTests {
    private func withContext(_ body: (ClubStack, NSManagedObjectContext) throws -> Void) throws {
        let stack = try ClubStack()
        try stack.context().use { try body(stack, $0) }
    }

    // MARK: Defaults

    @Test func theDefaults() throws {
        let stack = try ClubStack()
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = stack.coordinator
        try context.use { context in
            #expect((context.mergePolicy as? NSMergePolicy)?.mergeType == .errorMergePolicyType)
            #expect(context.undoManager == nil && context.stalenessInterval == -1)
            #expect(context.propagatesDeletesAtEndOfEvent && context.shouldDeleteInaccessibleFaults)
            #expect(!context.retainsRegisteredObjects && !context.automaticallyMergesChangesFromParent)
            #expect(context.name == nil && context.transactionAuthor == nil && context.userInfo.count == 0)
            #expect(
                context.parent == nil && !context.hasChanges && context.concurrencyType == .privateQueueConcurrencyType)
        }
        withExtendedLifetime(stack) {}
    }

    @Test func backgroundContextsUseTheCoordinatorAndMergeNothing() async throws {
        let container = NSPersistentContainer(name: "Promise", managedObjectModel: Club.model)
        let background = container.newBackgroundContext()
        #expect(background.concurrencyType == .privateQueueConcurrencyType && background.parent == nil)
        #expect(!background.automaticallyMergesChangesFromParent && background.undoManager == nil)
        #expect(background.persistentStoreCoordinator === container.persistentStoreCoordinator)
        let contexts = await [
            container.performBackgroundTask { UncheckedSendable($0) },
            container.performBackgroundTask { UncheckedSendable($0) },
        ]
        #expect(contexts[0].value !== contexts[1].value)
        #expect((contexts[0].value.mergePolicy as? NSMergePolicy)?.mergeType == .errorMergePolicyType)
    }

    // MARK: Events

    @Test func performFetchAndSaveEndAnEventAndPerformAndWaitDoesNot() async throws {
        let context = try ClubStack().contextKeepingStack()
        let notices = Notices(context)
        context.performAndWait { _ = context.team("Waited") }
        #expect(notices.take().isEmpty)
        context.performAndWait { context.processPendingChanges() }
        #expect(notices.take().count == 1)
        await context.perform { _ = context.team("Performed") }
        await context.perform(schedule: .enqueued) {}
        #expect(notices.take().count == 1)
        try context.use { context in
            _ = context.team("Fetched")
            _ = try context.fetch(NSFetchRequest<ClubTeam>(entityName: "Team"))
            #expect(notices.take().count == 1)
            _ = context.team("Saved")
            try context.save()
            #expect(notices.take().count == 1)
        }
    }

    @Test func aFetchThatOnlyRegistersObjectsPostsNothing() throws {
        let stack = try ClubStack()
        try stack.context().use { context in
            _ = context.team()
            try context.save()
        }
        try stack.context().use { context in
            let notices = Notices(context)
            let teams = try context.fetch(NSFetchRequest<ClubTeam>(entityName: "Team"))
            #expect(teams.map(\.name) == ["Rovers"])
            context.processPendingChanges()
            #expect(notices.take().isEmpty)
        }
    }

    @Test func immediateBlocksRunInPlaceAndEnqueuedOnesLast() async throws {
        let context = try ClubStack().contextKeepingStack()
        let order = Order()
        enqueue(in: context) { order.note("first") }
        await context.perform(schedule: .enqueued) { order.note("second") }
        await context.perform {
            context.perform { order.note("fifth") }
            context.performAndWait { order.note("third") }
            order.note("fourth")
        }
        await context.perform(schedule: .enqueued) {}
        #expect(order.names == ["first", "second", "third", "fourth", "fifth"])
    }

    /// Calls the overload that does not wait. Asynchronous code would select the other one.
    private func enqueue(in context: NSManagedObjectContext, _ block: @escaping @Sendable () -> Void) {
        context.perform(block)
    }

    private final class Order: @unchecked Sendable {
        private(set) var names: [String] = []
        func note(_ name: String) { names.append(name) }
    }

    // MARK: Objects and IDs

    @Test func aContextHasOneObjectForARow() throws {
        try withContext { stack, context in
            let team = context.team()
            let player = context.make("Player", ["name": "Ada", "team": team])
            try context.save()
            let id = try #require(
                stack.coordinator.managedObjectID(forURIRepresentation: team.objectID.uriRepresentation()))
            #expect(context.object(with: id) === team && context.registeredObject(for: id) === team)
            #expect(try context.existingObject(with: id) === team && player.object("team") === team)
            #expect(try context.fetch(NSFetchRequest<ClubTeam>(entityName: "Team")) == [team])
            context.refresh(team, mergeChanges: false)
            #expect(try context.fetch(NSFetchRequest<ClubTeam>(entityName: "Team")).first === team)
        }
    }

    @Test func registeredObjectNeverReadsAndObjectNeverFails() throws {
        try withContext { stack, context in
            let url = try #require(
                URL(string: "x-coredata://\(stack.coordinator.persistentStores[0].identifier ?? "")/Team/p999"))
            let id = try #require(stack.coordinator.managedObjectID(forURIRepresentation: url), "no row is looked up")
            #expect(context.registeredObject(for: id) == nil)
            let object = context.object(with: id)
            #expect(object.isFault && !object.isDeleted && context.registeredObject(for: id) === object)
        }
    }

    @Test func existingObjectThrowsForAMissingRowAndLeavesNothingDeleted() throws {
        try withContext { stack, context in
            let team = context.team()
            try context.save()
            let id = team.objectID
            try stack.context().use { other in
                other.delete(try other.existingObject(with: id))
                try other.save()
            }
            context.refresh(team, mergeChanges: false)
            let error = #expect(throws: NSError.self) { try context.existingObject(with: id) }
            #expect(error?.code == 133000 && !context.hasChanges && !team.isDeleted)
            // Accessing the fault marks it as deleted.
            #expect(team.wins == 0 && team.isDeleted)
        }
    }

    @Test func existingObjectThrowsForInaccessibleFaults() throws {
        let stack = try ClubStack()
        let id = try stack.savedTeam(of: "Ada")
        try stack.context().use { context in
            context.shouldDeleteInaccessibleFaults = false
            try stack.context().use { other in
                other.delete(try other.existingObject(with: id))
                try other.save()
            }
            let error = #expect(throws: NSError.self) { try context.existingObject(with: id) }
            #expect(error?.code == 133000 && !context.hasChanges)
        }
    }

    @Test(.needs(.process)) func anInaccessibleFaultStopsTheProgramWhereItShallNotBeDeleted() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try ClubStack().context().use { context in
                context.shouldDeleteInaccessibleFaults = false
                let store = context.persistentStoreCoordinator?.persistentStores[0].identifier ?? ""
                let url = try #require(URL(string: "x-coredata://\(store)/Team/p999"))
                let id = try #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: url))
                _ = context.object(with: id).value(forKey: "name")
            }
        }
        let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(output.contains("CoreData could not fulfill a fault"))
    }

    @Test func changedObjectsAreHeldAndCleanOnesAreNot() throws {
        try withContext { _, context in
            _ = context.team("Clean")
            _ = context.team("Changed")
            try context.save()
            weak var clean: ClubTeam?
            weak var changed: ClubTeam?
            func touch() throws {
                for team in try context.fetch(NSFetchRequest<ClubTeam>(entityName: "Team")) {
                    if team.name == "Clean" { clean = team } else { changed = team }
                }
                changed?.wins = 1
            }
            try touch()
            _ = context.registeredObjects
            #expect(clean == nil && changed?.wins == 1)
        }
    }

    @Test func temporaryIDsAreUnderstoodInTheContextThatMadeThem() throws {
        try withContext { stack, context in
            let team = context.team()
            let temporary = team.objectID
            try context.save()
            #expect(temporary.isTemporaryID && !team.objectID.isTemporaryID && temporary != team.objectID)
            #expect(context.registeredObject(for: temporary) === team)
            #expect(stack.coordinator.managedObjectID(forURIRepresentation: temporary.uriRepresentation()) == nil)
        }
    }

    @Test func idsAreEqualAcrossContextsAndCoordinators() throws {
        try withContext { stack, context in
            let team = context.team()
            try context.save()
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Club.model)
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: stack.storeURL)
            let twin = coordinator.managedObjectID(forURIRepresentation: team.objectID.uriRepresentation())
            #expect(twin == team.objectID && twin?.hash == team.objectID.hash)
        }
    }

    @Test func aNewObjectIsInsertedIntoItsAssignedStore() throws {
        try withContext { stack, context in
            let second = try stack.coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil,
                at: stack.folder.appendingPathComponent("second.sqlite"))
            let (assigned, other) = (context.team("There"), context.team("Here"))
            context.assign(assigned, to: second)
            #expect(assigned.objectID.isTemporaryID && assigned.objectID.persistentStore === second)
            try context.save()
            #expect(assigned.objectID.persistentStore === second)
            #expect(other.objectID.persistentStore === stack.coordinator.persistentStores[0])
        }
    }

    // MARK: Undo

    @Test func undoNeedsAManagerAndRollbackDoesNot() throws {
        try withContext { _, context in
            let team = context.team()
            try context.save()
            team.wins = 3
            context.undo()
            #expect(team.wins == 3)
            context.rollback()
            #expect(team.wins == 0)
            context.undoManager = UndoManager()
            team.wins = 4
            context.undo()
            #expect(team.wins == 0)
            context.redo()
            #expect(team.wins == 4)
            context.undoManager = nil
            team.wins = 5
            context.processPendingChanges()
            context.undo()
            #expect(team.wins == 5)
        }
    }

    @Test func aSaveLeavesTheUndoStackAndUndoMakesTheContextDirtyAgain() throws {
        try withContext { _, context in
            let team = context.team()
            try context.save()
            context.undoManager = UndoManager()
            team.wins = 3
            try context.save()
            #expect(!context.hasChanges && context.undoManager?.canUndo == true)
            context.undo()
            #expect(team.wins == 0 && context.updatedObjects == [team])
        }
    }

    // MARK: Notifications

    @Test func theKeysOfNotifications() throws {
        typealias Key = NSManagedObjectContext.NotificationKey
        #expect(NSManagedObjectContextQueryGenerationKey == Key.queryGeneration.rawValue)
        #expect(
            NSInsertedObjectIDsKey == "inserted_objectIDs" && Key.invalidatedAllObjects.rawValue == "invalidatedAll")
        try withContext { _, context in
            let notices = Notices(
                context,
                [
                    .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave,
                    .NSManagedObjectContextDidSaveObjectIDs,
                ])
            let team = context.team()
            try context.save()
            let (kept, gone) = (context.team("Kept"), team)
            context.delete(gone)
            _ = notices.take()
            try context.save()
            let told = notices.take()
            #expect(
                told.map(\.name) == [
                    .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave,
                    .NSManagedObjectContextDidSaveObjectIDs,
                ])
            #expect(told[0].userInfo == nil && told[1].objects(NSInsertedObjectsKey) == [kept])
            #expect(told[1].objects(NSDeletedObjectsKey) == [gone] && told[1].objects(NSUpdatedObjectsKey).isEmpty)
            #expect(told[2].userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> == [kept.objectID])
            #expect(told[2].userInfo?[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID> == [gone.objectID])
        }
    }

    @Test func notificationsComeAsASequence() async throws {
        let stack = try ClubStack()
        let (context, other) = (stack.context(), stack.context())
        let center = NotificationCenter.default
        var saves = center.notifications(named: .NSManagedObjectContextDidSaveObjectIDs, object: context)
            .makeAsyncIterator()
        try other.use { other in
            _ = other.team("Unheard")
            try other.save()
        }
        for name in ["One", "Two"] {
            try context.use { context in
                _ = context.team(name)
                try context.save()
            }
        }
        for _ in 1...2 {
            let notification = await saves.next()
            #expect((notification?.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID>)?.count == 1)
            #expect(notification?.object as AnyObject? === context)
        }
        let task = Task {
            var count = 0
            for await _ in center.notifications(named: .NSManagedObjectContextDidSave, object: context) { count += 1 }
            return count
        }
        task.cancel()
        #expect(await task.value == 0, "a cancelled task stops waiting")
    }
}
