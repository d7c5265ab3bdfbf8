import CoreData
import Foundation

/// A coordinator with one store and one context.
final class Stack {
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext
    private var numbers = 0

    init(_ url: URL, _ model: NSManagedObjectModel, pragmas: [String: String], isReadOnly: Bool = false) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        var options: [AnyHashable: Any] = [
            NSPersistentHistoryTrackingKey: true, NSSQLitePragmasOption: pragmas,
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        if isReadOnly { options[NSReadOnlyPersistentStoreOption] = true }
        try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    }

    func close() throws {
        context.performAndWait { context.reset() }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    var isFirst: Bool { coordinator.managedObjectModel.entitiesByName["Team"]?.attributesByName["picture"] != nil }
    var nameKey: String { isFirst ? "name" : "title" }

    func all(_ entity: String) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.sortDescriptors = [NSSortDescriptor(key: entity == "Team" ? nameKey : "name", ascending: true)]
        return try context.fetch(request)
    }

    func make(_ entity: String, _ name: String) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(name, forKey: entity == "Team" ? nameKey : "name")
        return object
    }

    @discardableResult
    func makeTeam(_ name: String, players: Int, pictureSize: Int = 0, seed: UInt64 = 0) -> NSManagedObject {
        let team = make("Team", name)
        for number in 0..<players {
            let player = make("Player", "\(name)-\(number)")
            player.setValue(number, forKey: "goals")
            player.setValue(team, forKey: "team")
        }
        if isFirst {
            team.setValue(players, forKey: "number")
            if pictureSize > 0 { team.setValue(TrialModel.picture(pictureSize, seed: seed), forKey: "picture") }
        }
        return team
    }

    /// Checks what only the framework can check: both sides of relationships, derived counts and pictures.
    ///
    /// - Returns: The first error found; nil if all is well.
    func check() throws -> String? {
        try context.performAndWait {
            for team in try all("Team") {
                let name = team.value(forKey: nameKey) as? String ?? "nil"
                let players = team.value(forKey: "players") as? Set<NSManagedObject> ?? []
                if players.contains(where: { $0.value(forKey: "team") as? NSManagedObject !== team }) {
                    return "a player of \(name) knows another team"
                }
                if team.value(forKey: "playerCount") as? Int ?? 0 != players.count {
                    return "\(name) counts \(team.value(forKey: "playerCount") ?? "nil") of \(players.count) players"
                }
                for tag in team.value(forKey: "tags") as? Set<NSManagedObject> ?? []
                where (tag.value(forKey: "teams") as? Set<NSManagedObject>)?.contains(team) != true {
                    return "a tag does not know \(name)"
                }
                guard isFirst else { continue }
                let picture = team.value(forKey: "picture") as? Data
                if let picture, !TrialModel.isWhole(picture) { return "the picture of \(name) is not whole" }
            }
            for player in try all("Player") {
                guard let team = player.value(forKey: "team") as? NSManagedObject else { continue }
                if (team.value(forKey: "players") as? Set<NSManagedObject>)?.contains(player) != true {
                    return "a team does not know its player"
                }
            }
            let history = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
            guard (history as? NSPersistentHistoryResult)?.result != nil else { return "no history" }
            return nil
        }
    }
}
