import Foundation
import Testing

@testable import CoreData

@Suite struct ContextSaveTests {
    private static let names: [Notification.Name] = [
        .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave,
        .NSManagedObjectContextDidSaveObjectIDs,
    ]

    @Test func aSavePostsInOrder() throws {
        try ClubStack().contextKeepingStack().use { context in
            let old = context.team("Old")
            let gone = context.team("Gone")
            try context.save()
            let notices = Notices(context, Self.names)
            old.wins = 4
            context.delete(gone)
            let new = context.team("New")
            try context.save()
            let posted = notices.take()
            #expect(posted.map(\.name) == Self.names)
            for index in [0, 2] {
                #expect(posted[index].objects(NSInsertedObjectsKey) == [new])
                #expect(posted[index].objects(NSUpdatedObjectsKey) == [old])
                #expect(posted[index].objects(NSDeletedObjectsKey) == [gone])
            }
            #expect(posted[1].userInfo?.isEmpty ?? true)
            let ids = posted[3].userInfo
            #expect(ids?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> == [new.objectID])
            #expect(ids?[NSUpdatedObjectIDsKey] as? Set<NSManagedObjectID> == [old.objectID])
            #expect(ids?[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID> == [gone.objectID])
            #expect(!new.objectID.isTemporaryID)
        }
    }

