import Foundation
import SQLiteAccess
import TestSupport
import Testing

/// A store that is moved, replaced or deleted while a program writes to it: the program ends with one line, and nothing
/// is written into another file.
@Suite(.needs(.process)) struct MovedStoreProcessTests {
    private let sample: SampleFolder

    init() throws { sample = try SampleFolder() }

    private func matches(in store: String) throws -> Int64 {
        let connection = try Connection(path: store, access: .readWrite)
        defer { connection.close() }
        #expect(try connection.value("PRAGMA integrity_check") == .text("ok"))
        return try connection.integer("SELECT sum(ZWINS) + sum(ZDRAWS) / 2 - 964 FROM ZTEAM") ?? -1
    }

    private func simulate(then line: String) throws -> LiveProcess {
        let writer = try LiveProcess(roster: ["simulate", sample.store, "--count", "100000", "--rate", "200"])
        #expect(writer.wait(60) { $0.count >= 5 })
        let outcome = try RosterProcess.shell(line, [sample.store, sample.url.path])
        try #require(outcome.status == 0, "\(outcome.errors)")
        #expect(writer.waitForEnd() == 1)
        #expect(writer.errorLines.count == 1, "\(writer.errorLines)")
        return writer
    }

    @Test func aMovedFolderHasAllReportedMatches() throws {
        let writer = try simulate(then: "mkdir \"$2/there\" && mv \"$1\"* \"$2/there\"")
        #expect(writer.errors("it was moved to"), "\(writer.errorLines)")
        #expect(try matches(in: sample.path("there/WorldCup.sqlite")) == Int64(writer.lines.count))
        #expect(!FileManager.default.fileExists(atPath: sample.store))
    }

    @Test(arguments: ["cp", "mv"]) func anotherStoreInItsPlaceIsLeftAlone(command: String) throws {
        let other = sample.path("Other.sqlite")
        try FileManager.default.copyItem(atPath: sample.store, toPath: other)
        let content = try Data(contentsOf: URL(fileURLWithPath: other))
        let writer = try simulate(then: "\(command) \"$2/Other.sqlite\" \"$1\"")
        #expect(writer.errors(command == "cp" ? "overwritten" : "another file has replaced it"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: sample.store)) == content)
        // The log is still at the old path, which the next program reports.
        let next = try RosterProcess.run(["count", sample.store, "Team"])
        #expect(next.status == 1 && next.errors.contains("mv -n"), "\(next)")
    }

    @Test func aDeletedStoreEndsIt() throws {
        let writer = try simulate(then: "rm \"$1\"")
        #expect(writer.errors("it was deleted"))
        #expect(!FileManager.default.fileExists(atPath: sample.store))
    }

    @Test func aFollowerReportsThatTheStoreIsMissing() throws {
        let reader = try sample.followed(wins: 5)
        try FileManager.default.moveItem(atPath: sample.store, toPath: sample.path("Moved.sqlite"))
        #expect(reader.waitForEnd() == 1)
        #expect(reader.errorLines.count == 1 && reader.errors("its file is gone"), "\(reader.errorLines)")
    }
}

extension LiveProcess {
    fileprivate func errors(_ text: String) -> Bool { errorLines.joined().contains(text) }
}
