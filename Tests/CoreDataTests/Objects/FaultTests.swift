import Foundation
import Testing

@testable import CoreData

/// Faults: objects and relationships that are read on first access.
@Suite struct FaultTests {
    /// A saved team with two players, in a context that has not read it.
    private func withSavedTeam(
        _ body: (ClubStack, NSManagedObjectContext, NSManagedObjectID) throws -> Void
    ) throws {
        let stack = try ClubStack()
        let id = try stack.context().use { context in
            let team = context.team()
            for name in ["Ada", "Bob"] { _ = context.make("Player", ["name": name, "team": team]) }
            team.setValue(team.players.first, forKey: "captain")
            try context.save()
            return team.objectID
        }
        try stack.context().use { try body(stack, $0, id) }
    }

    @Test func aFaultIsUniqueInItsContext() throws {
        try withSavedTeam { _, context, id in
            let team = context.object(with: id)
            #expect(context.object(with: id) === team && context.registeredObject(for: id) === team && team.isFault)
            let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team"))
            #expect(found.first === team)
            #expect(try context.existingObject(with: id) === team && !team.isFault)
        }
    }

    @Test func relationshipsAreFaultsOfTheirOwn() throws {
        try withSavedTeam { _, context, id in
            let team = context.object(with: id)
            _ = team.value(forKey: "name")
            #expect(team.hasFault(forRelationshipNamed: "players") && team.hasFault(forRelationshipNamed: "captain"))
            let captain = try #require(team.object("captain"))
            #expect(captain.isFault, "its ID is enough")
            _ = captain.value(forKey: "name")
            #expect(!team.hasFault(forRelationshipNamed: "captain"))
            #expect(team.objects("players").count == 2 && !team.hasFault(forRelationshipNamed: "players"))
            #expect(team.objects("players").contains(captain))
        }
    }

    @Test func aSetToChangeIsReadWhenItIsLookedAt() throws {
        try withSavedTeam { _, context, _ in
            let team = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team")).first)
            let players = team.mutableSetValue(forKey: "players")
            #expect(team.hasFault(forRelationshipNamed: "players"))
            #expect(players.count == 2)
            #expect(!team.hasFault(forRelationshipNamed: "players"))
            context.refresh(team, mergeChanges: false)
            #expect(team.hasFault(forRelationshipNamed: "players"))
            _ = team.value(forKey: "players")
            #expect(!team.hasFault(forRelationshipNamed: "players"), "reads at once")
        }
    }

    @Test func aFetchNeverOverwritesValuesThatWereRead() throws {
        try withSavedTeam { stack, context, id in
            let team = try #require(context.object(with: id) as? ClubTeam)
            #expect(team.wins == 0)
            team.name = "Changed"
            try stack.context().use { other in
                try other.existingObject(with: id).setValue(8, forKey: "wins")
                try other.save()
            }
            _ = try context.fetch(NSFetchRequest<ClubTeam>(entityName: "Team"))
            #expect(team.wins == 0 && team.name == "Changed")
            context.refresh(team, mergeChanges: true)
            #expect(team.wins == 8 && team.name == "Changed")
        }
    }

    @Test func refreshingWithMergeKeepsTransientValues() throws {
        try withSavedTeam { _, context, id in
            let team = try #require(context.object(with: id) as? ClubTeam)
            #expect(team.scratch == 42, "set while it awoke")
            context.refresh(team, mergeChanges: true)
            #expect(!team.isFault && team.scratch == 42)
            team.scratch = 7
            context.refresh(team, mergeChanges: true)
            #expect(team.scratch == 7)
            context.refreshAllObjects()
            #expect(team.scratch == 42, "dropped, and made anew")
            team.scratch = 7
            context.refresh(team, mergeChanges: false)
            #expect(team.scratch == 42, "dropped, and made anew")
        }
    }

    @Test func refreshingReleasesTheNeighbours() throws {
        try withSavedTeam { _, context, id in
            weak var player: NSManagedObject?
            let team = context.object(with: id)
            player = team.objects("players").first
            #expect(player?.value(forKey: "name") != nil)
            context.refresh(team, mergeChanges: false)
            context.processPendingChanges()
            #expect(context.registeredObjects == [team] && player == nil)
        }
    }

    @Test func anObjectOfADeletedRowHasNoValues() throws {
        try withSavedTeam { stack, context, id in
            let team = try #require(context.object(with: id) as? ClubTeam)
            try stack.context().use { other in
                other.delete(try other.existingObject(with: id))
                try other.save()
            }
            #expect(team.value(forKey: "name") == nil && team.wins == 0 && team.isDeleted)
            #expect(context.deletedObjects == [team])
            try context.save()
            #expect(!context.hasChanges && team.managedObjectContext == nil, "and is not validated")
        }
    }

    @Test func thePropertyThatMissedItsRowIsAskedAbout() throws {
        final class Asking: NSManagedObjectContext, @unchecked Sendable {
            var asked: [NSManagedObjectID] = []
            var properties: [String?] = []
            override func shouldHandleInaccessibleFault(
                _ fault: NSManagedObject, for oid: NSManagedObjectID,
                triggeredByProperty property: NSPropertyDescription?
            ) -> Bool {
                asked.append(oid)
                properties.append(property?.name)
                return true
            }
        }
        try withSavedTeam { stack, first, id in
            try first.use { context in
                context.delete(try context.existingObject(with: id))
                try context.save()
            }
            let context = Asking(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = stack.coordinator
            try context.use { _ in
                #expect(context.object(with: id).value(forKey: "name") == nil && context.asked == [id])
                #expect(context.properties == ["name"])
            }
        }
    }

    @Test func changedAndLockedObjectsAreHeld() throws {
        try withSavedTeam { _, context, id in
            try (context.existingObject(with: id) as? ClubTeam)?.wins = 3
            let players = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Player")).map(\.objectID)
            context.detectConflicts(for: try context.existingObject(with: players[0]))
            context.processPendingChanges()
            #expect(Set(context.registeredObjects.map(\.objectID)).isSuperset(of: [id, players[0]]))
            #expect((context.registeredObject(for: id) as? ClubTeam)?.wins == 3)
        }
    }

    @Test func prefetchedRelationshipsAreNotFaults() throws {
        try withSavedTeam { _, context, _ in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            request.relationshipKeyPathsForPrefetching = ["players", "captain"]
            let team = try #require(try context.fetch(request).first)
            #expect(!team.hasFault(forRelationshipNamed: "players"))
            context.refreshAllObjects()
            #expect(team.hasFault(forRelationshipNamed: "players"), "until they are refreshed")
            #expect(team.objects("players").count == 2)
        }
    }
}
