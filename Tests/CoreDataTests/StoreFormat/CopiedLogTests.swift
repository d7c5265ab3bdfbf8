import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// A store's file is replaced while it has the log of a program that was killed during its first checkpoint: the index
/// records that a checkpoint began, but not its progress. The log's pages in the file show if the log belongs to it.
@Suite struct CopiedLogTests {
    private let harness: StoreHarness
    private let copy: URL

    init() throws {
        harness = try StoreHarness(StoreModels.league())
        copy = harness.folder.appendingPathComponent("Copy.sqlite")
    }

    /// A page of the log, with the contents that a checkpoint writes.
    private struct Page {
        let number: UInt32
        let bytes: Data
    }

    /// Leaves a store with a log as a killed program does, with an index of an unfinished checkpoint, and returns the
    /// pages of the log in order.
    private func leaveLog() throws -> [Page] {
        let filled = try harness.open()
        var ids: [NSManagedObjectID] = []
        for number in 0..<200 {
            ids.append(try filled.insert("Venue", ["name": .text(String(repeating: "\(number) ", count: 100))]))
        }
        try filled.close()
        let open = try harness.open()
        // Each page is written twice, the first ones three times.
        for round in 0..<3 {
            for id in ids.prefix(round == 2 ? 20 : 200) {
                try open.store.save(
                    StoreChangeSet(updated: [
                        try open.change(id, ["name": .text(String(repeating: "x\(round)", count: 100))])
                    ]))
            }
        }
        for suffix in ["", "-wal", "-shm"] {
            try FileManager.default.copyItem(atPath: harness.url.path + suffix, toPath: copy.path + suffix)
        }
        let contents = try #require(LogContents(path: copy.path + "-wal"))
        var index = try Data(contentsOf: URL(fileURLWithPath: copy.path + "-shm"))
        #expect(LogState(indexAt: copy.path + "-shm")?.copied == 0)
        withUnsafeBytes(of: UInt32(contents.committedPages.count)) { index.replaceSubrange(128..<132, with: $0) }
        try index.write(to: URL(fileURLWithPath: copy.path + "-shm"))
        let log = try Data(contentsOf: URL(fileURLWithPath: copy.path + "-wal"))
        try open.close()
        return contents.lastFrames(contents.committedPages.count).sorted { $0.key < $1.key }.map { number, frame in
            let start = Int(contents.place(ofFrame: frame))
            return Page(number: number, bytes: log[start..<start + contents.pageSize])
        }
    }

    /// Writes pages of the log into the file; returns true if the store opens.
    private func opens(with pages: some Sequence<Page>) throws -> Bool {
        let kept = try Data(contentsOf: copy)
        defer { try? kept.write(to: copy, options: []) }
        // Writes in place, as a checkpoint and `cp` do, and later than the log.
        let file = try FileHandle(forWritingTo: copy)
        for page in pages {
            try file.seek(toOffset: UInt64(page.number - 1) * UInt64(page.bytes.count))
            try file.write(contentsOf: page.bytes)
        }
        try file.seek(toOffset: 0)
        try file.write(contentsOf: kept.prefix(16))
        try file.close()
        do {
            try LogOwnership.check(copy.path) {}
            return true
        } catch let error as NSError {
            #expect(error.code == 259 && error.localizedDescription.contains("replaced or overwritten"), "\(error)")
            return false
        }
    }

    @Test func theLowestPagesAreCopiedFirst() throws {
        let pages = try leaveLog()
        try #require(pages.count > 12)
        // A restored file contains none of the log's pages, or some that a checkpoint would not reach without the first
        // one.
        #expect(try !opens(with: []))
        #expect(try !opens(with: pages.dropFirst(2).prefix(1)))
        #expect(try !opens(with: pages.dropFirst(1)))
        #expect(try !opens(with: pages.suffix(pages.count / 2)))
        // An interrupted checkpoint.
        for count in [1, 4, pages.count / 2, pages.count - 1, pages.count] {
            #expect(try opens(with: pages.prefix(count)), "\(count) of \(pages.count) pages")
        }
    }
}
