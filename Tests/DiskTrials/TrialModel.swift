import CSimulatedDisk
import CoreData
import Foundation

/// Teams with players and tags: a picture that may be stored in a file, a derived count, each kind of relationship.
enum TrialModel {
    static let first = make(isSecond: false)
    /// Teams have a rank, no picture and no number, and the name is called title.
    static let second = make(isSecond: true)

    private static func attribute(
        _ name: String, _ type: NSAttributeType, default value: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        attribute.defaultValue = value
        return attribute
    }

    private static func relationship(
        _ name: String, to entity: NSEntityDescription, isToMany: Bool, rule: NSDeleteRule = .nullifyDeleteRule
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = entity
        relationship.maxCount = isToMany ? 0 : 1
        relationship.deleteRule = rule
        relationship.isOptional = true
        return relationship
    }

    private static func make(isSecond: Bool) -> NSManagedObjectModel {
        let entities = ["Team", "Player", "Tag"].map { name in
            let entity = NSEntityDescription()
            entity.name = name
            return entity
        }
        let (team, player, tag) = (entities[0], entities[1], entities[2])
        let players = relationship("players", to: player, isToMany: true, rule: .cascadeDeleteRule)
        let toTeam = relationship("team", to: team, isToMany: false)
        let tags = relationship("tags", to: tag, isToMany: true)
        let teams = relationship("teams", to: team, isToMany: true)
        for (one, other) in [(players, toTeam), (tags, teams)] {
            one.inverseRelationship = other
            other.inverseRelationship = one
        }
        let count = NSDerivedAttributeDescription()
        count.name = "playerCount"
        count.attributeType = .integer64AttributeType
        count.isOptional = true
        count.derivationExpression = NSExpression(format: "players.@count")
        let picture = attribute("picture", .binaryDataAttributeType)
        picture.allowsExternalBinaryDataStorage = true
        let name = attribute(isSecond ? "title" : "name", .stringAttributeType)
        if isSecond { name.renamingIdentifier = "name" }
        let own =
            isSecond
            ? [attribute("rank", .integer64AttributeType, default: 7)]
            : [attribute("number", .integer64AttributeType), picture]
        team.properties = [name, count, players, tags] + own
        player.properties = [
            attribute("name", .stringAttributeType), attribute("goals", .integer64AttributeType), toTeam,
        ]
        tag.properties = [attribute("name", .stringAttributeType), teams]
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    /// A picture that contains its length and checksum.
    // SAFETY: The bytes are filled while they are held.
    static func picture(_ size: Int, seed: UInt64) -> Data {
        var data = Data(count: size)
        data.withUnsafeMutableBytes { bytes in
            fill_value(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, seed)
        }
        return data
    }

    // SAFETY: The bytes are read while they are held.
    static func isWhole(_ picture: Data) -> Bool {
        picture.withUnsafeBytes { value_is_whole($0.bindMemory(to: UInt8.self).baseAddress, $0.count) != 0 }
    }
}

/// A generator of numbers that depend only on the seed.
struct Dice: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func roll(_ sides: Int) -> Int { Int(next() % UInt64(sides)) }
}
