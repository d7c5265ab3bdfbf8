import Foundation
import Testing

@testable import CoreData

/// Statements of Apple's documentation about hooks of objects that no other suite tests. Serialized, because some tests
/// observe the hooks of a class for the whole process.
@Suite(.serialized) struct LifeCycleStatementTests {
    private func withUndo(_ body: (NSManagedObjectContext) throws -> Void) throws {
        try ClubStack().contextKeepingStack().use { context in
            context.undoManager = UndoManager()
            try body(context)
        }
    }

    private func withWatched(_ body: (ClubStack) throws -> Void) throws {
        let entity = Club.entity(
            "Watched", [Club.attribute("number", .integer32AttributeType, 7)], className: "WatchedObject")
        let model = NSManagedObjectModel()
        model.entities = [entity]
        defer { WatchedObject.onAwake = nil }
        try body(try ClubStack(model: model))
    }

    @Test func defaultValuesAreInPlaceWhenAnObjectAwakes() throws {
        try withWatched { stack in
            try stack.context().use { context in
                var seen: [Int] = []
                WatchedObject.onAwake = { seen.append($0.value(forKey: "number") as? Int ?? -1) }
                _ = WatchedObject(context: context)
                #expect(seen == [7])
            }
        }
    }

    @Test func anObjectMadeForNoContextIsNotInserted() throws {
        try withWatched { stack in
            try stack.context().use { context in
                var calls = 0
                WatchedObject.onAwake = { _ in calls += 1 }
                let object = WatchedObject(entity: WatchedObject.entity(in: context), insertInto: nil)
                #expect(calls == 0 && object.managedObjectContext == nil && !object.isInserted && !object.hasChanges)
                #expect(context.insertedObjects.isEmpty && !context.hasChanges)
                context.insert(object)
                context.insert(object)
                #expect(calls == 1 && object.managedObjectContext === context && object.isInserted)
            }
        }
    }

    @Test func theParentsObjectAwakesFromItsOwnInsertion() throws {
        try withWatched { stack in
            let root = stack.context()
            let child = root.child()
            try child.use { child in
                var seen: [ObjectIdentifier?] = []
                WatchedObject.onAwake = { seen.append($0.managedObjectContext.map(ObjectIdentifier.init)) }
                let new = WatchedObject(context: child)
                new.setValue(8, forKey: "number")
                try child.save()
                try child.save()
                #expect(seen == [ObjectIdentifier(child), ObjectIdentifier(root)])
            }
            try root.use { root in
                #expect(root.insertedObjects.first?.value(forKey: "number") as? Int == 8, "the child's values win")
                WatchedObject.onAwake = { _ in Issue.record("once in a life") }
                try root.save()
            }
        }
    }