    @Test func objectsMayStillChangeWhenWillSaveIsPosted() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            let observer = Observer(context, .NSManagedObjectContextWillSave) { note in
                guard let context = note.object as? NSManagedObjectContext else { return }
                if context.insertedObjects.count == 1 { context.team("Late").log = [] }
            }
            defer { observer.stop() }
            try context.save()
            #expect(!context.hasChanges)
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Team")) == 2)
            #expect(team.wins == 0)
        }
    }

    @Test func changesInWillSaveObserversAreSaved() throws {
        let stack = try ClubStack()
        try stack.contextKeepingStack().use { context in
            let clean = context.team("Clean")
            try context.save()
            let new = context.team("New")
            let observer = Observer(context, .NSManagedObjectContextWillSave) { _ in
                new.wins = 4
                clean.wins = 5
            }
            defer { observer.stop() }
            try context.save()
            #expect(!context.hasChanges && !new.hasChanges && !clean.hasChanges)
        }
        try stack.context().use { context in
            let teams = try context.fetch(NSFetchRequest<ClubTeam>(entityName: "Team"))
            #expect(teams.count == 2)
            for team in teams { #expect(team.wins == (team.name == "New" ? 4 : 5)) }
        }
    }

    @Test func nothingToSaveIsAnnouncedOnly() throws {
        try ClubStack().contextKeepingStack().use { context in
            let notices = Notices(context, Self.names)
            try context.save()
            #expect(
                notices.take().allSatisfy { notice in
                    (notice.userInfo ?? [:]).values.allSatisfy { ($0 as? NSSet)?.count == 0 }
                })
        }
    }

    @Test func didSaveMayStartTheNextChanges() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            let observer = Observer(context, .NSManagedObjectContextDidSave) { _ in team.wins = 1 }
            defer { observer.stop() }
            try context.save()
            #expect(context.updatedObjects == [team] && team.changedValues().keys.sorted() == ["wins"])
        }
    }

    @Test func didSaveObserversMaySaveAgain() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            let observer = Observer(context, .NSManagedObjectContextDidSave) { _ in
                guard team.wins < 3 else { return }
                team.wins += 1
                #expect(throws: Never.self) { try context.save() }
            }
            defer { observer.stop() }
            try context.save()
            #expect(team.wins == 3 && !context.hasChanges && team.snapshot?.version == 4)
        }
    }

    @Test func permanentIDsCanBeHadBeforeTheSave() throws {
        let stack = try ClubStack()
        try stack.context().use { context in
            let team = context.team()
            let player = context.make("Player", ["name": "Ada", "team": team])
            let temporary = team.objectID
            try context.obtainPermanentIDs(for: [team, player])
            #expect(!team.objectID.isTemporaryID && team.isInserted && temporary != team.objectID)
            #expect(context.registeredObject(for: temporary) === team, "the old ID is still understood here")
            #expect(context.object(with: team.objectID) === team && player.object("team") === team)
            #expect(player.changedValues().keys.sorted() == ["name", "team"])
            try context.save()
            #expect(context.registeredObject(for: temporary) === team)
        }
    }

    @Test func anObjectListedTwiceGetsOnePermanentID() throws {
        let stack = try ClubStack()
        try stack.context().use { context in
            let (other, team) = (context.team(), context.team())
            try context.obtainPermanentIDs(for: [team, team])
            #expect(context.object(with: team.objectID) === team)
            #expect(other.objectID.isTemporaryID && context.object(with: other.objectID) === other)
            try context.obtainPermanentIDs(for: [team, other, team])
            #expect(Set(context.registeredObjects) == [team, other])
            try context.save()
            #expect(context.object(with: team.objectID) === team && context.object(with: other.objectID) === other)
        }
    }

    @Test func eventsContainTheOldValues() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            try context.save()
            team.wins = 1
            team.wins = 2
            #expect(team.changedValuesForCurrentEvent().mapValues { $0 as? Int } == ["wins": 0])
            var seen: [String: Int?] = [:]
            let observer = Observer(context, .NSManagedObjectContextObjectsDidChange) { _ in
                seen = team.changedValuesForCurrentEvent().mapValues { $0 as? Int }
            }
            defer { observer.stop() }
            context.processPendingChanges()
            #expect(seen == ["wins": 0] && team.changedValuesForCurrentEvent().isEmpty)
            #expect(team.changedValues()["wins"] as? Int == 2)
            #expect(team.committedValues(forKeys: ["wins", "code"])["wins"] as? Int == 0)
            #expect(team.committedValues(forKeys: ["code"])["code"] is NSNull)
            team.wins = 3
            #expect(team.changedValuesForCurrentEvent().mapValues { $0 as? Int } == ["wins": 2])
        }
    }

    @Test func anObserverMayChangeObjectsWhileChangesArePosted() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            try context.save()
            let observer = Observer(context, .NSManagedObjectContextObjectsDidChange) { _ in
                if team.wins < 3 { team.wins += 1 }
            }
            defer { observer.stop() }
            team.wins = 1
            context.processPendingChanges()
            #expect(team.wins == 2)
            #expect(team.changedValuesForCurrentEvent().mapValues { $0 as? Int } == ["wins": 1])
            try context.save()
            #expect(!context.hasChanges && team.wins == 3)
        }
    }

    @Test func aRelationshipIntoAnotherStoreIsRefused() throws {
        let stack = try ClubStack()
        let second = try stack.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: stack.folder.appendingPathComponent("second.sqlite"))
        try stack.context().use { context in
            let team = context.team()
            try context.save()
            let player = context.make("Player", ["name": "Ada", "team": team])
            context.assign(player, to: second)
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.code == .managedObjectExternalRelationship)
            player.setValue(nil, forKey: "team")
            try context.save()
            #expect(player.objectID.persistentStore === second && team.objectID.persistentStore !== second)
        }
    }

    @Test func transientValuesStayAndAreNotWritten() throws {
        let stack = try ClubStack()
        try stack.context().use { context in
            let team = context.team()
            team.scratch = 7
            try context.save()
            #expect(team.scratch == 7)
            team.scratch = 8
            #expect(team.isUpdated && team.changedValues().isEmpty)
            let version = team.snapshot?.version
            try context.save()
            #expect(team.scratch == 8 && team.snapshot?.version == version)
            context.refresh(team, mergeChanges: true)
            #expect(team.scratch == 8)
        }
    }

    @Test func resetForgetsEverything() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            try context.save()
            let fresh = context.team("Fresh")
            let notices = Notices(context)
            context.reset()
            #expect(!context.hasChanges && context.registeredObjects.isEmpty && fresh.managedObjectContext == nil)
            let ids = notices.take().first?.userInfo?[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID]
            #expect(ids.map(Set.init) == [team.objectID, fresh.objectID])
            #expect(try context.existingObject(with: team.objectID) !== team)
        }
    }

    @Test func aMissingRowIsADeletedObject() throws {
        let stack = try ClubStack()
        let id = try stack.context().use { context in
            let team = context.team()
            try context.save()
            context.delete(team)
            try context.save()
            return team.objectID
        }
        try stack.context().use { context -> Void in
            #expect(throws: CocoaError.self) { try context.existingObject(with: id) }
        }
        try stack.context().use { context in
            let team = context.object(with: id)
            #expect(team.isFault && !team.isDeleted)
            #expect(team.value(forKey: "name") == nil && team.isDeleted)
            #expect(context.deletedObjects == [team])
            try context.save()
            #expect(!context.hasChanges)
        }
    }
}
