import Foundation
import SQLiteAccess
import Synchronization
import Testing

@testable import CoreData

/// A save with progress reports has the same results as any other, can be stopped until the store commits, and shows
/// the previous state until then.
@Suite struct SaveReportingTests {
    private struct Stop: Error {}

    private final class Flag: Sendable {
        private let value = Mutex(false)
        var isSet: Bool { value.withLock { $0 } }
        func set() { value.withLock { $0 = true } }
    }

    private static let teams = 600

    /// A context with 500 changed, 50 deleted, 100 new and 50 unread teams.
    private func change(_ harness: StoreHarness, _ options: [String: Any] = [:]) throws -> NSManagedObjectContext {
        let coordinator = try harness.open(options.merging([NSPersistentHistoryTrackingKey: true]) { $1 }).coordinator
        let maker = League.context(coordinator)
        try maker.use { context in
            for number in 0..<Self.teams { _ = context.make("Team", ["name": "Team \(number)", "wins": 0]) }
            try context.save()
        }
        let context = League.context(coordinator)
        try context.use { context in
            let request = League.request("Team", nil, by: "name")
            request.fetchLimit = 550
            let teams = try context.fetch(request)
            for team in teams.prefix(500) { team.setValue(1, forKey: "wins") }
            for team in teams.suffix(50) { context.delete(team) }
            for number in 0..<100 { _ = context.make("Team", ["name": "New \(number)", "wins": 1]) }
        }
        return context
    }

    /// Number of saved teams with a win.
    private func stored(_ context: NSManagedObjectContext) throws -> Int {
        let request = League.request("Team", NSPredicate(format: "wins == 1"))
        request.includesPendingChanges = false
        return try context.count(for: request)
    }

