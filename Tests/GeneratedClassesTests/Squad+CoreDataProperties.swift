//
//  Squad+CoreDataProperties.swift
//

public import CoreData

extension Squad {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Squad> {
        return NSFetchRequest<Squad>(entityName: "Squad")
    }

    @Managed public var active: Bool
    @Managed public var address: [String: Any]?
    @Managed public var badge: Data?
    @Managed public var budget: NSDecimalNumber?
    @Managed public var colors: [String]?
    @Managed public var `default`: Bool
    @Managed public var draws: NSNumber?
    @Managed public var extra: Any?
    @Managed public var fee: Decimal
    @Managed public var flags: SquadFlags
    @Managed public var founded: Date?
    @Managed public var kind: SquadKind
    @Managed var mood: SquadMood?
    @Managed public var name: String?
    @Managed public var opening: TimeInterval
    @Managed public var points: Int64
    @Managed public internal(set) var ratio: Double
    @Managed public var share: Float
    @Managed public var site: URL?
    @Managed public var stage: SquadStage
    /// Preceded by documentation and another attribute.
    @available(*, deprecated, message: "a token, with a \"quote\" and a ) in its text")
    @Managed public var token: UUID?  // and a comment: behind it
    @Managed
    public final var wins: Int32
    @Managed var x: Int16
    @Managed public var captain: (any Athlete)?
    @Managed public var coach: Trainer?
    @Managed public var players: NSSet?
    @Managed public var ranking: NSOrderedSet?
    @Managed public var rivals: Set<Squad>

    // Primitive values.
    @Managed var primitiveFounded: Date?
    @Managed var primitiveName: String?
    @Managed var primitiveWins: Int32
    @Managed var primitiveKind: SquadKind
    @Managed var primitiveMood: SquadMood?
    @Managed var primitivePlayers: NSMutableSet
    @Managed fileprivate var primitiveColors: [String]

    var primitiveColorCount: Int { primitiveColors.count }
}

// MARK: Generated accessors for players
extension Squad {

    @ManagedMethod public func addToPlayers(_ value: Member)

    @ManagedMethod public func removeFromPlayers(_ value: Member)

    @ManagedMethod public func addToPlayers(_ values: NSSet)

    @ManagedMethod public func removeFromPlayers(_ values: NSSet)

    @ManagedMethod func addToRivals(_ values: Set<Squad>)

    @ManagedMethod func removeRivals(_ values: Set<Squad>)

    @ManagedMethod func addRivalsObject(_ value: Squad)

}

// MARK: Generated accessors for ranking
extension Squad {

    @ManagedMethod public func insertIntoRanking(_ value: Member, at idx: Int)

    @ManagedMethod public func removeFromRanking(at idx: Int)

    @ManagedMethod public func insertIntoRanking(_ values: [Member], at indexes: NSIndexSet)

    @ManagedMethod public func removeFromRanking(at indexes: NSIndexSet)

    @ManagedMethod public func replaceRanking(at idx: Int, with value: Member)

    @ManagedMethod public func replaceRanking(at indexes: NSIndexSet, with values: [Member])

    @ManagedMethod public func addToRanking(_ value: Member)

    @ManagedMethod public func removeFromRanking(_ value: Member)

    @ManagedMethod public func addToRanking(_ values: NSOrderedSet)

    @ManagedMethod public func removeFromRanking(_ values: NSOrderedSet)

}

extension Squad: Identifiable {

}
