import CoreData
import Foundation
import TestSupport
import Testing

/// Programs that follow a store while another one deletes its history.
@Suite struct HistoryPruningTests {
    private typealias Desk = HistoryRequestTests.Desk

    /// A follower: names of the insertions it saw, in order, and its position.
    private final class Follower: @unchecked Sendable {
        private let container: NSPersistentContainer
        /// The last transaction that it saw.
        private var last: (number: Int64, token: NSPersistentHistoryToken)?
        private(set) var names: [String] = []
        let lock = NSLock()

        init(_ container: NSPersistentContainer) { self.container = container }

        var place: (number: Int64, token: NSPersistentHistoryToken)? { lock.withLock { last } }

        /// Archives the token, as a program does between two runs.
        func follow() throws {
            let place = try lock.withLock {
                try last.map {
                    let data = try NSKeyedArchiver.archivedData(withRootObject: $0.token, requiringSecureCoding: true)
                    return try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data)
                } ?? nil
            }
            let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
            fetch.predicate = NSPredicate(format: "author BEGINSWITH %@", "writer")
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: place)
            request.fetchRequest = fetch
            let context = container.newBackgroundContext()
            try context.performAndWait { () throws in
                let result = try #require(try context.execute(request) as? NSPersistentHistoryResult)
                for transaction in try #require(result.result as? [NSPersistentHistoryTransaction]) {
                    for change in transaction.changes ?? [] where change.changeType == .insert {
                        let object = try context.existingObject(with: change.changedObjectID)
                        names.append(try #require(object.value(forKey: "name") as? String))
                    }
                    lock.withLock { last = (transaction.transactionNumber, transaction.token) }
                }
            }
        }
    }

    @Test func followersLoseAndDoubleNothingWhileHistoryIsRemoved() throws {
        let isLong = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"] != nil
        let desk = try Desk()
        let writers = try (0..<2).map { _ in try desk.container() }
        let followers = try (0..<2).map { _ in Follower(try desk.container()) }
        let pruner = try desk.container()
        let end = Date(timeIntervalSinceNow: isLong ? 60 : 0)
        let counts = Counts()
        // Ends a run that hangs.
        let latest = end.addingTimeInterval(120)
        @Sendable func goesOn() -> Bool {
            Date() < end || (counts.prunings < 10 || counts.written < 200) && counts.failures.isEmpty && Date() < latest
        }
        // Uses threads, because on two cores only two concurrent iterations would run.
        inParallel(5) { number in
            do {
                switch number {
                case 0, 1:
                    while goesOn() {
                        let name = "\(number)-\(counts.next(number))"
                        try HistoryRequestTests.save(writers[number], author: "writer \(number)") {
                            HistoryRequestTests.insert(name, $0)
                        }
                        usleep(2_000)
                    }
                case 2, 3:
                    while goesOn() {
                        try followers[number - 2].follow()
                        usleep(5_000)
                    }
                default:
                    while goesOn() {
                        usleep(20_000)
                        // The history that both followers have seen.
                        let places = followers.compactMap(\.place)
                        guard places.count == 2, let lowest = places.min(by: { $0.number < $1.number }) else {
                            continue
                        }
                        _ = try HistoryRequestTests.run(.deleteHistory(before: lowest.token), pruner)
                        counts.pruned()
                    }
                }
            } catch { counts.note(error) }
        }
        #expect(counts.failures.isEmpty, "\(counts.failures)")
        for follower in followers { try follower.follow() }
        if isLong {
            print("followed while history was removed: \(counts.written) commits, \(counts.prunings) removals")
        }
        #expect(counts.prunings >= 10, "not within two minutes: \(counts.prunings) removals, \(counts.written) commits")
        for follower in followers {
            #expect(follower.names.count == counts.written)
            #expect(Set(follower.names).count == counts.written)
        }
        #expect(try HistoryRequestTests.all(pruner).count < counts.written)
    }

    private func inParallel(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let group = DispatchGroup()
        for number in 0..<count {
            group.enter()
            Thread.detachNewThread {
                body(number)
                group.leave()
            }
        }
        group.wait()
    }

    private final class Counts: @unchecked Sendable {
        private let lock = NSLock()
        private var numbers = [0, 0]
        private var removals = 0
        private var errors: [String] = []

        var failures: [String] { lock.withLock { errors } }
        var prunings: Int { lock.withLock { removals } }
        var written: Int { lock.withLock { numbers.reduce(0, +) } }
        func next(_ writer: Int) -> Int {
            lock.withLock {
                numbers[writer] += 1
                return numbers[writer]
            }
        }
        func pruned() { lock.withLock { removals += 1 } }
        func note(_ error: any Error) { lock.withLock { errors.append("\(error)") } }
    }

    @Test func aWatcherThatMissedRemovedHistoryReadsTheStoreAgain() throws {
        let desk = try Desk()
        let here = try desk.container()
        let there = try desk.container()
        let noticed = Heard(.NSPersistentStoreRemoteChange, from: here.persistentStoreCoordinator)
        try HistoryRequestTests.save(there) { HistoryRequestTests.insert("Ghana", $0) }
        let context = here.newBackgroundContext()
        let team = try context.performAndWait { () throws in
            context.automaticallyMergesChangesFromParent = true
            let team = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team")).first)
            #expect(team.value(forKey: "wins") as? Int == 0)
            return team.objectID
        }
        // Waits, so that the next commits occur between two polls.
        eventually("the first commit is noticed") { noticed.count > 0 }
        for wins in 1...5 {
            for _ in 0..<3 {
                try HistoryRequestTests.save(there) { context in
                    try context.existingObject(with: team).setValue(wins, forKey: "wins")
                    HistoryRequestTests.insert("more", context)
                }
                _ = try HistoryRequestTests.run(.deleteHistory(before: Date(timeIntervalSinceNow: 60)), there)
            }
            func shown() -> Int? {
                context.performAndWait { context.object(with: team).value(forKey: "wins") as? Int }
            }
            eventually("the watcher shows \(wins) wins") { shown() == wins }
        }
    }
}
