import Foundation

@testable import CoreData

/// A small model for tests, and stacks with it.
enum League {
    /// `Team` (name, zone, wins, note; venue → Venue, rivals ⇄ Team) with subentities `ClubTeam` and `NationalTeam`,
    /// and `Venue` (name, city, teams ← Team).
    static func model(teamHashModifier: String? = nil) -> NSManagedObjectModel {
        let team = entity("Team", [("name", .stringAttributeType), ("zone", .stringAttributeType)])
        let wins = NSAttributeDescription()
        wins.name = "wins"
        wins.attributeType = .integer32AttributeType
        wins.defaultValue = 0
        team.properties += [wins]
        team.versionHashModifier = teamHashModifier
        let venue = entity("Venue", [("name", .stringAttributeType), ("city", .stringAttributeType)])
        let home = relationship("venue", to: venue, many: false)
        let teams = relationship("teams", to: team, many: true)
        home.inverseRelationship = teams
        teams.inverseRelationship = home
        let rivals = relationship("rivals", to: team, many: true)
        rivals.inverseRelationship = rivals
        team.properties += [home, rivals]
        venue.properties += [teams]
        let club = entity("ClubTeam", [("owner", .stringAttributeType)])
        team.subentities = [club]
        let model = NSManagedObjectModel()
        model.entities = [team, venue, club]
        return model
    }

    private static func entity(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = attributes.map { name, type in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            return attribute
        }
        return entity
    }

    private static func relationship(
        _ name: String, to destination: NSEntityDescription, many: Bool
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.minCount = 0
        relationship.maxCount = many ? 0 : 1
        relationship.deleteRule = .nullifyDeleteRule
        return relationship
    }

    /// A coordinator with one ``MemoryStore``. Coordinators with the same URL represent processes on one file.
    static func memoryStack(
        at url: URL = URL(fileURLWithPath: "/memory/\(UUID().uuidString)"), options: [AnyHashable: Any]? = nil
    ) throws -> (coordinator: NSPersistentStoreCoordinator, store: MemoryStore) {
        MemoryStore.register()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        let store = try coordinator.addPersistentStore(
            ofType: MemoryStore.storeType, configurationName: nil, at: url, options: options)
        return (coordinator, store as! MemoryStore)
    }

    /// Store of a test: the test store, which evaluates nothing itself, or SQLite, which evaluates almost everything.
    enum StoreKind: CaseIterable { case memory, sqlite }

    /// A location that stores of one test share, removed with its last reference.
    final class Place {
        let url: URL
        private let kind: StoreKind

        init(_ kind: StoreKind) throws {
            self.kind = kind
            let name = "League-\(UUID().uuidString)"
            guard kind == .sqlite else {
                url = URL(fileURLWithPath: "/memory/\(name)")
                return
            }
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(name)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            url = folder.appendingPathComponent("league.sqlite")
        }

        deinit { if kind == .sqlite { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) } }

        /// A coordinator on this location. Several of them represent several processes.
        func coordinator(
            _ options: [AnyHashable: Any] = [:], pace: RemoteChangeWatcher.Pace = .init()
        ) throws -> NSPersistentStoreCoordinator {
            MemoryStore.register()
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
            coordinator.remoteChanges.pace = pace
            try coordinator.addPersistentStore(
                ofType: kind == .memory ? MemoryStore.storeType : NSSQLiteStoreType, configurationName: nil, at: url,
                options: options)
            return coordinator
        }
    }

    /// A context with its own queue.
    static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    static func request(_ entity: String, _ predicate: NSPredicate? = nil, by keys: String...) -> NSFetchRequest<
        NSManagedObject
    > {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = predicate
        request.sortDescriptors = keys.map { key in
            key.hasPrefix("-")
                ? NSSortDescriptor(key: String(key.dropFirst()), ascending: false)
                : NSSortDescriptor(key: key, ascending: true)
        }
        return request
    }
}

extension NSManagedObjectContext {
    @discardableResult
    func addTeam(
        _ name: String, zone: String = "UEFA", wins: Int = 0, entity: String = "Team"
    ) -> NSManagedObject {
        let team = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        team.setValue(name, forKey: "name")
        team.setValue(zone, forKey: "zone")
        team.setValue(wins, forKey: "wins")
        return team
    }

    @discardableResult
    func addVenue(_ name: String, city: String = "") -> NSManagedObject {
        let venue = NSEntityDescription.insertNewObject(forEntityName: "Venue", into: self)
        venue.setValue(name, forKey: "name")
        venue.setValue(city, forKey: "city")
        return venue
    }

    func names(_ request: NSFetchRequest<NSManagedObject>) throws -> [String] {
        try fetch(request).map { $0.value(forKey: "name") as? String ?? "-" }
    }
}
