import CoreData
import Foundation
import TestSupport
import Testing

@testable import RosterCommands

/// Random batch requests, saves, undone and rolled back edits in this process, which `roster watch` follows in another
/// one.
@Suite(.needs(.process)) struct BatchWatchTests {
    /// `ROSTER_LONG_TESTS=n` runs n × 1,000 rounds.
    private static let rounds =
        ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }.map { $0 * 1_000 } ?? 60
    private static let zones = ["AFC", "CAF", "OFC", "UEFA", "欧洲"]

    private let sample: SampleFolder

    init() throws { sample = try SampleFolder() }

    private func container() throws -> NSPersistentContainer {
        let model = try #require(NSManagedObjectModel(contentsOf: URL(fileURLWithPath: SampleFolder.model)))
        let container = NSPersistentContainer(name: "WorldCup", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: sample.store))
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    private func request(_ format: String = "TRUEPREDICATE", _ arguments: any CVarArg...) -> NSFetchRequest<
        NSManagedObject
    > {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        request.sortDescriptors = [
            NSSortDescriptor(key: "qualifyingZone", ascending: true), NSSortDescriptor(key: "wins", ascending: false),
            NSSortDescriptor(key: "teamName", ascending: true),
        ]
        return request
    }

    /// The names of the teams in list order, and the number of teams in each section.
    private func listed(_ context: NSManagedObjectContext) throws -> (names: [String], counts: [Int]) {
        context.reset()
        let teams = try context.fetch(request())
        let zones = teams.map { $0.value(forKey: "qualifyingZone") as? String ?? "" }
        let starts = zones.indices.filter { $0 == 0 || zones[$0] != zones[$0 - 1] }
        let counts = zip(starts, starts.dropFirst() + [zones.count]).map { $1 - $0 }
        return (teams.map { $0.value(forKey: "teamName") as? String ?? "" }, counts)
    }

    /// Makes one random change of the store.
    private func play(
        _ number: Int, _ random: inout some RandomNumberGenerator, _ context: NSManagedObjectContext
    ) throws {
        let zone = Self.zones.randomElement(using: &random)!
        let limit = Int.random(in: 0..<40, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Team")
            fetch.predicate = NSPredicate(format: "qualifyingZone == %@ AND wins < %ld", zone, limit)
            try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
        case 1:
            let update = NSBatchUpdateRequest(entityName: "Team")
            update.predicate = NSPredicate(format: "wins >= %ld", limit)
            update.propertiesToUpdate = [
                "qualifyingZone": zone, "wins": NSExpression(format: "modulus:by:(wins * 7 + 3, 40)"),
            ]
            try context.execute(update)
        case 2, 3:
            let rows = (0..<Int.random(in: 0..<12, using: &random)).map { place -> [String: Any] in
                [
                    "teamName": "Team \(number)-\(place)", "wins": Int.random(in: 0..<40, using: &random),
                    "qualifyingZone": Self.zones.randomElement(using: &random)!,
                ]
            }
            try context.execute(NSBatchInsertRequest(entityName: "Team", objects: rows))
        default:
            try edit(number, &random, context)
        }
    }

    /// Makes random edits of objects: some are undone, some rolled back, the rest saved.
    private func edit(
        _ number: Int, _ random: inout some RandomNumberGenerator, _ context: NSManagedObjectContext
    ) throws {
        // Batch requests do not update the context's objects.
        context.reset()
        context.undoManager = UndoManager()
        let teams = try context.fetch(request("wins > %ld", Int.random(in: 0..<30, using: &random)))
        for team in teams.prefix(4) {
            team.setValue(Int.random(in: 0..<40, using: &random), forKey: "wins")
            team.setValue(Self.zones.randomElement(using: &random)!, forKey: "qualifyingZone")
        }
        if Bool.random(using: &random), let last = teams.last { context.delete(last) }
        let new = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
        new.setValue("New \(number)", forKey: "teamName")
        new.setValue(Self.zones.randomElement(using: &random)!, forKey: "qualifyingZone")
        context.processPendingChanges()
        switch Int.random(in: 0..<4, using: &random) {
        case 0: context.undo()
        case 1: context.rollback()
        default: break
        }
        try context.save()
    }

    @Test(arguments: [1 as UInt64, 2]) func aFollowerInAnotherProcessHasTheListOfAFreshFetch(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let container = try container()
        let context = container.newBackgroundContext()
        let process = try LiveProcess(roster: [
            "watch", sample.store, "Team", "--section", "qualifyingZone", "--sort", "wins:desc,teamName", "--format",
            "json",
        ])
        defer { process.killAtOnce() }
        let before = try context.performAndWait { try listed(context) }
        try #require(process.wait(60) { !$0.isEmpty }, "\(process.errorLines)")
        var replay = WatchReplay(names: before.names, counts: before.counts)
        var applied = 1
        for number in 0..<Self.rounds {
            try context.performAndWait { try play(number, &random, context) }
            guard number % 20 == 19 else { continue }
            let expected = try context.performAndWait { try listed(context) }
            let caughtUp = process.wait(60) { lines in
                guard (try? replay.apply(lines, from: &applied)) != nil else { return false }
                return replay.names == expected.names && replay.sections.map(\.count) == expected.counts
            }
            try #require(caughtUp, "round \(number): \(replay.sections) instead of \(expected)")
        }
        if Self.rounds > 60 { print("changes watched, seed \(seed): \(Self.rounds), \(applied) lines") }
        #expect(applied > 1)
    }
}
