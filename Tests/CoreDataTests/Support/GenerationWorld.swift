import Foundation

@testable import CoreData

/// A league in a file, with a team `Ghana` that has one win.
struct GenerationWorld {
    let place: League.Place
    let coordinator: NSPersistentStoreCoordinator
    let id: NSManagedObjectID

    init(_ kind: League.StoreKind = .sqlite, options: [AnyHashable: Any] = [:]) throws {
        place = try League.Place(kind)
        coordinator = try place.coordinator(options)
        id = try League.context(coordinator).use { context in
            let team = context.addTeam("Ghana", wins: 1)
            let venue = context.addVenue("Accra")
            team.setValue(venue, forKey: "venue")
            try context.save()
            return team.objectID
        }
    }

    func pinned() throws -> NSManagedObjectContext {
        let context = League.context(coordinator)
        try context.use { try $0.setQueryGenerationFrom(.current) }
        return context
    }

    /// Adds a team and a win for Ghana.
    func write(_ name: String, through coordinator: NSPersistentStoreCoordinator? = nil) throws {
        try League.context(coordinator ?? self.coordinator).use { context in
            context.addTeam(name)
            let ghana = try context.fetch(League.request("Team", NSPredicate(format: "name == 'Ghana'")))[0]
            ghana.setValue((ghana.value(forKey: "wins") as? Int ?? 0) + 1, forKey: "wins")
            try context.save()
        }
    }

    func names(_ context: NSManagedObjectContext) throws -> [String] {
        try context.names(League.request("Team", by: "name"))
    }
}
