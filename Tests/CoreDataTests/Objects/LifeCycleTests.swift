import Foundation
import Testing

@testable import CoreData

@Suite struct LifeCycleTests {
    /// A context is released while its queue is busy, and one of its objects is inserted into another context before it
    /// has left the first one.
    @Test func anObjectOfAReleasedContextMovesBeforeItsQueueIsFree() throws {
        let stack = try League.memoryStack()
        var first: NSManagedObjectContext? = League.context(stack.coordinator)
        let queue = try #require(first).queue
        let team = try #require(first).performAndWait { [first] in first!.addTeam("Ghana") }
        let (began, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        queue.async {
            began.signal()
            goesOn.wait()
        }
        began.wait()
        weak let gone = first
        first = nil
        #expect(gone == nil)
        let other = League.context(stack.coordinator)
        try other.use { other in
            other.insert(team)
            team.setValue(other.addVenue("Accra"), forKey: "venue")
            goesOn.signal()
            queue.sync {}
            #expect(team.managedObjectContext === other && other.insertedObjects.contains(team))
            try other.save()
            other.reset()
            let teams = try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team"))
            #expect(teams.map { $0.value(forKeyPath: "venue.name") as? String } == ["Accra"])
        }
    }

    @Test func insertSaveDeleteCallsTheHooksInOrder() throws {
        let context = try ClubStack().contextKeepingStack()
        try context.use { context in
            let team = ClubTeam(entity: ClubTeam.entity(in: context), insertInto: nil)
            team.log = []
            context.insert(team)
            #expect(team.log == ["awakeFromInsert"])
            #expect(team.isInserted && !team.isUpdated && team.hasChanges && team.objectID.isTemporaryID)
            #expect(team.rating == 0.5, "set without hooks while awaking")
            #expect(team.changedValues() as? [String: Double] == ["rating": 0.5])
            team.name = "Rovers"
            #expect(Set(team.changedValues().keys) == ["name", "rating"])
            team.log = []
            try context.save()
            #expect(team.log == ["willSave", "validateForInsert", "didSave"])
            #expect(!team.hasChanges && !team.objectID.isTemporaryID && team.changedValues().isEmpty)

            team.log = []
            team.wins = 3
            #expect(team.isUpdated && !team.isInserted)
            try context.save()
            #expect(team.log == ["willSave", "validateForUpdate", "didSave"])

            team.log = []
            context.delete(team)
            context.delete(team)
            #expect(team.isDeleted)
            try context.save()
            #expect(
                team.log
                    == ["prepareForDeletion", "prepareForDeletion", "willSave", "validateForDelete", "didSave"])
            #expect(team.managedObjectContext == nil && !team.isDeleted)
            #expect(team.wins == 3, "the values of a deleted object stay readable")
        }
    }

    @Test func awakeFromFetchChangesNothing() throws {
        let stack = try ClubStack()
        let writer = stack.context()
        let id = try writer.use { context in
            let team = context.team()
            try context.save()
            return team.objectID
        }
        let reader = stack.context()
        try reader.use { context in
            let team = try #require(context.object(with: id) as? ClubTeam)
            team.log = []
            #expect(team.isFault && team.log == [])
            #expect(team.name == "Rovers")
            #expect(!team.isFault && team.log == ["awakeFromFetch"])
            #expect(team.scratch == 42 && !team.hasChanges && !context.hasChanges)
            team.log = []
            context.refresh(team, mergeChanges: false)
            #expect(team.isFault && team.log == ["willTurnIntoFault", "didTurnIntoFault"])
        }
    }