    @Test func progressIsReportedAndThePreviousStateShown() throws {
        let harness = try StoreHarness(StoreModels.league())
        let context = try change(harness)
        try context.use { context in
            var told: [SaveProgress] = []
            var counts: Set<Int> = []
            try context.save(reporting: { progress in
                told.append(progress)
                if progress.canStop { counts.insert(try stored(context)) }
                if progress.fraction < 1 { #expect(context.insertedObjects.count == 100 || !progress.canStop) }
            })
            let fractions = told.map(\.fraction)
            #expect(fractions == fractions.sorted() && fractions.allSatisfy { 0...1 ~= $0 })
            // Reports arrive in each stage, before and after the store commits.
            for stage in [0...0.2, 0.2...0.35, 0.35...0.85, 0.85...1] {
                #expect(fractions.contains { stage.contains($0) }, "\(fractions)")
            }
            #expect(told.contains { $0.canStop } && told.last?.canStop == false)
            #expect(counts == [0])
            #expect(try stored(context) == 600 && !context.hasChanges && context.queryGenerationToken == nil)
            #expect(try context.count(for: League.request("Team")) == 650)
        }
    }

    @Test(arguments: [0, 0.2, 0.35, 0.85]) func aStoppedSaveChangesNothing(_ limit: Double) throws {
        let harness = try StoreHarness(StoreModels.league())
        let context = try change(harness)
        try context.use { context in
            #expect(throws: Stop.self) {
                try context.save(reporting: { if $0.fraction >= limit { throw Stop() } })
            }
            #expect(try stored(context) == 0)
            #expect(
                context.insertedObjects.count == 100 && context.updatedObjects.count == 500
                    && context.deletedObjects.count == 50)
            try context.save()
            #expect(try stored(context) == 600 && !context.hasChanges)
        }
    }

    @Test func nothingStopsItOnceTheStoreCommits() throws {
        let harness = try StoreHarness(StoreModels.league())
        let context = try change(harness)
        try context.use { context in
            try context.save(reporting: { if !$0.canStop { throw Stop() } })
            #expect(try stored(context) == 600 && !context.hasChanges)
        }
    }

    @Test func conflictsAndFaultsOfTheModelAreTheSame() throws {
        let harness = try StoreHarness(StoreModels.league())
        let context = try change(harness)
        let coordinator = try #require(context.persistentStoreCoordinator)
        let elsewhere = League.context(coordinator)
        try elsewhere.use { elsewhere in
            let team = try #require(
                try elsewhere.fetch(League.request("Team", NSPredicate(format: "name == 'Team 0'"))).first)
            team.setValue(7, forKey: "wins")
            try elsewhere.save()
        }
        try context.use { context in
            let error = try #require(throws: CocoaError.self) { try context.save(reporting: { _ in }) }
            #expect(error.code.rawValue == 133_020)
            let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
            #expect(conflicts?.map { $0.sourceObject.value(forKey: "name") as? String } == ["Team 0"])
            #expect(try stored(context) == 0 && context.queryGenerationToken == nil)
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save(reporting: { _ in })
            #expect(try stored(context) == 600)
        }
    }

    /// The validation of many objects does not begin if another process holds the write lock.
    @Test func aLockIsFoundBeforeTheChecks() throws {
        let harness = try StoreHarness(StoreModels.league())
        let context = try change(harness, [NSPersistentStoreTimeoutOption: 0.05])
        let other = try Connection(path: harness.url.path, access: .readWrite)
        defer { other.close() }
        try other.execute("BEGIN IMMEDIATE")
        try context.use { context in
            let error = #expect(throws: (any Error).self) {
                try context.save(reporting: { _ in Issue.record("it began to check") })
            }
            #expect("\(error as Any)".contains("locked"), "\(error as Any)")
            try other.execute("ROLLBACK")
            try context.save(reporting: { _ in })
            #expect(try stored(context) == 600 && !context.hasChanges)
        }
    }

    @Test func aPinnedContextAdvancesToTheNewestState() throws {
        let harness = try StoreHarness(StoreModels.league())
        let context = try change(harness)
        try context.use { context in
            try context.setQueryGenerationFrom(.current)
            #expect(try stored(context) == 0)
            var counts: Set<Int> = []
            try context.save(reporting: { if $0.canStop { counts.insert(try stored(context)) } })
            #expect(counts == [0])
            #expect(try stored(context) == 600 && context.queryGenerationToken != nil)
        }
    }

    /// Rows of the open transaction may never be committed, so other contexts cannot read them.
    @Test func otherContextsAndTheHistoryReadNothingOfTheOpenTransaction() throws {
        let harness = try StoreHarness(StoreModels.league())
        let context = try change(harness)
        let coordinator = try #require(context.persistentStoreCoordinator)
        let other = League.context(coordinator)
        let name = League.request("Team", NSPredicate(format: "name == 'Team 0'"))
        let before = try other.use { context in try context.fetch(name).first }
        let team = try #require(before)
        try context.use { context in
            var (refused, wins): (Int, Set<Int>) = (0, [])
            func lookElsewhere(_ progress: SaveProgress) throws {
                do {
                    try other.performAndWait {
                        other.refresh(team, mergeChanges: false)
                        wins.insert(try other.fetch(name).first?.value(forKey: "wins") as? Int ?? -1)
                    }
                } catch let error as NSError {
                    #expect(error.code == 134070 && error.localizedDescription.contains("is saving"))
                    let history = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
                    if (try? context.execute(history)) != nil { Issue.record("the history was read") }
                    refused += 1
                }
                if progress.fraction > 0.8 { throw Stop() }
            }
            #expect(throws: Stop.self) { try context.save(reporting: lookElsewhere) }
            #expect(refused > 0 && wins.isSubset(of: [0]), "\(refused), \(wins)")
            #expect(try other.performAndWait { try other.fetch(name).first?.value(forKey: "wins") as? Int } == 0)
            try context.save()
        }
        other.performAndWait { other.refreshAllObjects() }
        #expect(try other.performAndWait { try other.fetch(name).first?.value(forKey: "wins") as? Int } == 1)
    }

    /// An observer of did-save may save, and that save reports no progress.
    @Test func aSaveInADidSaveObserverReportsNoProgress() throws {
        let harness = try StoreHarness(StoreModels.league())
        let context = try change(harness)
        let hasSaved = Flag()
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { _ in
            guard !hasSaved.isSet else { return }
            hasSaved.set()
            _ = context.make("Team", ["name": "Last", "wins": 5])
            do { try context.save() } catch { Issue.record("\(error)") }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try context.use { context in
            var fractions: [Double] = []
            try context.save(reporting: { fractions.append($0.fraction) })
            #expect(fractions == fractions.sorted() && hasSaved.isSet && !context.hasChanges)
            #expect(try context.count(for: League.request("Team", NSPredicate(format: "wins == 5"))) == 1)
        }
    }
}
