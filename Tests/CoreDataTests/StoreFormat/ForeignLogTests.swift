import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// A write-ahead log beside a store for which it was not written: an error that names it, and nothing is touched.
@Suite struct ForeignLogTests {
    private let own: StoreHarness
    private let other: StoreHarness

    init() throws {
        own = try StoreHarness(StoreModels.league())
        other = try StoreHarness(StoreModels.league())
    }

    private func log(_ harness: StoreHarness) -> URL { URL(fileURLWithPath: harness.url.path + "-wal") }

    /// Makes a store with some rows, all in its main file.
    private func fill(_ harness: StoreHarness, _ count: Int) throws {
        let open = try harness.open()
        for number in 0..<count { try open.insert("Venue", ["name": .text("Venue \(number)")]) }
        try open.close()
    }

    /// Puts the other store's log, as it is now, beside the store.
    private func takeLog() throws -> [Data] {
        try? FileManager.default.removeItem(at: log(own))
        try FileManager.default.copyItem(at: log(other), to: log(own))
        return try [own.url, log(own)].map { try Data(contentsOf: $0) }
    }

    private func expectRefusal(_ text: String, _ files: [Data], _ place: SourceLocation = #_sourceLocation) throws {
        for options in [nil, [NSReadOnlyPersistentStoreOption: true]] {
            let error = #expect(throws: NSError.self, sourceLocation: place) { try own.open(options) }
            #expect(error?.code == 259, sourceLocation: place)
            let message = error?.localizedDescription ?? ""
            #expect(
                message.contains(log(own).path) && message.contains(text) && message.contains("mv -n '"),
                "\(message)", sourceLocation: place)
        }
        #expect(throws: NSError.self, sourceLocation: place) {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: own.url)
        }
        #expect(try [own.url, log(own)].map { try Data(contentsOf: $0) } == files, sourceLocation: place)
        // What the message says helps.
        try FileManager.default.moveItem(
            at: log(own), to: own.folder.appendingPathComponent("away-\(UUID().uuidString)"))
        let open = try own.open()
        #expect(try own.sql("SELECT COUNT(*) FROM ZVENUE") == [[.integer(5)]], sourceLocation: place)
        try open.close()
    }

    @Test func theLogOfAWholeStore() throws {
        try fill(own, 5)
        let open = try other.open()
        try open.insert("Venue", ["name": .text("elsewhere")])
        try expectRefusal("another state of the store", takeLog())
        try open.close()
    }

    /// A log that changed what is where, from the middle of the other store's life.
    @Test func theLogOfAGrowingStore() throws {
        try fill(own, 5)
        try fill(other, 600)
        let open = try other.open()
        for number in 0..<100 { try open.insert("Venue", ["name": .text("elsewhere \(number)")]) }
        try expectRefusal("another state of the store", takeLog())
        try open.close()
    }

    @Test func theLogOfAFewRowsOfALongerStore() throws {
        try fill(own, 5)
        try fill(other, 400)
        let writer = try changeARow()
        try expectRefusal("it was written for a file of", takeLog())
        writer.close()
    }

    /// Two copies of one store that went different ways: UUID and length are the same, the tables are not.
    @Test func theLogOfACopyThatWentAnotherWay() throws {
        try fill(own, 5)
        try FileManager.default.copyItem(at: own.url, to: other.url)
        _ = try own.sql("CREATE TABLE EXTRA (A)")
        _ = try other.sql("CREATE INDEX EXTRA ON ZVENUE (ZNAME)")
        let writer = try changeARow()
        try expectRefusal("it has other tables", takeLog())
        writer.close()
    }

    /// A change by a program that does not write the first page, and so does not say what its log follows on.
    private func changeARow() throws -> Connection {
        let writer = try Connection(path: other.url.path, access: .readWrite)
        try writer.execute("UPDATE ZVENUE SET ZNAME = 'changed' WHERE Z_PK = 2")
        #expect(try #require(LogContents(path: log(other).path)).heads.isEmpty)
        return writer
    }

    /// Branches of one store's life, each with as many commits: all that SQLite writes into the files is the same.
    @Test func theLogOfABranchOfAsManyCommits() throws {
        try fill(own, 5)
        try FileManager.default.copyItem(at: own.url, to: other.url)
        for harness in [own, other] {
            let open = try harness.open()
            let id = open.store.objectID(
                for: RowKey(entity: UInt32(try open.entity("Venue").layout.index), reference: 2))
            try open.store.save(StoreChangeSet(updated: [try open.change(id, ["name": .text("changed")])]))
            if harness === other {
                try expectRefusal("another state of the store", takeLog())
            }
            try open.close()
        }
    }

    /// What a program that was killed leaves behind is the store's own.
    @Test func ownLogsAreRead() throws {
        let open = try own.open()
        func names() throws -> Int64? {
            let reopened = try own.open(url: copy())
            defer { try? reopened.close() }
            return try #require(reopened.store.openSession).connection.integer("SELECT COUNT(*) FROM ZVENUE")
        }
        // A new store stands in its log, for the most part.
        #expect(try names() == 0)
        for number in 1...40 {
            try open.insert("Venue", ["name": .text(String(repeating: "long ", count: number * 20))])
            guard number % 10 == 0 else { continue }
            #expect(try names() == Int64(number))
            // Copied from the log to the main file, as far as the last reader allowed.
            try #require(open.store.openSession).connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        }
        try open.close()
    }

    /// A copy of the own store as it lies there now, with another log if one is given.
    private func copy(log other: Data? = nil) throws -> URL {
        let copy = own.folder.appendingPathComponent("Copy.sqlite")
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy.path + suffix) }
        try FileManager.default.copyItem(at: own.url, to: copy)
        try (other ?? Data(contentsOf: log(own))).write(to: URL(fileURLWithPath: copy.path + "-wal"))
        return copy
    }

    /// A log that is used again holds older frames; a writer that dies between writing a frame's head and its page leaves a head
    /// that looks whole over the page of another.
    @Test func aCommitThatWasCutOffIsPassedOver() throws {
        let open = try own.open()
        for number in 1...30 { try open.insert("Venue", ["name": .text("Venue \(number)")]) }
        try #require(open.store.openSession).connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        let before = try Data(contentsOf: log(own))
        let id = open.store.objectID(for: RowKey(entity: UInt32(try open.entity("Venue").layout.index), reference: 2))
        try open.store.save(StoreChangeSet(updated: [try open.change(id, ["name": .text("changed")])]))
        let after = try Data(contentsOf: log(own))
        let frameSize = 24 + (Int(after[10]) << 8 | Int(after[11]))
        let frames = stride(from: 32, to: after.count, by: frameSize).prefix {
            after[$0 + 8..<$0 + 16] == after[16..<24]
        }
        #expect(after != before && !frames.isEmpty && frames.count < (after.count - 32) / frameSize)
        for frame in frames {
            let page = frame + 24..<frame + frameSize
            let reopened = try own.open(
                url: copy(log: after[..<page.lowerBound] + before[page] + after[page.upperBound...]))
            let connection = try #require(reopened.store.openSession).connection
            #expect(try connection.integer("SELECT COUNT(*) FROM ZVENUE") == 30)
            try reopened.close()
        }
        try open.close()
    }

    @Test func aStoreMayBeGivenAnotherUUID() throws {
        let open = try own.open()
        for number in 1...30 { try open.insert("Venue", ["name": .text("Venue \(number)")]) }
        let connection = try #require(open.store.openSession).connection
        try connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        try connection.execute("UPDATE Z_METADATA SET Z_UUID = 'ANOTHER'")
        let reopened = try own.open(url: copy())
        #expect(reopened.store.identifier == "ANOTHER")
        try reopened.close()
        try open.close()
    }

    @Test func aLogThatIsNoneIsPassedOver() throws {
        try fill(own, 5)
        try Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 * 7) }).write(to: log(own))
        // The first reader makes an index, in which no log stands; SQLite by itself has the second one wait for another, and give up
        // in the end.
        for _ in 1...3 {
            let reader = try own.open([NSReadOnlyPersistentStoreOption: true])
            try reader.close()
        }
        let open = try own.open()
        #expect(try own.sql("SELECT COUNT(*) FROM ZVENUE") == [[.integer(5)]])
        try open.close()
    }

    /// A store that was tidied up as a whole just before the program was killed: every page is written anew, and another
    /// number of them.
    @Test func aVacuumThatIsStillInTheLog() throws {
        let open = try own.open()
        let connection = try #require(open.store.openSession).connection
        var ids: [NSManagedObjectID] = []
        for number in 1...60 {
            ids.append(try open.insert("Venue", ["name": .text(String(repeating: "\(number) ", count: 300))]))
        }
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for (number, id) in ids.enumerated() where number % 3 != 0 {
            try open.store.save(StoreChangeSet(deleted: [try open.deletion(id)]))
        }
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        let pages = try connection.integer("PRAGMA page_count") ?? 0
        try connection.execute("VACUUM")
        let contents = try #require(LogContents(path: log(own).path))
        #expect(contents.size < pages && contents.firstBytes.count == contents.size)
        let reopened = try own.open(url: copy())
        let read = try #require(reopened.store.openSession).connection
        #expect(try read.integer("SELECT COUNT(*) FROM ZVENUE") == 20)
        #expect(try read.value("PRAGMA integrity_check") == .text("ok"))
        try reopened.close()
        try open.close()
    }

    /// Looking at the log means reading the file beside SQLite, and closing that would drop the locks that this process
    /// holds on it. So a program that has it open here is believed.
    @Test func aStoreThatIsOpenHereIsNotLookedAt() throws {
        try fill(own, 5)
        let open = try other.open()
        try open.insert("Venue", ["name": .text("elsewhere")])
        _ = try takeLog()
        let path = own.url.path
        func isLookedAt() throws -> Bool {
            do {
                try LogOwnership.check(path) {}
                return false
            } catch {
                #expect((error as NSError).code == 259)
                return true
            }
        }
        #expect(try isLookedAt())
        // By another name, too.
        let link = own.folder.appendingPathComponent("Link.sqlite")
        try FileManager.default.linkItem(at: own.url, to: link)
        for url in [own.url, link] {
            let handle = try FileHandle(forReadingFrom: url)
            #expect(try !isLookedAt())
            try handle.close()
            #expect(try isLookedAt())
        }
        try open.close()
    }

    /// The checksums are right, so only a program that means harm writes such a log. SQLite ends it at that frame.
    @Test(arguments: [UInt32(0), 1])
    func aFrameOfNoPageEndsTheLog(page: UInt32) throws {
        let path = NSTemporaryDirectory() + "forged-\(UUID().uuidString)-wal"
        defer { try? FileManager.default.removeItem(atPath: path) }
        var sum: (UInt32, UInt32) = (0, 0)
        func bytes(_ words: [UInt32]) -> [UInt8] {
            words.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) } }
        }
        func add(_ words: [UInt32]) -> [UInt32] {
            for index in stride(from: 0, to: words.count, by: 2) {
                sum.0 &+= words[index] &+ sum.1
                sum.1 &+= words[index + 1] &+ sum.0
            }
            return words
        }
        let header = add([0x377f_0683, 3_007_000, 512, 0, 1, 2]) + [sum.0, sum.1]
        let frame = add([page, 1])
        let content = add([UInt32](repeating: 0x0d00_0000, count: 128))
        let log = bytes(header + frame + [1, 2, sum.0, sum.1] + content)
        try Data(log).write(to: URL(fileURLWithPath: path))
        #expect(LogContents(path: path)?.committedPages == (page == 0 ? nil : [page]))
    }
}
