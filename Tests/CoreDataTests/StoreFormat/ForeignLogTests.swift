import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// A write-ahead log that belongs to another store: an error names it, and nothing is changed.
@Suite struct ForeignLogTests {
    private let own: StoreHarness
    private let other: StoreHarness

    init() throws {
        own = try StoreHarness(StoreModels.league())
        other = try StoreHarness(StoreModels.league())
    }

    private func log(_ harness: StoreHarness) -> URL { URL(fileURLWithPath: harness.url.path + "-wal") }

    /// Creates a store with some rows, all in its main file.
    private func fill(_ harness: StoreHarness, _ count: Int) throws {
        let open = try harness.open()
        for number in 0..<count { try open.insert("Venue", ["name": .text("Venue \(number)")]) }
        try open.close()
    }

    /// Copies the other store's current log to the path of the store's log.
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
        // The command in the message solves the problem.
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

    /// A log from the middle of the other store's life, which changed the use of pages.
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

    /// Two copies of one store that diverged: the UUID and length are equal, the tables differ.
    @Test func theLogOfACopyThatWentAnotherWay() throws {
        try fill(own, 5)
        try FileManager.default.copyItem(at: own.url, to: other.url)
        _ = try own.sql("CREATE TABLE EXTRA (A)")
        _ = try other.sql("CREATE INDEX EXTRA ON ZVENUE (ZNAME)")
        let writer = try changeARow()
        try expectRefusal("it has other tables", takeLog())
        writer.close()
    }

    /// A change by a program that does not write the first page, so that the log does not show which file it belongs
    /// to.
    private func changeARow() throws -> Connection {
        let writer = try Connection(path: other.url.path, access: .readWrite)
        try writer.execute("UPDATE ZVENUE SET ZNAME = 'changed' WHERE Z_PK = 2")
        #expect(try #require(LogContents(path: log(other).path)).heads.isEmpty)
        return writer
    }

    /// Branches of one store with equal numbers of commits: SQLite writes the same header fields into both.
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

    /// A log left by a killed program belongs to the store.
    @Test func ownLogsAreRead() throws {
        let open = try own.open()
        func names() throws -> Int64? {
            let reopened = try own.open(url: copy())
            defer { try? reopened.close() }
            return try #require(reopened.store.openSession).connection.integer("SELECT COUNT(*) FROM ZVENUE")
        }
        // The rows of a new store are mostly in its log.
        #expect(try names() == 0)
        for number in 1...40 {
            try open.insert("Venue", ["name": .text(String(repeating: "long ", count: number * 20))])
            guard number % 10 == 0 else { continue }
            #expect(try names() == Int64(number))
            // Copies from the log to the main file as far as the last reader allows.
            try #require(open.store.openSession).connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        }
        try open.close()
    }

    /// A copy of the store's current files, with another log if one is given.
    private func copy(log other: Data? = nil) throws -> URL {
        let copy = own.folder.appendingPathComponent("Copy.sqlite")
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy.path + suffix) }
        try FileManager.default.copyItem(at: own.url, to: copy)
        try (other ?? Data(contentsOf: log(own))).write(to: URL(fileURLWithPath: copy.path + "-wal"))
        return copy
    }

    /// A reused log contains older frames. A writer killed between the header and the page of a frame leaves a
    /// valid-looking header with another frame's page.
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

    @Test func anInvalidLogIsIgnored() throws {
        try fill(own, 5)
        try Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 * 7) }).write(to: log(own))
        // The first reader creates an index without a log. SQLite itself would let the second reader wait for another
        // process and fail.
        for _ in 1...3 {
            let reader = try own.open([NSReadOnlyPersistentStoreOption: true])
            try reader.close()
        }
        let open = try own.open()
        #expect(try own.sql("SELECT COUNT(*) FROM ZVENUE") == [[.integer(5)]])
        try open.close()
    }

    /// VACUUM ran immediately before the program was killed: every page is written again, and their number differs.
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

    /// The check reads the file without SQLite, and closing it would release this process's locks on it. So the check
    /// is skipped for a store that is open in this process.
    @Test func aStoreThatIsOpenHereIsNotChecked() throws {
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
        // The same under another name.
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

    /// The checksums are valid, so only a malicious program writes such a log. SQLite ends the log at that frame.
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
