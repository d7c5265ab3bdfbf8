import CoreData
import Foundation
import SQLiteAccess
import TestSupport
import Testing

/// After a writer is killed at any moment, the store opens and contains whole transactions, including all that were
/// reported as saved.
@Suite(.needs(.process)) struct CrashTests {
    /// A hundred for each writer; `ROSTER_LONG_TESTS=n` multiplies it by n.
    private static let kills =
        100 * (ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) } ?? 1)
    private static let seed: UInt64 = 2026

    private let sample: SampleFolder

    init() throws { sample = try SampleFolder() }

    /// Repeatedly starts `arguments` on the same store and kills the process after a random part of an undisturbed
    /// run's time. Then checks the store and the output so far.
    ///
    /// - Parameter waitsForLines: true if every other run continues until the program has printed a line.
    private func killRepeatedly(
        _ arguments: [String], shortest: Double, longest: Double, waitsForLines: Bool = false,
        check: (_ store: String, _ printed: [String]) throws -> Void
    ) throws {
        var random = Random(state: Self.seed)
        var (killed, refused) = (0, 0)
        for number in 0..<Self.kills {
            let process = try LiveProcess(roster: arguments)
            if waitsForLines, !number.isMultiple(of: 2) { _ = process.wait(60) { !$0.isEmpty } }
            usleep(UInt32((shortest + (longest - shortest) * random.fraction()) * 1e6))
            if process.isRunning { killed += 1 }
            process.killAtOnce()
            process.waitForEnd()
            // The framework opens the store first, as the next process would.
            do {
                #expect(try countTeams(in: sample.store) >= 80)
            } catch let error as NSError where error.code == 259 && error.localizedDescription.contains("touch ") {
                // The process was killed while it wrote the first page of a first checkpoint: the file could be a copy
                // as well. The error contains the command after which the log is played.
                refused += 1
                let log = sample.store + "-wal"
                try FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: log)
                #expect(try countTeams(in: sample.store) >= 80)
            }
            let connection = try Connection(path: sample.store, access: .readWrite)
            #expect(try connection.value("PRAGMA integrity_check") == .text("ok"), "seed \(Self.seed)")
            connection.close()
            try check(sample.store, process.lines)
        }
        print("kills of \(arguments[0]), seed \(Self.seed): \(Self.kills), at work \(killed), refused \(refused)")
        #expect(refused <= Self.kills / 50)
        #expect(killed > Self.kills / 4, "only \(killed) runs were killed at work")
    }

    @Test func killedImports() throws {
        var text = "teamName,qualifyingZone,wins\n"
        for number in 0..<1500 { text += "Team \(number),OFC,\(number % 70)\n" }
        let file = try sample.file("many.csv", text)
        try killRepeatedly(
            ["import", sample.store, "Team", file, "--batch", "50"], shortest: 0.01, longest: 0.25
        ) { store, _ in
            let count = try countTeams(in: store)
            #expect((count - 80).isMultiple(of: 50) && count <= 1580, "\(count)")
            // Start again: otherwise the first runs would do all the work.
            try sample.restore()
        }
    }

    @Test func killedSeasons() throws {
        let before = try updates(in: sample.store)
        var (played, afterSaves) = (0, 0)
        try killRepeatedly(
            ["simulate", sample.store, "--count", "100000"], shortest: 0.01, longest: 0.3, waitsForLines: true
        ) { store, printed in
            let connection = try Connection(path: store, access: .readWrite)
            defer { connection.close() }
            #expect(try connection.integer("SELECT sum(ZWINS) - sum(ZLOSSES) FROM ZTEAM") == 0)
            #expect(try connection.integer("SELECT sum(ZGOALSFOR) - sum(ZGOALSAGAINST) FROM ZTEAM") == 0)
            // Every match is one transaction that changes two teams.
            let matches = try connection.integer("SELECT sum(ZWINS) + sum(ZDRAWS) / 2 - 964 FROM ZTEAM") ?? -1
            #expect(try updates(in: store) - before == 2 * matches)
            // A match is printed after it was saved: the last one may be saved but not printed, never the reverse.
            let new = Int(matches) - played
            #expect(new == printed.count || new == printed.count + 1, "\(printed.count) printed, \(new) saved")
            played = Int(matches)
            if !printed.isEmpty { afterSaves += 1 }
        }
        print("kills of simulate after a saved match: \(afterSaves), matches \(played)")
        #expect(afterSaves >= Self.kills / 2)
    }

    /// Number of teams that the framework finds after opening the store.
    private func countTeams(in store: String) throws -> Int {
        let url = URL(fileURLWithPath: store)
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url))
        let opened = try coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let count = try context.performAndWait {
            try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Team"))
        }
        try coordinator.remove(opened)
        return count
    }

    /// Number of updates in the store's history.
    private func updates(in store: String) throws -> Int64 {
        let connection = try Connection(path: store, access: .readWrite)
        defer { connection.close() }
        return try connection.integer("SELECT count(*) FROM ACHANGE WHERE ZCHANGETYPE = 1") ?? -1
    }
}

private struct Random {
    var state: UInt64

    mutating func fraction() -> Double {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(state >> 11) / Double(1 << 53)
    }
}
