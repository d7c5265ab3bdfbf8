import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData

/// A context and its list while another process commits more than one turn of the queue should merge.
@Suite struct BusyWriterTests {
    private func changes(_ kind: WritableKeyPath<CommittedChanges, [NSManagedObjectID]>, _ ids: [NSManagedObjectID])
        -> CommittedChanges
    {
        var changes = CommittedChanges()
        changes[keyPath: kind] = ids
        return changes
    }

    /// One ID for each number.
    private func ids(_ count: Int) throws -> [NSManagedObjectID] {
        let staff = try Staff()
        return try staff.context.performAndWait {
            let objects = (0..<count).map { staff.employee("N\($0)", "T", $0) }
            try staff.context.save()
            return objects.map(\.objectID)
        }
    }

    @Test func aTurnTakesWholePartsAndLearnsHowManyRowsFitIntoIt() throws {
        let ids = try ids(200)
        var commits = ForeignCommits()
        let asked = (0..<20).map { commits.add(changes(\.updated, Array(ids[$0 * 10..<$0 * 10 + 10]))) }
        // One turn is requested for all commits before it begins.
        #expect(asked == [true] + Array(repeating: false, count: 19))
        let first = commits.takeForTurn().map(\.count)
        #expect(first == Array(repeating: 10, count: 6))
        // The turn took too long, so the next one is smaller.
        let goesOn = commits.turnEnded(rows: 60, seconds: 0.2, now: .now())
        #expect(goesOn)
        let smaller = commits.takeForTurn().count
        #expect(smaller == 4)
        // After a quick turn, the next one gets more rows.
        _ = commits.turnEnded(rows: 40, seconds: 0.0001, now: .now())
        let larger = commits.takeForTurn().count
        #expect(larger == 6)
        while commits.turnEnded(rows: 60, seconds: 0.0001, now: .now()) { _ = commits.takeForTurn() }
        #expect(commits.isEmpty)
        // A part of a commit is merged in one turn, even if it has more rows than a turn should merge.
        let isAsked = commits.add(changes(\.deleted, ids))
        #expect(isAsked)
        for _ in 0..<20 { commits.learn(rows: 200, seconds: 1) }
        let whole = commits.takeForTurn().map(\.count)
        #expect(whole == [200])
        let isOver = !commits.turnEnded(rows: 200, seconds: 0.0001, now: .now())
        #expect(isOver)
    }

    /// If a turn takes long regardless of its size, as over a network, small turns would never catch up.
    @Test func turnsAreNotShortenedBelowTheirFixedCost() throws {
        var commits = ForeignCommits()
        var rows = [Int]()
        for _ in 0..<60 {
            rows.append(commits.rowsOfTurn)
            commits.learn(rows: commits.rowsOfTurn, seconds: 0.03 + 0.0001 * Double(commits.rowsOfTurn))
        }
        #expect((100...600).contains(rows.last ?? 0), "\(rows)")
        // Turns are cut if the rows take long.
        for _ in 0..<60 { commits.learn(rows: commits.rowsOfTurn, seconds: 0.001 * Double(commits.rowsOfTurn)) }
        #expect((8...16).contains(commits.rowsOfTurn), "\(commits.rowsOfTurn)")
    }

    /// Simulates a minute in which nine rows arrive every 6.2 ms, and continues until all of them are merged.
    ///
    /// - Parameters:
    ///   - seconds: returns the duration of a turn by its number of rows and of waiting parts.
    ///   - turnEnded: called with the duration of each turn, the numbers of merged and waiting parts, and the time
    ///     since the start, in seconds.
    /// - Returns: the numbers of arrived and merged parts, and the end time, in seconds since the start.
    private func followForAMinute(
        _ commits: inout ForeignCommits, turnTaking seconds: (_ rows: Int, _ waiting: Int) -> Double,
        turnEnded: (_ seconds: Double, _ merged: Int, _ waiting: Int, _ time: Double) -> Void
    ) throws -> (arrived: Int, merged: Int, time: Double) {
        let part = changes(\.updated, try ids(9))
        let begin: UInt64 = 1_000_000_000
        let end = begin + 60_000_000_000
        var (now, nextArrival) = (begin, begin)
        var (arrived, merged, isAsked) = (0, 0, false)
        while now < end || isAsked {
            while nextArrival <= min(now, end) {
                isAsked = commits.add(part, at: DispatchTime(uptimeNanoseconds: nextArrival)) || isAsked
                nextArrival += 6_200_000
                arrived += 1
            }
            guard isAsked else {
                now = nextArrival
                continue
            }
            let count = commits.takeForTurn(now: DispatchTime(uptimeNanoseconds: now)).count
            merged += count
            let taken = seconds(count * 9, arrived - merged)
            now += UInt64(taken * 1e9)
            isAsked = commits.turnEnded(rows: count * 9, seconds: taken, now: DispatchTime(uptimeNanoseconds: now))
            turnEnded(taken, merged, arrived - merged, Double(now - begin) / 1e9)
        }
        return (arrived, merged, Double(now - begin) / 1e9)
    }

    /// If more rows arrive than short turns can merge, turns become longer; they become short again afterwards.
    @Test func turnsGrowWithTheDelayOfWaitingCommits() throws {
        var commits = ForeignCommits()
        var (longestTurn, longestDelay) = (0.0, 0.0)
        _ = try followForAMinute(&commits, turnTaking: { rows, _ in 0.02 + 0.0005 * Double(rows) }) {
            seconds, merged, _, time in
            longestTurn = max(longestTurn, seconds)
            longestDelay = max(longestDelay, time - Double(merged) * 0.0062)
        }
        #expect(longestDelay < 3, "\(longestDelay) s")
        #expect(longestTurn < 0.5, "\(longestTurn) s")
        for _ in 0..<60 { commits.learn(rows: commits.rowsOfTurn, seconds: 0.0005 * Double(commits.rowsOfTurn)) }
        #expect(commits.rowsOfTurn < 32, "\(commits.rowsOfTurn)")
    }

