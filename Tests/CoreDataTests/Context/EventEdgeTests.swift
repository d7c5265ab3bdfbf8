import Foundation
import Testing

@testable import CoreData

/// Rare combinations of changes in one event or save.
@Suite struct EventEdgeTests {
    private func withContext(_ body: (NSManagedObjectContext) throws -> Void) throws {
        let stack = try ClubStack()
        try stack.context().use(body)
    }

    private func players(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Player"))
    }

    // MARK: Rollback

    @Test func rollbackReleasesUnsavedDeletedObjects() throws {
        try withContext { context in
            let team = context.team()
            context.processPendingChanges()
            let notices = Notices(context)
            context.delete(team)
            context.rollback()
            #expect(notices.take().first?.objects(NSDeletedObjectsKey) == [team])
            #expect(team.managedObjectContext == nil && !context.registeredObjects.contains(team))
            #expect(!context.hasChanges)
            try context.save()
        }
    }

    @Test func rollbackForgetsMarksForConflicts() throws {
        let stack = try ClubStack()
        let (mine, other) = (stack.context(), stack.context())
        try mine.use { context in
            let team = context.team()
            try context.save()
            context.detectConflicts(for: team)
            try other.use { other in
                try other.twin(of: team).wins = 7
                try other.save()
            }
            context.rollback()
            _ = context.make("Fan")
            try context.save()
        }
    }

    // MARK: Deletion

    @Test func deletingADeletedObjectAgainIsHarmless() throws {
        try withContext { context in
            let team = context.team()
            context.delete(team)
            context.processPendingChanges()
            context.delete(team)
            let saved = context.team()
            try context.save()
            context.delete(saved)
            #expect(throws: CocoaError.self) { try context.existingObject(with: saved.objectID) }
            try context.save()
            context.delete(saved)
            #expect(!context.hasChanges)
        }
    }

    @Test func deleteRulesOfWhatWasNeverSavedDoNotWaitForTheSave() throws {
        try withContext { context in
            context.propagatesDeletesAtEndOfEvent = false
            let team = context.team()
            let player = context.make("Player", ["name": "Ada", "team": team])
            context.processPendingChanges()
            context.delete(team)
            context.processPendingChanges()
            #expect(player.managedObjectContext == nil)
            // Repeats this within one event.
            let second = context.team()
            _ = context.make("Player", ["name": "Bob", "team": second])
            context.delete(second)
            try context.save()
            #expect(try players(context).isEmpty)
        }
    }

    @Test func noRowRefersToARowThatTheSameSaveDeletes() throws {
        try withContext { context in
            let team = context.team()
            let player = context.make("Player", ["name": "Ada"])
            let skill = context.make("Skill", ["name": "pace"])
            try context.save()
            for delete in [{ context.delete(team) }, { context.delete(skill) }] {
                delete()
                context.processPendingChanges()
                if team.isDeleted {
                    player.setValue(team, forKey: "team")
                } else {
                    player.setValue(Set([skill]), forKey: "skills")
                }
                let error = try #require(throws: CocoaError.self) { try context.save() }
                #expect(error.code.rawValue == 1550 && error.validationObject as? NSManagedObject === player)
                #expect(["team", "skills"].contains(error.validationKey))
                context.rollback()
                #expect(player.object("team") == nil && player.objects("skills").isEmpty)
            }
        }
    }

    // MARK: Stores