    @Test func willSaveMayChangeObjectsUntilItSettles() throws {
        let context = try ClubStack().contextKeepingStack()
        try context.use { context in
            let team = context.team()
            team.onWillSave = { if $0.wins < 5 { $0.wins += 1 } }
            try context.save()
            #expect(team.wins == 5 && !context.hasChanges)
            team.onWillSave = { $0.wins = $0.wins == 1 ? 2 : 1 }
            team.rating = 2
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .persistentStoreSave)
        }
    }

    @Test func changesByAValidationAreValidated() throws {
        try ClubStack().contextKeepingStack().use { context in
            let checkedBefore = context.team("Before")
            let team = context.team()
            team.onValidate = { _ in checkedBefore.wins = 500 }
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.code == .validationNumberTooLarge && error.validationKey == "wins")
            #expect(error.validationObject as? NSManagedObject === checkedBefore)
            checkedBefore.wins = 0
            team.onValidate = { _ in if checkedBefore.wins != 60 { checkedBefore.wins = 60 } }
            try context.save()
            #expect(checkedBefore.wins == 60 && !context.hasChanges)
        }
    }

    @Test func aValidationThatNeverSettlesIsAnError() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            var rounds = 0
            team.onValidate = { team in
                rounds += 1
                team.wins = team.wins == 1 ? 2 : 1
            }
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .persistentStoreSave && rounds == 1000)
            #expect(team.isInserted && team.objectID.isTemporaryID, "nothing was saved")
        }
    }

    @Test func aDeletedObjectThatWasNeverSavedIsForgotten() throws {
        let context = try ClubStack().contextKeepingStack()
        try context.use { context in
            let team = context.team()
            context.delete(team)
            #expect(team.isDeleted && context.deletedObjects.isEmpty && context.insertedObjects.isEmpty)
            context.processPendingChanges()
            #expect(!context.hasChanges && team.managedObjectContext == nil)
            #expect(context.registeredObject(for: team.objectID) == nil)
        }
    }

    @Test func settingAnEqualValueMakesTheObjectDirtyButWritesNothing() throws {
        let context = try ClubStack().contextKeepingStack()
        try context.use { context in
            let team = context.team()
            try context.save()
            let version = team.snapshot?.version
            team.name = "Rovers"
            #expect(team.isUpdated && team.changedValues().isEmpty && !team.hasPersistentChangedValues)
            try context.save()
            #expect(!team.isUpdated && team.snapshot?.version == version)
        }
    }

    @Test func savedValuesComeBackInAnotherContext() throws {
        let stack = try ClubStack()
        let uuid = UUID()
        let values: [String: Any] = [
            "name": "Žižkov ⚽️", "wins": 7, "favorite": true, "rating": 1.5, "badge": Data([1, 2, 3]), "uuid": uuid,
            "founded": Date(timeIntervalSinceReferenceDate: 12.25), "site": URL(string: "https://example.org/a%20b")!,
            "budget": NSDecimalNumber(string: "12345.125"),
        ]
        let id = try stack.context().use { context in
            let team = context.make("Team", values)
            try context.save()
            return team.objectID
        }
        try stack.context().use { context in
            let team = try context.existingObject(with: id)
            #expect(team is ClubTeam)
            #expect(team.value(forKey: "name") as? String == "Žižkov ⚽️")
            #expect(team.value(forKey: "wins") as? Int32 == 7)
            #expect(team.value(forKey: "favorite") as? Bool == true)
            #expect(team.value(forKey: "rating") as? Double == 1.5)
            #expect(team.value(forKey: "badge") as? Data == Data([1, 2, 3]))
            #expect(team.value(forKey: "uuid") as? UUID == uuid)
            #expect(team.value(forKey: "founded") as? Date == Date(timeIntervalSinceReferenceDate: 12.25))
            #expect(team.value(forKey: "site") as? URL == URL(string: "https://example.org/a%20b"))
            #expect(team.value(forKey: "budget") as? NSDecimalNumber == values["budget"] as? NSDecimalNumber)
            #expect(team.value(forKey: "code") == nil)
        }
    }

    @Test func describingAFaultDoesNotFireIt() throws {
        let stack = try ClubStack()
        let id = try stack.context().use { context in
            let team = context.team()
            #expect(team.description.contains("    name = Rovers;\n"))
            #expect(team.description.contains("    rating = \"0.5\";\n") && team.description.contains("badge = nil;"))
            try context.save()
            return team.objectID
        }
        try stack.context().use { context in
            let team = context.object(with: id)
            #expect(team.description.contains("(entity: Team; id: "))
            #expect(team.description.hasSuffix("data: <fault>)") && team.isFault)
            #expect(team.description.contains("<x-coredata://"))
        }
    }
}

extension ClubStack {
    /// A context that keeps the stack and its file alive.
    func contextKeepingStack() -> NSManagedObjectContext {
        let context = context()
        context.userInfo["stack"] = self
        return context
    }
}

extension NSManagedObjectContext {
    /// Runs `body` on the context's queue.
    func use<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
        try performAndWait { try body(self) }
    }
}

extension NSManagedObject {
    static func entity(in context: NSManagedObjectContext) -> NSEntityDescription { context.entity(for: self) }
}
