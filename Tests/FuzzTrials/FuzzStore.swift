import CoreData
import Foundation

/// Teams with players and a venue: one attribute of each type and one relationship of each kind.
enum FuzzStore {
    static let model: NSManagedObjectModel = {
        let entities = ["Team", "Player", "Venue"].map { name in
            let entity = NSEntityDescription()
            entity.name = name
            return entity
        }
        let (team, player, venue) = (entities[0], entities[1], entities[2])
        let players = relationship("players", to: player, isToMany: true)
        let playersTeam = relationship("team", to: team, isToMany: false)
        let home = relationship("venue", to: venue, isToMany: false)
        let teams = relationship("teams", to: team, isToMany: true)
        let friends = relationship("friends", to: player, isToMany: true)
        let friendOf = relationship("friendOf", to: player, isToMany: true)
        teams.isOrdered = true
        for (one, other) in [(players, playersTeam), (home, teams), (friends, friendOf)] {
            one.inverseRelationship = other
            other.inverseRelationship = one
        }
        let kinds: [(String, NSAttributeType)] = [
            ("name", .stringAttributeType), ("wins", .integer64AttributeType), ("price", .decimalAttributeType),
            ("founded", .dateAttributeType), ("favorite", .booleanAttributeType), ("rating", .doubleAttributeType),
            ("code", .UUIDAttributeType), ("site", .URIAttributeType), ("badge", .binaryDataAttributeType),
            ("colors", .transformableAttributeType),
        ]
        team.properties = kinds.map { attribute($0.0, $0.1) } + [players, home]
        player.properties = [
            attribute("name", .stringAttributeType), attribute("goals", .integer16AttributeType), playersTeam, friends,
            friendOf,
        ]
        venue.properties = [attribute("city", .stringAttributeType), teams]
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }()

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }

    private static func relationship(
        _ name: String, to entity: NSEntityDescription, isToMany: Bool
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = entity
        relationship.maxCount = isToMany ? 0 : 1
        relationship.isOptional = true
        return relationship
    }

    /// Returns a context of a new coordinator with one store.
    static func context(
        of model: NSManagedObjectModel, type: NSPersistentStore.StoreType, at url: URL,
        options: [AnyHashable: Any] = [:]
    ) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: type, at: url, options: options)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Saves `count` teams, each with a player, who has a friend.
    static func fill(_ context: NSManagedObjectContext, count: Int) throws {
        try context.performAndWait {
            let venue = make("Venue", ["city": "Rome"], context)
            var last: NSManagedObject?
            for number in 0..<count {
                let team = make(
                    "Team",
                    [
                        "name": "Team \(number) é😀", "wins": number, "price": NSDecimalNumber(string: "\(number).25"),
                        "founded": Date(timeIntervalSinceReferenceDate: Double(number) * 86_400),
                        "favorite": number % 2 == 0,
                        "rating": Double(number) / 3, "code": UUID(),
                        "site": URL(string: "https://example.org/\(number)") as Any,
                        "badge": Data(repeating: UInt8(number & 255), count: 40),
                        "colors": ["red", "n\(number)"] as NSArray,
                        "venue": venue,
                    ], context)
                let player = make("Player", ["name": "Player \(number)", "goals": number, "team": team], context)
                if let last { player.setValue(NSSet(object: last), forKey: "friends") }
                last = player
            }
            try context.save()
        }
    }

    private static func make(
        _ entity: String, _ values: [String: Any], _ context: NSManagedObjectContext
    ) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValuesForKeys(values)
        return object
    }
}
