import Foundation
import SQLiteAccess
import TestSupport
import Testing

/// Files that a killed copy left next to its destination are removed by the next copy to the same path.
@Suite(.needs(.process)) struct KilledCopyTests {
    private let sample: SampleFolder

    init() throws { sample = try SampleFolder() }

    private func hidden() throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: sample.url.path).filter { $0.hasPrefix(".copy") })
    }

    private func isWhole(_ path: String) throws -> Bool {
        let (original, copy) = (["count", sample.store, "Team"], ["count", path, "Team"])
        return try RosterProcess.run(original).output == RosterProcess.run(copy).output
    }

    @Test func aKilledCopyLeavesNothingForLong() throws {
        // Enough pages to stop the process while it copies.
        let connection = try Connection(path: sample.store, access: .readWrite)
        try connection.execute("CREATE TABLE Padding (bytes BLOB)")
        for _ in 0..<60 { try connection.execute("INSERT INTO Padding VALUES (randomblob(1000000))") }
        connection.close()
        let copy = ["copy", sample.store, sample.path("copy.sqlite")]
        // Files with other names, and a file without a copy's mark, do not belong to the program.
        let foreign: Set = [
            ".copy.sqlite.replacement-notes", ".copy.sqlite.replacement-notes.making",
            ".copy.sqlite.replacement-2C9A7B7E-50C4-4B50-9C39-1B3C34B8A0F1",
        ]
        for name in foreign { _ = try sample.file(name, "mine") }
        let killed = try LiveProcess(roster: copy)
        // A file with contents is locked.
        func isBegun() throws -> Bool {
            try hidden().subtracting(foreign).contains { name in
                let facts = try? FileManager.default.attributesOfItem(atPath: sample.path(name))
                return (facts?[.size] as? Int ?? 0) > 0
            }
        }
        while killed.isRunning, try !isBegun() { usleep(200) }
        kill(killed.identifier, SIGSTOP)
        let own = try hidden().subtracting(foreign)
        try #require(own.contains { $0.hasSuffix(".making") }, "the copy was over before it could be stopped: \(own)")
        // Another copy does not remove files of a copy that is still running.
        #expect(try RosterProcess.run(copy).status == 0)
        #expect(try hidden().isSuperset(of: own))
        killed.killAtOnce()
        killed.waitForEnd()
        #expect(try hidden().isSuperset(of: own))
        try FileManager.default.removeItem(atPath: sample.path("copy.sqlite"))
        #expect(try RosterProcess.run(copy).status == 0)
        #expect(try hidden() == foreign)
        #expect(try isWhole(sample.path("copy.sqlite")))
    }

    /// Marks made by others do not affect files elsewhere or files that are not plain.
    @Test func marksOfOthersChangeNothing() throws {
        let copy = ["copy", sample.store, sample.path("copy.sqlite")]
        let victim = try sample.file("victim", "mine")
        let place = ".copy.sqlite.replacement-2C9A7B7E-50C4-4B50-9C39-1B3C34B8A0F1"
        let second = ".copy.sqlite.replacement-0C9A7B7E-50C4-4B50-9C39-1B3C34B8A0F1"
        try FileManager.default.createSymbolicLink(atPath: sample.path(place), withDestinationPath: victim)
        _ = try sample.file(place + ".making", "")
        #expect(mkfifo(sample.path(second + ".making"), 0o600) == 0)
        #expect(try RosterProcess.run(copy).status == 0)
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "mine")
        #expect(try isWhole(sample.path("copy.sqlite")))
    }
}
