import Foundation
import Testing

@testable import CoreData

/// Object IDs, before and after they are permanent.
@Suite struct IdentityTests {
    @Test func theTemporaryIDIsReplacedByTheSave() throws {
        let stack = try ClubStack()
        try stack.context().use { context in
            let team = context.team()
            let temporary = team.objectID
            #expect(
                temporary.isTemporaryID
                    && temporary.uriRepresentation().absoluteString.hasPrefix("x-coredata:///Team/t"))
            try context.save()
            let permanent = team.objectID
            #expect(!permanent.isTemporaryID && permanent != temporary)
            #expect(permanent.uriRepresentation().absoluteString.contains("/Team/p"))
            #expect(context.registeredObject(for: temporary) === team, "understood where it was made")
            try stack.context().use { other in
                #expect(other.registeredObject(for: temporary) == nil)
                let found = try other.existingObject(with: temporary)
                #expect(found.objectID == permanent, "it leads to the permanent one")
            }
        }
    }

    @Test func anObjectWithAPermanentIDIsStillNew() throws {
        let stack = try ClubStack()
        try stack.context().use { context in
            let team = context.team()
            try context.obtainPermanentIDs(for: [team])
            #expect(!team.objectID.isTemporaryID && team.isInserted && context.insertedObjects == [team])
            #expect(try stack.context().use { try $0.count(for: NSFetchRequest<ClubTeam>(entityName: "Team")) } == 0)
            let id = team.objectID
            try context.save()
            #expect(team.objectID == id && !team.isInserted)
        }
    }

    @Test func anObjectEqualsOnlyItselfInAnyCollection() throws {
        let stack = try ClubStack()
        try stack.context().use { context in
            let venues = (context.make("Venue", ["name": "One"]), context.make("Venue", ["name": "One"]))
            try context.save()
            func check(_ one: NSObject, _ others: [Any?]) {
                for same: Any in [one, AnyHashable(one), Optional(one) as Any] { #expect(one.isEqual(same)) }
                for other in others { #expect(!one.isEqual(other)) }
            }
            let (one, other) = (venues.0.objectID, venues.1.objectID)
            check(venues.0, [nil, venues.1, context.team(), one, "One", 7])
            check(one, [nil, other, venues.0, one.uriRepresentation(), 1])
            #expect(one.isEqual(NSManagedObjectID(one.family, reference: one.rowKey?.reference ?? 0)))
            #expect(Set(held: [venues.0, venues.1, venues.0]) == [venues.1, venues.0])
            #expect(Set(held: [one, other, one]) == [other, one])
        }
    }

    /// Cached data of accessors does not retain entities.
    @Test func entitiesGoAwayThoughAccessorsWereUsed() throws {
        weak var layout: EntityLayout?
        func use() throws {
            let stack = try ClubStack(model: try #require(Club.model.copy() as? NSManagedObjectModel))
            try stack.context().use { context in
                let team = context.team()
                team.wins = 3
                #expect(team.wins == 3)
                layout = team.layout
            }
            for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
        }
        try use()
        #expect(layout == nil)
    }

    @Test func equalIDsMeanTheSameRowInEveryStack() throws {
        let stack = try ClubStack()
        let id = try stack.context().use { context in
            let team = context.team()
            try context.save()
            return team.objectID
        }
        let second = NSPersistentStoreCoordinator(managedObjectModel: Club.model)
        try second.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: stack.storeURL)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = second
        try context.use { context in
            let team = try context.existingObject(with: id)
            #expect(team.objectID == id && team.objectID.hash == id.hash && team.objectID !== id)
            #expect(Set([id, team.objectID]).count == 1)
            #expect(second.managedObjectID(forURIRepresentation: id.uriRepresentation()) == id)
            let nowhere = URL(string: "x-coredata://\(UUID().uuidString)/Team/p1")!
            #expect(second.managedObjectID(forURIRepresentation: nowhere) == nil, "no store has that UUID")
            let absent = try #require(
                second.managedObjectID(
                    forURIRepresentation: id.uriRepresentation().deletingLastPathComponent().appendingPathComponent(
                        "p99999")))
            #expect(absent != id, "whether there is such a row is not looked at")
        }
    }

    @Test func aNewObjectGoesWhereItIsAssigned() throws {
        let stack = try ClubStack()
        let second = try stack.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: stack.folder.appendingPathComponent("second.sqlite"))
        try stack.context().use { context in
            let (here, there) = (context.make("Fan"), context.make("Fan"))
            context.assign(there, to: second)
            try context.save()
            #expect(here.objectID.persistentStore === stack.coordinator.persistentStores.first)
            #expect(there.objectID.persistentStore === second)
        }
    }
}
