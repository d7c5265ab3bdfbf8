import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Random batches with precomputed results, observed by a controller, by another context, and by another stack on the
/// file with its own controller. (`BatchWatchTests` observes such batches in another process.)
///
/// `ROSTER_LONG_TESTS=n` runs n times 1,000 batches, a third of them with each seed.
@Suite struct BatchReplayTests {
    private static let rounds =
        ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }.map { $0 * 1_000 / 3 + 1 } ?? 60

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

    /// Executes one random batch in the store and applies it to `teams`.
    ///
    /// - Returns: the changes to merge.
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

    /// A list of teams in a context, and its delegate's record.
    private struct Listing {
        static var request: NSFetchRequest<NSManagedObject> {
            League.request("Team", NSPredicate(format: "wins > 5"), by: "zone", "wins", "name")
        }

        let controller: NSFetchedResultsController<NSManagedObject>
        let recorder = Recorder()

        init(_ context: NSManagedObjectContext) throws {
            controller = NSFetchedResultsController(
                fetchRequest: Self.request, managedObjectContext: context, sectionNameKeyPath: "zone", cacheName: nil)
            controller.delegate = recorder
            try controller.performFetch()
            recorder.load(controller)
        }

        var names: [String] { (controller.fetchedObjects ?? []).map { $0.value(forKey: "name") as? String ?? "" } }
        /// The names by section, as in the controller.
        var sections: [String: [String]] {
            let pairs = (controller.sections ?? []).map { section in
                (
                    section.name,
                    (section.objects ?? []).map { ($0 as? NSManagedObject)?.value(forKey: "name") as? String ?? "" }
                )
            }
            return Dictionary(pairs, uniquingKeysWith: +)
        }
    }

    @Test(arguments: [1 as UInt64, 2, 3]) func everyFollowerShowsTheChangesOfBatches(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let place = try League.Place(.sqlite)
        let coordinator = try place.coordinator(Self.options)
        let writer = League.context(coordinator)
        let reader = League.context(coordinator)
        let follower = League.context(try place.coordinator(Self.options))
        follower.automaticallyMergesChangesFromParent = true
        let near = try reader.performAndWait { try Listing(reader) }
        let far = try follower.performAndWait { try Listing(follower) }
        var teams: [String: Team] = [:]
        for number in 0..<Self.rounds {
            let changes = try writer.performAndWait { try play(&random, writer, &teams, number) }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [reader])
            let expected = teams
            let fresh = try reader.performAndWait {
                reader.processPendingChanges()
                #expect(try fetched(reader) == expected, "round \(number)")
                let fresh = try reader.names(Listing.request)
                #expect(near.names == fresh, "round \(number)")
                #expect(near.recorder.violations.isEmpty, "round \(number): \(near.recorder.violations)")
                near.recorder.clear()
                return fresh
            }
            guard number % 20 == 19 || number == Self.rounds - 1 else { continue }
            let sections = Dictionary(grouping: fresh) { expected[$0]?.zone ?? "" }
            // Reads the lists without a fetch, which would read the rows even if the contexts had merged nothing.
            let followed = eventually("the list follows round \(number)", within: 120) {
                follower.performAndWait { far.names == fresh && far.sections == sections }
            }
            try #require(followed, "round \(number)")
            try follower.performAndWait { () throws in
                #expect(try fetched(follower) == expected, "round \(number)")
                #expect(far.recorder.violations.isEmpty, "round \(number): \(far.recorder.violations)")
                far.recorder.clear()
            }
        }
        if Self.rounds > 60 { print("batches followed, seed \(seed): \(Self.rounds)") }
    }
}
