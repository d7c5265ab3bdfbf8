import Foundation
import Testing

@testable import CoreData

/// Random batches, with what becomes of them reckoned beside, seen by a controller, by another context and by another process.
@Suite struct BatchReplayTests {
    private static let rounds = (ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) } ?? 1) * 60

    struct Team: Equatable {
        var zone: String
        var wins: Int
    }

    private static let zones = ["AFC", "CAF", "UEFA", "欧洲"]
    private static var options: [AnyHashable: Any] {
        [
            NSPersistentHistoryTrackingKey: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
        ]
    }

    /// One random batch, told to the store and to `teams`.
    ///
    /// - Returns: what to merge.
    private func play(
        _ random: inout some RandomNumberGenerator, _ context: NSManagedObjectContext, _ teams: inout [String: Team],
        _ number: Int
    ) throws -> [AnyHashable: Any] {
        let limit = Int.random(in: 0..<40, using: &random)
        let zone = Self.zones.randomElement(using: &random)!
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Team")
            fetch.predicate = NSPredicate(format: "zone == %@ AND wins < %ld", zone, limit)
            let request = NSBatchDeleteRequest(fetchRequest: fetch)
            request.resultType = .resultTypeObjectIDs
            let result = try context.execute(request) as? NSBatchDeleteResult
            let gone = teams.filter { $1.zone == zone && $1.wins < limit }
            for name in gone.keys { teams[name] = nil }
            let ids = try #require(result?.result as? [NSManagedObjectID])
            #expect(ids.count == gone.count)
            return [NSDeletedObjectsKey: ids]
        case 1:
            let request = NSBatchUpdateRequest(entityName: "Team")
            request.predicate = NSPredicate(format: "wins >= %ld", limit)
            request.resultType = .updatedObjectIDsResultType
            request.propertiesToUpdate = ["zone": zone, "wins": NSExpression(format: "modulus:by:(wins * 7 + 3, 40)")]
            let result = try context.execute(request) as? NSBatchUpdateResult
            for (name, team) in teams where team.wins >= limit {
                teams[name] = Team(zone: zone, wins: (team.wins * 7 + 3) % 40)
            }
            return [NSUpdatedObjectsKey: try #require(result?.result as? [NSManagedObjectID])]
        default:
            var rows: [[String: Any]] = []
            for place in 0..<Int.random(in: 0..<12, using: &random) {
                let name = "Team \(number)-\(place)"
                let zone = Self.zones.randomElement(using: &random)!
                let wins = Int.random(in: 0..<40, using: &random)
                teams[name] = Team(zone: zone, wins: wins)
                rows.append(["name": name, "zone": zone, "wins": wins])
            }
            let request = NSBatchInsertRequest(entityName: "Team", objects: rows)
            request.resultType = .objectIDs
            let result = try context.execute(request) as? NSBatchInsertResult
            return [NSInsertedObjectsKey: try #require(result?.result as? [NSManagedObjectID])]
        }
    }

    private func fetched(_ context: NSManagedObjectContext) throws -> [String: Team] {
        Dictionary(
            try context.fetch(League.request("Team")).map { object in
                let zone = object.value(forKey: "zone") as? String ?? ""
                return (
                    object.value(forKey: "name") as? String ?? "",
                    Team(zone: zone, wins: object.value(forKey: "wins") as? Int ?? -1)
                )
            }, uniquingKeysWith: { first, _ in first })
    }

    @Test(arguments: [1 as UInt64, 2, 3]) func everybodySeesWhatBatchesDid(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let place = try League.Place(.sqlite)
        let coordinator = try place.coordinator(Self.options)
        let other = try place.coordinator(Self.options)
        let writer = League.context(coordinator)
        let reader = League.context(coordinator)
        let follower = League.context(other)
        follower.automaticallyMergesChangesFromParent = true
        let recorder = Recorder()
        let controller = try reader.performAndWait {
            let controller = NSFetchedResultsController(
                fetchRequest: League.request("Team", NSPredicate(format: "wins > 5"), by: "zone", "wins", "name"),
                managedObjectContext: reader, sectionNameKeyPath: "zone", cacheName: nil)
            controller.delegate = recorder
            try controller.performFetch()
            recorder.load(controller)
            return controller
        }
        let held = try follower.performAndWait { try follower.fetch(League.request("Team")) }
        #expect(held.isEmpty)
        var teams: [String: Team] = [:]
        for number in 0..<Self.rounds {
            let changes = try writer.performAndWait { try play(&random, writer, &teams, number) }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [reader])
            let expected = teams
            try reader.performAndWait {
                reader.processPendingChanges()
                #expect(try fetched(reader) == expected, "round \(number)")
                let shown = (controller.fetchedObjects ?? []).map { $0.value(forKey: "name") as? String ?? "" }
                let fresh = try reader.names(
                    League.request("Team", NSPredicate(format: "wins > 5"), by: "zone", "wins", "name"))
                #expect(shown == fresh, "round \(number)")
                #expect(recorder.violations.isEmpty, "round \(number): \(recorder.violations)")
            }
        }
        let expected = teams
        #expect(try waits { try follower.performAndWait { try fetched(follower) == expected } })
    }
}
