import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// The token changes with every commit of any process, and only then.
@Suite struct ChangeTokenTests {
    let harness: StoreHarness
    init() throws { harness = try StoreHarness(StoreModels.league()) }

    @Test(arguments: ["wal", "delete"]) func everyCommitChangesIt(_ mode: String) throws {
        let options: [AnyHashable: Any] = [NSSQLitePragmasOption: ["journal_mode": mode]]
        let open = try harness.open(options)
        var seen: Set<String> = [try open.store.changeToken()]
        for number in 0..<20 {
            try open.insert("Team", ["name": .text("\(number)")])
            #expect(seen.insert(try open.store.changeToken()).inserted)
            // A program that does not use Core Data.
            _ = try harness.sql("UPDATE ZTEAM SET ZWINS = ?", [.integer(Int64(number))])
            #expect(seen.insert(try open.store.changeToken()).inserted)
        }
    }

    @Test func readingAndReopeningDoNotChangeIt() throws {
        let first = try harness.open()
        try first.insert("Team", ["name": .text("A")])
        let token = try first.store.changeToken()
        _ = try first.store.fetch(StoreQuery(entity: first.entity("Team")))
        #expect(try first.store.changeToken() == token)
        let second = try harness.open()
        #expect(try second.store.changeToken() == token)
        try second.close()
        try first.close()
        for _ in 0..<3 {
            let again = try harness.open()
            #expect(try again.store.changeToken() == token)
            try again.close()
        }
        let reader = try harness.open([NSReadOnlyPersistentStoreOption: true])
        #expect(try reader.store.changeToken() == token)
    }

    @Test func movingTheLogIntoTheFileDoesNotChangeIt() throws {
        let open = try harness.open()
        try open.insert("Team", ["name": .text("A")])
        let token = try open.store.changeToken()
        _ = try harness.sql("PRAGMA wal_checkpoint(FULL)")
        #expect(try open.store.changeToken() == token)
    }

    @Test func aChangeWhileTheStoreWasClosedChangesIt() throws {
        let open = try harness.open()
        try open.insert("Team", ["name": .text("A")])
        let token = try open.store.changeToken()
        try open.close()
        _ = try harness.sql("UPDATE ZTEAM SET ZWINS = 1")
        let again = try harness.open()
        #expect(try again.store.changeToken() != token)
    }

    /// A killed program may leave complete frames that were not committed, or commits that were rolled back. Frames
    /// written over them later have another content.
    @Test func framesLeftByAKilledProgramAreNotCommits() throws {
        let open = try harness.open()
        try open.insert("Team", ["name": .text("A")])
        let first = try open.insert("Team", ["name": .text("B")])
        let log = URL(fileURLWithPath: harness.url.path + "-wal")
        let before = try Data(contentsOf: log).count
        func rename(_ name: String) throws {
            try open.store.save(StoreChangeSet(updated: [try open.change(first, ["name": .text(name)])]))
        }
        _ = try open.store.changeToken()
        try rename("C")
        let whole = try Data(contentsOf: log)
        // After the last commit, writes headers of frames with the log's salts; the last one is that of a commit.
        let frame = 4096 + 24
        #expect((whole.count - before) % frame == 0)
        let file = try FileHandle(forWritingTo: log)
        try file.seekToEnd()
        for _ in 0..<8 { try file.write(contentsOf: whole.suffix(frame)) }
        try file.close()
        var seen: Set<String> = [try open.store.changeToken()]
        for number in 0..<3 {
            try rename("\(number)")
            #expect(seen.insert(try open.store.changeToken()).inserted)
        }
        try open.close()
    }

    /// The oldest notes are removed, because their stores may not exist any more.
    @Test func notesDoNotPileUp() throws {
        let folder = ChangeToken.notesFolder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for number in 0..<300 {
            let file = folder.appendingPathComponent("NOTES-DO-NOT-PILE-UP-\(number)")
            try Data("{}".utf8).write(to: file)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: file.path)
        }
        let open = try harness.open()
        try open.insert("Team", ["name": .text("A")])
        let token = try open.store.changeToken()
        try open.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count <= 256)
        let again = try harness.open()
        #expect(try again.store.changeToken() == token)
        try again.close()
    }
}