    /// Placing a row takes longer the more rows of a list wait, so a list that fell behind would not catch up.
    @Test func aLargeBacklogIsMergedAtOnce() throws {
        var commits = ForeignCommits()
        var longestDelay = 0.0
        let end = try followForAMinute(
            &commits, turnTaking: { rows, waiting in 0.02 + Double(rows) * (0.0006 + 0.000_005 * Double(waiting)) }
        ) { _, _, waiting, _ in longestDelay = max(longestDelay, Double(waiting) * 0.0062) }
        #expect(end.merged == end.arrived && end.arrived > 9000)
        #expect(longestDelay < 8 && end.time < 70, "\(longestDelay), \(end.time)")
    }

    @Test func waitingCommitsAreFoundByTheirRows() throws {
        let ids = try ids(30)
        var commits = ForeignCommits()
        for part in 0..<3 { _ = commits.add(changes(\.updated, Array(ids[part * 10..<part * 10 + 10]) + [ids[0]])) }
        let keys = ids.compactMap(\.rowKey)
        func waiting() -> [Bool] { keys.map(commits.mayConcern) }
        #expect(waiting() == Array(repeating: true, count: 30))
        commits.learn(rows: 64, seconds: 1)
        commits.learn(rows: 64, seconds: 1)
        _ = commits.takeForTurn()
        // Each part contains the first row.
        let taken = waiting().lastIndex(of: false) ?? 0
        #expect(taken > 0 && waiting()[0])
        while !commits.isEmpty { _ = commits.takeForTurn() }
        #expect(waiting() == Array(repeating: false, count: 30))
    }

    @Test func combinedPartsListEachRowOnceByItsFinalState() throws {
        let ids = try ids(4)
        var last = changes(\.updated, [ids[0], ids[1]])
        last.completeSince = .now()
        let together = CommittedChanges(together: [
            changes(\.inserted, [ids[0], ids[2]]), changes(\.updated, [ids[1], ids[3]]), changes(\.deleted, [ids[2]]),
            last,
        ])
        #expect(together.inserted == [ids[0]])
        #expect(together.updated == [ids[1], ids[3]])
        #expect(together.deleted == [ids[2]])
        #expect(together.completeSince == last.completeSince)
    }

    /// Other blocks of the queue run between the parts of a commit, and the final list is complete and in order.
    @Test func otherWorkOfTheQueueComesBetweenTheCommitsOfAnotherProcess() throws {
        let staff = try Staff(watches: true)
        let count = 300
        let (controller, recorder) = try staff.context.performAndWait {
            for number in 0..<count { staff.employee("N\(number)", "T", number) }
            try staff.context.save()
            staff.context.automaticallyMergesChangesFromParent = true
            return try staff.recorded(sort: ["team", "salary", "name"])
        }
        let atKey = Counter()
        let told = UncheckedSendable(recorder)
        staff.context.performAndWait {
            recorder.inDid = {
                guard told.value.batches == 1 else { return }
                staff.context.perform { atKey.value = told.value.batches }
            }
        }
        let heard = HeardCommits()
        staff.coordinator.addCommitObserver(heard)
        let other = try Staff(in: staff.folder)
        try staff.whileQueueIsBusy {
            try other.context.performAndWait {
                for (number, employee) in try other.context.fetch(other.request(["salary"])).enumerated() {
                    employee.setValue(1_000 - number, forKey: "salary")
                    try other.context.save()
                }
            }
            eventually("the last commit is seen") {
                heard.changes.withLock { $0.reduce(0) { $0 + $1.updated.count } } >= count
            }
        }
        let expected = "T: " + (0..<count).reversed().map { "N\($0)" }.joined(separator: " ")
        eventually("the list follows", within: 120) { staff.context.performAndWait { controller.text == expected } }
        staff.context.performAndWait {
            #expect(controller.text == expected)
            #expect(recorder.violations == [])
            #expect(controller.contradiction() == nil)
            // Blocks enqueued during the first part ran before the last one.
            #expect(atKey.value > 0 && atKey.value < recorder.batches, "\(atKey.value) of \(recorder.batches)")
        }
    }

    /// A complete merge of one store does not mean that another one is merged completely.
    @Test func onlyASingleStoresHistoryShowsThatAllIsMerged() throws {
        let staff = try Staff(watches: true)
        let heard = HeardCommits()
        staff.coordinator.addCommitObserver(heard)
        let other = try Staff(in: staff.folder)
        func hearsSave() throws -> CommittedChanges? {
            heard.changes.withLock { $0 = [] }
            try other.context.performAndWait {
                _ = other.employee("N", "T", 1)
                try other.context.save()
            }
            eventually("the commit is heard of") { heard.changes.withLock { !$0.isEmpty } }
            return heard.changes.withLock { $0.last }
        }
        let alone = try #require(try hearsSave())
        #expect(alone.completeSince != nil)
        let second = try staff.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: staff.folder.appendingPathComponent("Second.sqlite"),
            options: [
                NSPersistentHistoryTrackingKey: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
            ])
        let beside = try #require(try hearsSave())
        #expect(beside.inserted.count == 1 && beside.completeSince == nil)
        try staff.coordinator.remove(second)
    }

    // SAFETY: used on the context's queue only.
    private final class Counter: @unchecked Sendable {
        var value = 0
    }
}
