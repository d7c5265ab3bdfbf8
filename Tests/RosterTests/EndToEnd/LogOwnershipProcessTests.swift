import Foundation
import SQLiteAccess
import TestSupport
import Testing

@testable import CoreData

/// The log of a store that another process has open is not examined: that process knows its log.
@Suite(.needs(.process)) struct LogOwnershipProcessTests {
    @Test func aStoreThatIsOpenElsewhereIsNotExamined() throws {
        let (own, other) = (try SampleFolder(), try SampleFolder())
        let teams = (0..<2000).map { "Team \($0),OFC\n" }.joined()
        let file = try other.file("teams.csv", "teamName,qualifyingZone\n" + teams)
        try #require(RosterProcess.run(["import", other.store, "Team", file]).status == 0)
        // The log of a longer store, left by a killed program.
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

    /// Examining the log of a killed program reads no more of a store of 14 MB than of a small one: the note of the log
    /// identifies its store.
    @Test(.enabled(if: LogOwnershipProcessTests.bytesRead != nil, "the kernel does not count what threads read"))
    func lookingAtALogReadsNoMoreOfALargeStore() throws {
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
        func read(_ folder: SampleFolder) throws -> Int {
            let writer = try folder.followed(wins: 50)
            writer.killAtOnce()
            writer.waitForEnd()
            let log = try FileManager.default.attributesOfItem(atPath: folder.store + "-wal")[.size] as? Int
            #expect((log ?? 0) > 0)
            let before = try #require(Self.bytesRead)
            try LogOwnership.check(folder.store) {}
            return try #require(Self.bytesRead) - before
        }
        let (fromSmall, fromLarge) = (try read(small), try read(large))
        // The logs may differ by some pages.
        #expect(fromSmall > 0 && fromLarge < fromSmall + 100_000, "\(fromSmall) \(fromLarge)")
    }

    /// Number of bytes that this thread has read from files.
    private static var bytesRead: Int? {
        let lines = (try? String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8))?.split(separator: "\n") ?? []
        return lines.first { $0.hasPrefix("rchar: ") }.flatMap { Int($0.dropFirst(7)) }
    }
}