    @Test func referencesFollowAnObjectIntoTheStoreItIsAssignedTo() throws {
        let stack = try ClubStack()
        let second = try stack.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: stack.folder.appendingPathComponent("second.sqlite"))
        try stack.context().use { context in
            let team = context.team()
            let player = context.make("Player", ["name": "Ada", "team": team])
            context.assign(team, to: second)
            #expect(player.object("team") === team && team.players == [player])
            try context.save()
            context.refreshAllObjects()
            #expect(player.object("team") === team && player.objectID.persistentStore === second)
        }
    }

    // MARK: Changes of the event

    @Test func theEventsOldMembersAreWholeThoughNobodyReadThem() throws {
        let stack = try ClubStack()
        let id = try stack.savedTeam(of: "Ada")
        try stack.context().use { context in
            let team = try context.existingObject(with: id)
            _ = context.make("Player", ["name": "Bob", "team": team])
            let before = team.changedValuesForCurrentEvent()["players"] as? Set<NSManagedObject>
            #expect(before?.map { $0.value(forKey: "name") as? String } == ["Ada"])
        }
    }

    @Test func objectsDidChangeObserversMayChangeObjectsAndSave() throws {
        let stack = try ClubStack()
        try stack.context().use { context in
            let team = context.team()
            try context.save()
            var told: [Set<NSManagedObject>] = []
            let observer = Observer(context, .NSManagedObjectContextObjectsDidChange) { notice in
                told.append(notice.objects(NSUpdatedObjectsKey))
                guard team.wins < 3 else { return }
                team.wins += 1
                #expect(throws: Never.self) { try context.save() }
            }
            defer { observer.stop() }
            team.wins = 1
            context.processPendingChanges()
            #expect(!context.hasChanges && team.wins == 3)
            #expect(told == [[team], [team], [team]])
            #expect(team.changedValuesForCurrentEvent().isEmpty)
            team.wins = 9
            #expect(team.changedValuesForCurrentEvent()["wins"] as? Int == 3 && context.updatedObjects == [team])
            try context.save()
            let saved = try stack.context().use { try $0.twin(of: team).wins }
            #expect(saved == 9)
        }
    }

    // MARK: Proxies

    @Test func anOrderedProxyShowsWhatChangedBesideIt() throws {
        try withContext { context in
            let team = context.team()
            let fans = team.mutableOrderedSetValue(forKey: "fans")
            #expect(fans.count == 0)
            let made = ["a", "b"].map { context.make("Fan", ["name": $0, "team": team]) }
            #expect(fans.count == 2 && fans.array as? [NSManagedObject] == made)
            #expect(fans.contains(made[1]) && fans.index(of: made[1]) == 1 && fans[0] as? NSManagedObject === made[0])
            made[0].setValue(nil, forKey: "team")
            #expect(!fans.contains(made[0]) && fans.object(at: 0) as? NSManagedObject === made[1])
            fans.insert(made[0], at: 0)
            #expect(team.names("fans") == ["a", "b"] && fans.set.count == 2)
            context.delete(made[1])
            context.processPendingChanges()
            #expect(fans.count == 1)
        }
    }

    // MARK: Merge policies

    @Test func aMemberThatWasMovedOnlyIsOverwrittenWhole() throws {
        let stack = try ClubStack()
        let (mine, other) = (stack.context(), stack.context())
        mine.mergePolicy = NSMergePolicy.overwrite
        try mine.use { context in
            let team = context.team()
            let fans = ["a", "b"].map { context.make("Fan", ["name": $0, "team": team]) }
            try context.save()
            try other.use { other in
                try other.twin(of: fans[0]).setValue("A2", forKey: "name")
                try other.save()
            }
            team.mutableOrderedSetValue(forKey: "fans").moveObjects(at: IndexSet(integer: 0), to: 1)
            try context.save()
            let name = fans[0].value(forKey: "name") as? String
            context.refresh(fans[0], mergeChanges: false)
            #expect(fans[0].value(forKey: "name") as? String == name && name == "a")
            #expect(team.names("fans") == ["b", "a"])
        }
    }

    private final class DeletingPolicy: NSMergePolicy, @unchecked Sendable {
        override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
            try super.resolve(optimisticLockingConflicts: list)
            for conflict in list { conflict.sourceObject.managedObjectContext?.delete(conflict.sourceObject) }
        }
    }

    @Test func deleteRulesOfWhatAPolicyDeletesAreApplied() throws {
        let stack = try ClubStack()
        let (mine, other) = (stack.context(), stack.context())
        mine.mergePolicy = DeletingPolicy(merge: .overwriteMergePolicyType)
        try mine.use { context in
            context.undoManager = CoreData.UndoManager()
            let team = context.team()
            _ = context.make("Player", ["name": "Ada", "team": team])
            try context.save()
            try other.use { other in
                try other.twin(of: team).wins = 7
                try other.save()
            }
            team.wins = 3
            try context.save()
            #expect(try players(context).isEmpty)
            #expect(try context.count(for: NSFetchRequest<ClubTeam>(entityName: "Team")) == 0)
        }
    }

    @Test func aRowThatBothDeletedIsAConflictWithoutAVersion() throws {
        let stack = try ClubStack()
        let (mine, other) = (stack.context(), stack.context())
        try mine.use { context in
            let team = context.team()
            try context.save()
            try other.use { other in
                other.delete(try other.twin(of: team))
                try other.save()
            }
            context.delete(team)
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.code.rawValue == 133020)
            #expect(error.persistentStoreSaveConflicts?.first?.newVersionNumber == 0)
        }
    }

    /// A child's saved object has no version until it is read again; its parent may have released the object by then.
    @Test func aChildDoesNotOverwriteWhatOthersSavedSinceItsOwnSave() throws {
        let stack = try ClubStack()
        let parent = stack.context()
        let child = parent.child()
        let id = try stack.context().use { context in
            let venue = context.make("Venue", ["name": "Azteca", "capacity": 1])
            try context.save()
            return venue.objectID
        }
        try child.use { child in
            let venue = try child.existingObject(with: id)
            venue.setValue(2, forKey: "capacity")
            try child.save()
            try parent.use { try $0.save() }
            try stack.context().use { other in
                try other.existingObject(with: id).setValue(7, forKey: "capacity")
                try other.save()
            }
            // A fetch releases unused objects.
            try parent.use { _ = try $0.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team")) }
            _ = try parent.use { $0.registeredObjects.count }
            venue.setValue(venue.value(forKey: "capacity") as? Int == 2 ? 3 : 0, forKey: "capacity")
            let error = try #require(
                throws: CocoaError.self,
                performing: {
                    try child.save()
                    try parent.use { try $0.save() }
                })
            #expect(error.code.rawValue == 133020)
            child.rollback()
            child.refresh(venue, mergeChanges: false)
            #expect(venue.value(forKey: "capacity") as? Int == 7)
            venue.setValue(8, forKey: "capacity")
            try child.save()
            try parent.use { try $0.save() }
        }
        let saved = try stack.context().use { try $0.existingObject(with: id).value(forKey: "capacity") as? Int }
        #expect(saved == 8)
    }

    // MARK: Merging

    @Test func aMergedInsertIsPostedThoughTheObjectWasReadBefore() throws {
        let stack = try ClubStack()
        let (writer, reader) = (stack.context(), stack.context())
        let saved = Notices(writer, [.NSManagedObjectContextDidSave])
        try writer.use { context in
            _ = context.team("Benin")
            try context.save()
        }
        try reader.use { context in
            let team = try #require(try context.fetch(NSFetchRequest<ClubTeam>(entityName: "Team")).first)
            #expect(team.name == "Benin")
            let told = Notices(context)
            context.mergeChanges(fromContextDidSave: try #require(saved.take().last))
            let news = told.take()
            #expect(news.count == 1 && news.first?.objects(NSInsertedObjectsKey) == [team])
        }
    }
}
