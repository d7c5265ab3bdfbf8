import Foundation
import Observation
import Synchronization
import Testing

@testable import CoreData

/// Managed objects in Swift's Observation: an observer is notified once, before the change.
@Suite struct ObjectObservationTests {
    private final class Told: Sendable {
        let times = Atomic(0)
        var count: Int { times.load(ordering: .relaxed) }
    }

    private func track(_ read: () -> Void) -> Told {
        let told = Told()
        withObservationTracking(read) { told.times.add(1, ordering: .relaxed) }
        return told
    }

    private func withTeam(_ body: (NSManagedObjectContext, ClubTeam) throws -> Void) throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            try context.save()
            try body(context, team)
        }
    }

    @Test func everyWayToReadIsTracked() throws {
        try withTeam { context, team in
            let ways: [() -> Void] = [
                { _ = team.wins }, { _ = team.value(forKey: "wins") }, { _ = team["wins"] },
                { _ = team.value(forKeyPath: "wins") }, { team.willAccessValue(forKey: "wins") },
            ]
            for (index, way) in ways.enumerated() {
                let told = track(way)
                team.name = "Other"
                #expect(told.count == 0, "way \(index): another property is not a matter")
                team.wins += 1
                #expect(told.count == 1, "way \(index)")
                team.wins += 1
                #expect(told.count == 1, "way \(index): once")
            }
        }
    }

    /// A property that was read before is read without a lookup, while others in the context may be observed already.
    @Test func repeatedReadsAreTracked() throws {
        let ways: [(read: (ClubTeam) -> Void, set: (ClubTeam) -> Void)] = [
            ({ _ = $0.wins }, { $0.wins += 1 }), ({ _ = $0.name }, { $0.name += "!" }),
            ({ _ = $0.rating }, { $0.rating += 1 }), ({ _ = $0.founded }, { $0.founded = Date() }),
        ]
        for index in ways.indices {
            try withTeam { context, _ in
                _ = context.team()
                try context.save()
                context.reset()
                let teams = try context.fetch(NSFetchRequest<ClubTeam>(entityName: "Team"))
                for way in ways { for team in teams + teams { way.read(team) } }
                let told = teams.map { team in track { ways[index].read(team) } }
                for other in ways.indices where other != index { teams.forEach(ways[other].set) }
                #expect(told.map(\.count) == [0, 0], "way \(index): other properties are no matter")
                teams.forEach(ways[index].set)
                #expect(told.map(\.count) == [1, 1], "way \(index)")
            }
        }
    }

    @Test func everyWayToSetIsObserved() throws {
        try withTeam { context, team in
            context.undoManager = UndoManager()
            let ways: [(String, () -> Void)] = [
                ("set", { team.wins += 1 }), ("value", { team.setValue(7, forKey: "wins") }),
                ("undo", { context.undo() }), ("redo", { context.redo() }),
                (
                    "accessor",
                    {
                        team.willChangeValue(forKey: "wins")
                        team.setPrimitiveValue(9, forKey: "wins")
                        team.didChangeValue(forKey: "wins")
                    }
                ),
                ("rollback", { context.rollback() }), ("fault", { context.refresh(team, mergeChanges: false) }),
            ]
            for (name, way) in ways {
                let told = track { _ = team.wins }
                way()
                #expect(told.count == 1, "\(name)")
                context.processPendingChanges()
            }
            let told = track { _ = team.wins }
            team.setPrimitiveValue(11, forKey: "wins")
            #expect(told.count == 0, "primitive values have no hooks")
        }
    }

    @Test func observersAreNotifiedBeforeTheChange() throws {
        try withTeam { _, team in
            let seen = Mutex<[Int16]>([])
            nonisolated(unsafe) let object = team
            withObservationTracking {
                _ = object.wins
            } onChange: {
                seen.withLock { $0.append(object.wins) }
            }
            team.wins = 5
            #expect(seen.withLock { $0 } == [0])
        }
    }

    @Test func bothEndsOfARelationshipAreObserved() throws {
        try withTeam { context, team in
            let player = context.make("Player", ["name": "Ada"])
            let fan = context.make("Fan", ["name": "Dot"])
            let players = track { _ = team.players }
            let owner = track { _ = player.value(forKey: "team") }
            player.setValue(team, forKey: "team")
            #expect(players.count == 1 && owner.count == 1)
            let fans = track { _ = team.fans?.count }
            team.mutableOrderedSetValue(forKey: "fans").add(fan)
            #expect(fans.count == 1)
            let more = track { _ = team.objects("players") }
            context.delete(player)
            context.processPendingChanges()
            #expect(more.count == 1, "the delete rule takes it out")
        }
    }

    @Test func mergesAndRefreshesAreObserved() throws {
        let stack = try ClubStack()
        let (mine, other) = (stack.context(), stack.context())
        let team = try mine.use { context in
            let team = context.team()
            try context.save()
            return team
        }
        func changeElsewhere() throws {
            try other.use { context in
                let twin = try #require(try context.existingObject(with: team.objectID) as? ClubTeam)
                context.refresh(twin, mergeChanges: false)
                twin.wins += 1
                _ = context.make("Player", ["name": "Bob", "team": twin])
                try context.save()
            }
        }
        try mine.use { context in
            _ = team.players
            let (name, wins) = (track { _ = team.name }, track { _ = team.wins })
            try changeElsewhere()
            #expect(wins.count == 0)
            team.scratch = 1
            context.refresh(team, mergeChanges: true)
            #expect(wins.count == 1 && name.count == 0 && team.wins == 1, "only what differs")
            let players = track { _ = team.players }
            let notices = Notices(other, [.NSManagedObjectContextDidSave])
            try changeElsewhere()
            let again = track { _ = team.wins }
            for notice in notices.take() { context.mergeChanges(fromContextDidSave: notice) }
            #expect(again.count == 1 && players.count == 1)
            #expect(team.wins == 2 && team.players.count == 2)
        }
    }

    @Test func aTrackerOfAVanishedObjectIsLetGo() throws {
        final class Token: Sendable {}
        weak var lost: Token?
        let stack = try ClubStack()
        try stack.context().use { context in
            let other = context.team("Other")
            try context.save()
            func observe() throws {
                let token = Token()
                lost = token
                let team = context.team()
                withObservationTracking {
                    _ = team.wins
                } onChange: {
                    _ = token
                }
                context.delete(team)
                context.processPendingChanges()
            }
            try observe()
            #expect(lost == nil)
            let told = track { _ = other.wins }
            other.wins = 3
            #expect(told.count == 1)
        }
    }

    @Test func withoutTrackingNothingIsKept() throws {
        try withTeam { context, team in
            let probe = ObjectIdentifier(context.faults.handle.readProbe)
            for _ in 0..<100 { _ = team.wins }
            #expect(ObjectIdentifier(context.faults.handle.readProbe) == probe && !team.flags.contains(.observed))
        }
    }
}
