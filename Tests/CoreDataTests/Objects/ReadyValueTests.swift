import Foundation
import Observation
import Testing

@testable import CoreData

/// Values that typed accessors read from their cached slot: which values these are, and that they equal those of a full
/// lookup.
@Suite struct ReadyValueTests {
    /// Reads with a lookup, which caches the slot, and reads again.
    private func expectRead<Value: ManagedPropertyValue & Equatable>(
        _ object: NSManagedObject, _ name: StaticString, _ wanted: Value, isReady: Bool,
        _ location: SourceLocation = #_sourceLocation
    ) {
        for _ in 1...2 { #expect(object[managed: name] as Value == wanted, sourceLocation: location) }
        let ready = Value.readyValue(of: object, ManagedProperty(name))
        #expect(ready == (isReady ? wanted : nil), sourceLocation: location)
    }

    private func withSavedTeam(_ body: (NSManagedObjectContext, ClubTeam) throws -> Void) throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            team.wins = 7
            team.name = "Ghana"
            team.rating = 2.5
            team.favorite = true
            team.founded = Date(timeIntervalSinceReferenceDate: 9)
            team.setValue(URL(string: "http://example.org"), forKey: "site")
            try context.save()
            context.refresh(team, mergeChanges: false)
            _ = team.wins
            try body(context, team)
        }
    }

    @Test func valuesOfEveryKindThatFits() throws {
        try withSavedTeam { _, team in
            expectRead(team, "wins", Int16(7), isReady: true)
            expectRead(team, "wins", Int64(7), isReady: true)
            expectRead(team, "wins", Int32?.some(7), isReady: true)
            expectRead(team, "favorite", true, isReady: true)
            expectRead(team, "name", "Ghana", isReady: true)
            expectRead(team, "name", String?.some("Ghana"), isReady: true)
            expectRead(team, "rating", 2.5, isReady: true)
            expectRead(team, "rating", Float(2.5), isReady: true)
            expectRead(team, "founded", Date(timeIntervalSinceReferenceDate: 9), isReady: true)
            expectRead(team, "code", "", isReady: true)
            expectRead(team, "code", String?.none, isReady: true)
            expectRead(team, "site", "http://example.org", isReady: true)
            expectRead(team, "scratch", Int32(42), isReady: true)
        }
    }

    @Test func valuesOfAnotherKindNeedALookup() throws {
        try withSavedTeam { _, team in
            expectRead(team, "wins", 7.0, isReady: false)
            expectRead(team, "wins", Decimal(7), isReady: false)
            expectRead(team, "rating", 2, isReady: false)
            expectRead(team, "site", URL(string: "http://example.org"), isReady: false)
        }
    }

    @Test func onlyObjectsWithTheirRowAndNoChangesAreReady() throws {
        try withSavedTeam { context, team in
            let player = context.make("Player", ["name": "Essien", "team": team])
            expectRead(player, "name", "Essien", isReady: false)
            try context.save()
            context.refresh(player, mergeChanges: false)
            #expect(ManagedProperty("name").isReady(in: player) == false)
            _ = player.value(forKey: "name")
            expectRead(player, "name", "Essien", isReady: true)
            #expect(player.mutableSetValue(forKey: "skills").count == 0)
            expectRead(player, "name", "Essien", isReady: true)
            player.setValue("Appiah", forKey: "name")
            expectRead(player, "name", "Appiah", isReady: false)
            context.rollback()
            expectRead(player, "name", "Essien", isReady: true)
        }
    }

    /// The name is one constant of the program for all entities.
    @Test func entitiesKeepTheirPlacesApart() throws {
        try ClubStack().contextKeepingStack().use { context in
            let names = ["Player": "Essien", "Coach": "Appiah", "Fan": "Ama", "Venue": "Accra"]
            let objects = names.map { context.make($0, ["name": $1]) }
            try context.save()
            for object in objects { context.refresh(object, mergeChanges: false) }
            for object in objects + objects {
                _ = object.value(forKey: "name")
                expectRead(object, "name", names[object.entity.name ?? ""] ?? "", isReady: true)
            }
        }
    }

    @Test func aNumberIsCutToTheAccessorsSize() throws {
        try ClubStack().contextKeepingStack().use { context in
            let venue = context.make("Venue", ["name": "Accra", "capacity": 70_000])
            expectRead(venue, "capacity", Int16(truncatingIfNeeded: 70_000), isReady: false)
            try context.save()
            context.refresh(venue, mergeChanges: false)
            _ = venue.value(forKey: "capacity")
            expectRead(venue, "capacity", Int16(truncatingIfNeeded: 70_000), isReady: true)
        }
    }

    @Test func anObservedObjectIsNotReady() throws {
        try ClubStack().contextKeepingStack().use { context in
            let fan = context.make("Fan", ["name": "Ama"])
            try context.save()
            context.refresh(fan, mergeChanges: false)
            _ = fan.value(forKey: "name")
            expectRead(fan, "name", "Ama", isReady: true)
            withObservationTracking {
                #expect(!ManagedProperty("name").isReady(in: fan))
                _ = fan.value(forKey: "name")
            } onChange: {
            }
            expectRead(fan, "name", "Ama", isReady: false)
        }
    }
}

extension ManagedProperty {
    fileprivate func isReady(in object: NSManagedObject) -> Bool { String.readyValue(of: object, self) != nil }
}
