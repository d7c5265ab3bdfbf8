import Foundation
import Testing

@testable import CoreData

/// Undo, rollback, refresh, hooks and lists in child contexts.
@Suite struct NestedContextChangeTests {
    @Test func aChildsSaveIsOneUndoGroupOfTheParent() throws {
        let family = try ContextFamily()
        try family.root.use { root in
            root.undoManager = UndoManager()
            let team = root.team()
            try root.save()
            try family.child.use { child in
                child.undoManager = UndoManager()
                let twin = try child.twin(of: team)
                for wins in 1...3 {
                    twin.wins = Int16(wins)
                    child.processPendingChanges()
                }
                let player = child.make("Player", ["name": "Ada", "team": twin])
                try child.save()
                root.undo()
                #expect(team.wins == 0 && team.objects("players").isEmpty)
                root.redo()
                #expect(team.wins == 3 && team.names("players") == ["Ada"])
                // The child undoes its saved steps one by one and saves again.
                child.undo()
                #expect(child.deletedObjects == [player])
                child.undo()
                #expect(twin.wins == 2)
                try child.save()
                #expect(team.wins == 2 && team.objects("players").isEmpty)
                child.redo()
                child.redo()
                try child.save()
                #expect(team.wins == 3 && team.names("players") == ["Ada"])
            }
            try root.save()
        }
        try family.stack.context().use { fresh in
            let team = try #require(try fresh.fetch(NSFetchRequest<ClubTeam>(entityName: "Team")).first)
            #expect(team.wins == 3 && team.names("players") == ["Ada"])
        }
    }

    @Test func aDeletionUndoneInTheChildIsUndoneInTheParent() throws {
        let family = try ContextFamily()
        try family.root.use { root in
            let team = root.team()
            let venue = root.make("Venue", ["name": "Field"])
            let skill = root.make("Skill", ["name": "pace"])
            let ada = root.make("Player", ["name": "Ada", "team": team, "skills": NSSet(array: [skill])])
            team.setValue(venue, forKey: "venue")
            team.setValue(NSOrderedSet(array: ["Dot", "Eve"].map { root.make("Fan", ["name": $0]) }), forKey: "fans")
            team.captain = ada
            try root.save()
            try family.child.use { child in
                child.undoManager = UndoManager()
                child.delete(try child.twin(of: team))
                try child.save()
                #expect(root.deletedObjects == [team, ada] && venue.objects("teams").isEmpty)
                child.undo()
                try child.save()
            }
            #expect(root.deletedObjects.isEmpty && team.object("venue") === venue && venue.objects("teams") == [team])
            #expect(team.names("fans") == ["Dot", "Eve"] && team.captain === ada && ada.object("team") === team)
            #expect(skill.objects("players") == [ada])
            try root.save()
        }
        #expect(try family.saved() == ["Rovers"])
    }

    @Test func rollbackResetAndRefreshReadTheParent() throws {
        let family = try ContextFamily()
        try family.root.use { root in
            let team = root.team()
            try root.save()
            team.wins = 3
            try family.child.use { child in
                let twin = try child.twin(of: team)
                twin.wins = 4
                _ = child.team("Gone")
                child.rollback()
                #expect(twin.wins == 3 && !child.hasChanges)
                twin.rating = 2
                team.wins = 5
                root.processPendingChanges()
                child.refresh(twin, mergeChanges: true)
                #expect(twin.wins == 5 && twin.rating == 2)
                child.refresh(twin, mergeChanges: false)
                #expect(twin.isFault && !child.hasChanges && twin.rating == 0.5)
                child.reset()
                #expect(twin.managedObjectContext == nil && child.registeredObjects.isEmpty)
                #expect(try child.teamNames("wins = 5") == ["Rovers"])
            }
        }
    }

    @Test func anUnheldObjectIsReadFromTheParentAgain() throws {
        let family = try ContextFamily()
        try family.root.use { root in
            let team = root.team()
            try root.save()
            try family.child.use { child in
                func wins() throws -> [Int16] {
                    try child.fetch(NSFetchRequest<ClubTeam>(entityName: "Team")).map { $0.wins }
                }
                let before = try wins()
                team.wins = 5
                #expect(try wins() == [5] && before == [0])
            }
        }
    }

