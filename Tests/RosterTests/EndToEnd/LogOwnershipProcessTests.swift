import Foundation
import Testing

@testable import CoreData

/// A store that another process has open is not looked at: that process knew its log.
@Suite struct LogOwnershipProcessTests {
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
}
