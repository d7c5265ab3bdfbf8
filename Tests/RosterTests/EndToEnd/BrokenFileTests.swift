import Foundation
import SQLiteAccess
import TestSupport
import Testing

/// Errors for damaged or wrong files: one line with the file and the position, and status 1.
@Suite(.needs(.process)) struct BrokenFileTests {
    private let sample: SampleFolder

    init() throws { sample = try SampleFolder() }

    private func expectRefusal(
        _ texts: [String], _ arguments: [String], location: SourceLocation = #_sourceLocation
    ) throws {
        let outcome = try RosterProcess.run(arguments)
        #expect(outcome.status == 1, "\(outcome.errors)", sourceLocation: location)
        #expect(outcome.errorLines.count == 1 && outcome.output == "", "\(outcome.errors)", sourceLocation: location)
        for text in texts { #expect(outcome.errors.contains(text), "\(outcome.errors)", sourceLocation: location) }
    }

    /// The body of an invalid source model, the line of the error, and a word of the message.
    private static let sources: [(body: String, line: Int, word: String)] = [
        ("<entity name=\"A\">\n<attribute name=\"x\" attributeType=\"Number\"/></entity>", 2, "'Number'"),
        (
            "<entity name=\"A\">\n<relationship name=\"r\" destinationEntity=\"A\" inverseName=\"q\"/></entity>", 2,
            "'q'"
        ),
        ("<entity name=\"A\" parentEntity=\"B\"/>\n<entity name=\"B\" parentEntity=\"A\"/>", 1, "own ancestor"),
        ("<entity name=\"A\"/>\n<entity name=\"A\"/>", 2, "duplicate"),
        ("<entity name=\"A\">\n<relationship name=\"r\" toMany=\"YES\"/></entity>", 2, "destinationEntity"),
        ("<entity name=\"A\"/>\n<fetchRequest name=\"F\" entity=\"A\" predicateString=\"a ==\"/>", 2, "'F'"),
    ]

    @Test(arguments: sources) func sourceModels(_ body: String, line: Int, word: String) throws {
        let folder = sample.path("M.xcdatamodel")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let file = try sample.file("M.xcdatamodel/contents", "<model>\(body)</model>")
        try expectRefusal(["\(file):\(line): ", word], ["model", folder])
        try expectRefusal(
            ["\(file):\(line): ", word], ["model", "compile", folder, "--output", sample.path("M.momd")])
        try expectRefusal(["\(file):\(line): ", word], ["create", sample.path("new.sqlite"), "--model", folder])
        #expect(!FileManager.default.fileExists(atPath: sample.path("new.sqlite")))
    }

    @Test func compiledModels() throws {
        let whole = sample.path("W.mom")
        #expect(
            try RosterProcess.run(["model", "compile", SampleFolder.model, "--output", whole]).status == 0)
        let cut = URL(fileURLWithPath: sample.path("Cut.mom"))
        try Data(contentsOf: URL(fileURLWithPath: whole)).dropLast(100).write(to: cut)
        try expectRefusal([cut.path, "damaged", "truncated", "at byte"], ["model", cut.path])
        let old = sample.path("Old.xcdatamodel")
        try FileManager.default.createDirectory(atPath: old, withIntermediateDirectories: true)
        _ = try sample.file("Old.xcdatamodel/elements", "bplist00")
        try expectRefusal([old, "Xcode 3", "save it with a later Xcode"], ["model", old])
    }

    @Test func stores() throws {
        try change("UPDATE Z_MODELCACHE SET Z_CONTENT = CAST(substr(Z_CONTENT, 1, 700) || x'00' AS BLOB)")
        let text = ["\(sample.store): cannot read the model in the store"]
        for verb in ["count", "list"] { try expectRefusal(text, [verb, sample.store, "Team"]) }
        // With an external model the rows can be read.
        let rescued = try RosterProcess.run(["count", sample.store, "Team", "--model", SampleFolder.model])
        #expect(rescued.output == "80", "\(rescued.errors)")
        try change("DROP TABLE Z_METADATA")
        try expectRefusal([sample.store, "not a Core Data store"], ["count", sample.store, "Team"])
        let encrypted = try sample.file("encrypted.sqlite", String(repeating: "\u{7}secret", count: 3000))
        try expectRefusal([encrypted, "encrypted"], ["count", encrypted, "Team"])
        try expectRefusal([sample.url.path, "folder"], ["count", sample.url.path, "Team"])
        try expectRefusal(["/dev/zero", "not a regular file"], ["count", "/dev/zero", "Team"])
    }

    private func change(_ sql: String) throws {
        let connection = try Connection(path: sample.store, access: .readWrite)
        try connection.execute(sql)
        connection.close()
    }

    /// A log that was copied next to the wrong store: nothing is read or written.
    @Test func aLogOfAnotherStore() throws {
        let other = try SampleFolder()
        let reader = try Connection(path: other.store, access: .readWrite)
        defer { reader.close() }
        _ = try reader.integer("SELECT COUNT(*) FROM ZTEAM")
        try reader.execute("UPDATE ZTEAM SET ZWINS = ZWINS + 1")
        // Make the stores differ.
        try change("DELETE FROM ZVENUE")
        try change("VACUUM")
        let log = sample.store + "-wal"
        try? FileManager.default.removeItem(atPath: log)
        try FileManager.default.copyItem(atPath: other.store + "-wal", toPath: log)
        let files = try [sample.store, log].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        try expectRefusal([log, "belongs to another store or is damaged", "Move it"], ["count", sample.store, "Team"])
        try expectRefusal([log], ["update", sample.store, "Team", "--where", "wins > 3", "wins=9"])
        #expect(try [sample.store, log].map { try Data(contentsOf: URL(fileURLWithPath: $0)) } == files)
        try FileManager.default.moveItem(atPath: log, toPath: sample.path("away"))
        #expect(try RosterProcess.run(["count", sample.store, "Team"]).output == "80")
    }
}
