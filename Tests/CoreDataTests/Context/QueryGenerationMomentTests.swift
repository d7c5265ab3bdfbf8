import Foundation
import Testing

@testable import CoreData

/// From when on a pinned context sees a state, and what shows it.
@Suite struct QueryGenerationMomentTests {
    /// A league in a file, with a team `Ghana` that has won once.
    private struct World {
        let place: League.Place
        let coordinator: NSPersistentStoreCoordinator
        let id: NSManagedObjectID

        init(options: [AnyHashable: Any]? = nil) throws {
            place = try League.Place(.sqlite)
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: League.model())
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: place.url, options: options)
            id = try League.context(coordinator).use { context in
                let team = context.addTeam("Ghana", wins: 1)
                context.addVenue("Accra")
                try context.save()
                return team.objectID
            }
        }

        func pinned() throws -> NSManagedObjectContext {
            let context = League.context(coordinator)
            try context.use { try $0.setQueryGenerationFrom(.current) }
            return context
        }

        /// Another team, and another win for Ghana.
        func write(_ name: String) throws {
            try League.context(coordinator).use { context in
                context.addTeam(name)
                let ghana = try context.existingObject(with: id)
                ghana.setValue((ghana.value(forKey: "wins") as? Int ?? 0) + 1, forKey: "wins")
                try context.save()
            }
        }

        func names(_ context: NSManagedObjectContext) throws -> [String] {
            try context.names(League.request("Team", by: "name"))
        }
    }

    @Test func aStoreWithoutAWriteAheadLogShowsWhatIsNewest() throws {
        let world = try World(options: [NSSQLitePragmasOption: ["journal_mode": "delete"]])
        try world.pinned().use { context in
            #expect(try world.names(context) == ["Ghana"])
            try world.write("Togo")
            #expect(try world.names(context) == ["Ghana", "Togo"])
        }
    }

    @Test func registeredObjectsAreNotRefreshedByAnotherState() throws {
        let world = try World()
        try world.pinned().use { context in
            let ghana = try context.existingObject(with: world.id)
            #expect(ghana.value(forKey: "wins") as? Int == 1)
            try world.write("Togo")
            try context.setQueryGenerationFrom(.current)
            #expect(try context.names(League.request("Venue")) == ["Accra"])
            #expect(ghana.value(forKey: "wins") as? Int == 1)
            context.refreshAllObjects()
            #expect(ghana.value(forKey: "wins") as? Int == 2)
        }
    }

    @Test func theStateIsThatOfTheNextReading() throws {
        let world = try World()
        try world.pinned().use { context in
            try world.write("Togo")
            #expect(try world.names(context) == ["Ghana", "Togo"])
            try world.write("Mali")
            #expect(try world.names(context) == ["Ghana", "Togo"])
        }
    }
}
