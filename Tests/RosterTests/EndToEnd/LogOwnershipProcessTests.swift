import Foundation
import SQLiteAccess
import TestSupport
import Testing

@testable import CoreData

/// A store that another process has open is not looked at: that process knew its log.
@Suite(.needs(.process)) struct LogOwnershipProcessTests {
    @Test func aStoreThatIsOpenElsewhereIsNotLookedAt() throws {
        let (own, other) = (try SampleFolder(), try SampleFolder())
        let teams = (0..<2000).map { "Team \($0),OFC\n" }.joined()
        let file = try other.file("teams.csv", "teamName,qualifyingZone\n" + teams)
        try #require(RosterProcess.run(["import", other.store, "Team", file]).status == 0)
        // A log of a longer store, left by a program that was killed.
        let writer = try other.followed(wins: 50)
        writer.killAtOnce()
        writer.waitForEnd()
        func isLookedAt() throws -> Bool {
            do {
                try LogOwnership.check(own.store) {}
                return false
            } catch {
                #expect((error as NSError).code == 259)
                return true
            }
        }
        let reader = try own.followed(wins: 3)
        let log = own.store + "-wal"
        try FileManager.default.moveItem(atPath: log, toPath: log + ".own")
        try FileManager.default.copyItem(atPath: other.store + "-wal", toPath: log)
        #expect(try !isLookedAt())
        reader.killAtOnce()
        reader.waitForEnd()
        #expect(FileManager.default.fileExists(atPath: own.store + "-shm"))
        #expect(try isLookedAt())
    }

    /// Looking at the log that a killed program left takes no more time beside a store of 14 MB than beside a small one: the note
    /// of the log tells it. It takes some 0.1 ms, and may add less than 1 ms to an opening.
    @Test func lookingAtALogTakesTheSameTimeBesideALargeStore() throws {
        let (small, large) = (try SampleFolder(), try SampleFolder())
        let connection = try Connection(path: large.store, access: .readWrite)
        try connection.execute(
            "INSERT INTO ZVENUE (Z_ENT, Z_OPT, ZNAME) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 7000) SELECT (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Venue'), 1, hex(zeroblob(1000)) || i FROM n"
        )
        try connection.execute(
            "UPDATE Z_PRIMARYKEY SET Z_MAX = (SELECT max(Z_PK) FROM ZVENUE) WHERE Z_NAME = 'Venue'")
        connection.close()
        let size = try FileManager.default.attributesOfItem(atPath: large.store)[.size] as? Int
        #expect((size ?? 0) > 13_000_000)
        func leastTime(_ folder: SampleFolder) throws -> Duration {
            let writer = try folder.followed(wins: 50)
            writer.killAtOnce()
            writer.waitForEnd()
            let log = try FileManager.default.attributesOfItem(atPath: folder.store + "-wal")[.size] as? Int
            #expect((log ?? 0) > 0)
            return try (0..<30).map { _ in
                try ContinuousClock().measure { try LogOwnership.check(folder.store) {} }
            }.min() ?? .zero
        }
        let times = (small: try leastTime(small), large: try leastTime(large))
        #expect(times.large < times.small * 4 + .milliseconds(1))
        #expect(times.large < .milliseconds(1) * slowness)
    }
}