    @Test func transientValuesAndHooksReachTheParent() throws {
        let family = try ContextFamily()
        try family.root.use { root in
            let saved = root.team("Old")
            try root.save()
            try family.child.use { child in
                let new = child.team("New")
                new.scratch = 7
                try child.twin(of: saved).scratch = 8
                new.log = []
                try child.save()
                #expect(new.log == ["willSave", "validateForInsert", "didSave"] && new.scratch == 7)
            }
            let twin = try #require(root.insertedObjects.first as? ClubTeam)
            #expect(twin.name == "New" && twin.scratch == 7 && saved.scratch == 8 && twin.rating == 0.5)
        }
    }

    @Test func ordersAndManyToManyRelationshipsAreHandedOver() throws {
        let family = try ContextFamily()
        try family.root.use { root in
            let team = root.team()
            let fans = ["Ann", "Ben", "Cat"].map { root.make("Fan", ["name": $0]) }
            team.setValue(NSOrderedSet(array: fans), forKey: "fans")
            let (ada, pace) = (root.make("Player", ["name": "Ada"]), root.make("Skill", ["name": "pace"]))
            ada.setValue(NSSet(array: [pace]), forKey: "skills")
            try root.save()
            try family.child.use { child in
                let mine = try child.twin(of: team).mutableOrderedSetValue(forKey: "fans")
                mine.moveObjects(at: IndexSet(integer: 2), to: 0)
                mine.insert(child.make("Fan", ["name": "Dan"]), at: 1)
                // The parent adds to its list before the child saves.
                team.mutableOrderedSetValue(forKey: "fans").add(root.make("Fan", ["name": "Eve"]))
                let player = try child.twin(of: ada)
                player.setValue(NSSet(array: [child.make("Skill", ["name": "wit"])]), forKey: "skills")
                try child.save()
            }
            #expect(team.names("fans") == ["Cat", "Dan", "Ann", "Ben", "Eve"])
            #expect(ada.names("skills") == ["wit"] && pace.objects("players").isEmpty)
            try root.save()
        }
        try family.stack.context().use { fresh in
            let team = try #require(try fresh.fetch(NSFetchRequest<ClubTeam>(entityName: "Team")).first)
            #expect(team.names("fans") == ["Cat", "Dan", "Ann", "Ben", "Eve"])
        }
    }

    @Test func validationRunsInEachContextThatIsSaved() throws {
        let family = try ContextFamily()
        try family.child.use { child in
            let team = child.team("X")
            let error = #expect(throws: NSError.self) { try child.save() }
            #expect(error?.code == 1670 && family.root.insertedObjects.isEmpty)
            team.name = "Xerxes"
            try child.save()
        }
        try family.root.use { root in
            let twin = try #require(root.insertedObjects.first as? ClubTeam)
            twin.name = "Y"
            #expect(throws: NSError.self) { try root.save() }
        }
    }

    @Test func aRemoteSaveIsMergedIntoParentsFirst() throws {
        let family = try ContextFamily()
        let team = try family.root.use { root in
            let team = root.team()
            try root.save()
            return team
        }
        let twin = try family.child.use { try $0.twin(of: team) }
        try family.stack.context().use { other in
            try other.twin(of: team).wins = 6
            try other.save()
        }
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectIDsKey: [team.objectID]], into: [family.child, family.root])
        try family.child.use { _ in #expect(twin.wins == 6) }
    }

    @Test func aControllerFollowsAChild() throws {
        let family = try ContextFamily()
        try family.root.use { root in
            _ = root.team("Albion")
            try family.child.use { child in
                let request = NSFetchRequest<ClubTeam>(entityName: "Team")
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                let controller = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: child, sectionNameKeyPath: nil, cacheName: "nested")
                let delegate = CountingDelegate()
                controller.delegate = delegate
                try controller.performFetch()
                #expect(controller.fetchedObjects?.map(\.name) == ["Albion"])
                let team = child.team("Aston")
                child.processPendingChanges()
                #expect(controller.fetchedObjects?.map(\.name) == ["Albion", "Aston"] && delegate.changes == 1)
                try child.save()
                try root.save()
                team.name = "Aardvarks"
                child.processPendingChanges()
                #expect(controller.fetchedObjects?.map(\.name) == ["Aardvarks", "Albion"] && delegate.changes == 2)
            }
        }
    }

    private final class CountingDelegate: NSObject, NSFetchedResultsControllerDelegate {
        var changes = 0
        func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) { changes += 1 }
    }
}