    /// A divergence: overrides of the two hooks are called only by code that calls the hooks itself.
    @Test func readingCallsNoOverridesOfTheAccessHooks() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = AccessedTeam(entity: ClubTeam.entity(in: context), insertInto: context)
            team.setValue("Rovers", forKey: "name")
            try context.save()
            context.refresh(team, mergeChanges: false)
            #expect(team.wins == 0 && team.value(forKey: "name") as? String == "Rovers" && !team.isFault)
            #expect(team.calls.isEmpty)
            context.refresh(team, mergeChanges: false)
            team.willAccessValue(forKey: "name")
            #expect(!team.isFault)
            team.didAccessValue(forKey: "name")
            #expect(team.calls == ["will name", "did name"])
        }
    }

    @Test func theAccessHooksFireAFaultByHand() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            try context.save()
            context.refresh(team, mergeChanges: false)
            team.log = []
            team.willAccessValue(forKey: "name")
            let name = team.primitiveValue(forKey: "name") as? String
            team.didAccessValue(forKey: "name")
            #expect(name == "Rovers" && !team.isFault && team.log == ["awakeFromFetch"])
        }
    }

    @Test func snapshotEventsDistinguishUndoneChanges() throws {
        try withUndo { context in
            let team = context.team()
            team.log = []
            context.undo()
            #expect(team.log == ["awake \(NSSnapshotEventType.undoInsertion.rawValue)"])
            context.redo()
            try context.save()
            team.log = []
            context.delete(team)
            context.processPendingChanges()
            context.undo()
            #expect(team.log == ["prepareForDeletion", "awake \(NSSnapshotEventType.undoDeletion.rawValue)"])
            team.log = []
            context.redo()
            #expect(team.isDeleted && team.log == ["awake \(NSSnapshotEventType.undoInsertion.rawValue)"])
        }
    }

    @Test func changesInDidSaveCanBeUndone() throws {
        try withUndo { context in
            let team = context.team()
            team.onDidSave = { $0.wins = 3 }
            try context.save()
            team.onDidSave = nil
            context.processPendingChanges()
            #expect(team.wins == 3 && context.hasChanges)
            context.undo()
            #expect(team.wins == 0)
        }
    }

    @Test func aDeletedObjectIsNotRevivedInDidSave() throws {
        try withUndo { context in
            let team = context.team()
            try context.save()
            team.onDidSave = { team in team.managedObjectContext?.insert(team) }
            context.delete(team)
            try context.save()
            #expect(!context.hasChanges && team.managedObjectContext == nil)
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Team")) == 0)
        }
    }

    @Test func unsavedDeletedObjectsAreNotPosted() throws {
        try withUndo { context in
            let notices = Notices(context, [.NSManagedObjectContextDidSave])
            let (gone, kept) = (context.team("Gone"), context.team("Kept"))
            context.delete(gone)
            try context.save()
            let told = try #require(notices.take().first)
            #expect(told.objects(NSInsertedObjectsKey) == [kept])
            #expect(told.objects(NSDeletedObjectsKey).isEmpty && told.objects(NSUpdatedObjectsKey).isEmpty)
        }
    }

    @Test func aRollbackReadsNothing() throws {
        let (coordinator, store) = try League.memoryStack()
        let context = League.context(coordinator)
        try context.use { context in
            let (team, gone) = (context.addTeam("Ghana", wins: 1), context.addTeam("Mali"))
            try context.save()
            team.setValue(9, forKey: "wins")
            context.delete(gone)
            context.addTeam("Togo")
            context.processPendingChanges()
            store.asked.forget()
            context.rollback()
            #expect(team.value(forKey: "wins") as? Int == 1 && gone.value(forKey: "name") as? String == "Mali")
            #expect(!context.hasChanges && store.asked.rowRequests == [] && store.asked.fetches == 0)
        }
    }

    @Test func aConflictsSnapshotHasNoToManyContents() throws {
        let stack = try ClubStack()
        let (mine, other) = (stack.context(), stack.context())
        let team = try mine.use { mine in
            let team = mine.team()
            _ = mine.make("Player", ["name": "Ada", "team": team])
            try mine.save()
            return team
        }
        try other.use { other in
            try other.twin(of: team).wins = 2
            try other.save()
        }
        try mine.use { mine in
            team.wins = 1
            let error = try #require(throws: CocoaError.self) { try mine.save() }
            let snapshot = try #require(error.persistentStoreSaveConflicts?.first?.objectSnapshot)
            #expect(snapshot["wins"] as? Int == 0 && snapshot["captain"] is NSNull)
            #expect(snapshot["players"] == nil && snapshot["fans"] == nil)
        }
    }

    @Test func aMergeNamesFaultsWhoseRowsChanged() throws {
        let stack = try ClubStack()
        let (reader, writer) = (stack.context(), stack.context())
        let team = try writer.use { writer in
            let team = writer.team()
            try writer.save()
            return team
        }
        try reader.use { reader in
            let fault = try #require(try reader.fetch(NSFetchRequest<ClubTeam>(entityName: "Team")).first)
            let saved = Notices(writer, [.NSManagedObjectContextDidSave])
            let told = Notices(reader)
            try writer.use { writer in
                team.wins = 4
                try writer.save()
            }
            reader.mergeChanges(fromContextDidSave: try #require(saved.take().first))
            #expect(fault.isFault && told.take().first?.objects(NSRefreshedObjectsKey) == [fault])
            #expect(fault.wins == 4)
        }
    }
}

final class WatchedObject: NSManagedObject {
    nonisolated(unsafe) static var onAwake: ((WatchedObject) -> Void)?

    override func awakeFromInsert() {
        super.awakeFromInsert()
        Self.onAwake?(self)
    }
}

final class AccessedTeam: NSManagedObject {
    @Managed var wins: Int16
    var calls: [String] = []

    override func willAccessValue(forKey key: String?) {
        calls.append("will \(key ?? "-")")
        super.willAccessValue(forKey: key)
    }
    override func didAccessValue(forKey key: String?) {
        calls.append("did \(key ?? "-")")
        super.didAccessValue(forKey: key)
    }
}
