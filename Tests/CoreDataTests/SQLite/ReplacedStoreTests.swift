import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// Another file replaces an open store.
@Suite struct ReplacedStoreTests {
    /// A commit in progress is in a log that is newer than the other file and does not belong to it.
    @Test func aCommitInProgressIsNotAppliedToTheOtherFile() throws {
        let harness = try StoreHarness(StoreModels.league())
        try harness.open().close()
        let copy = harness.folder.appendingPathComponent("Copy.sqlite")
        try FileManager.default.copyItem(at: harness.url, to: copy)
        let open = try harness.open()
        try open.insert("Venue", ["name": .text("early")])
        let connection = try #require(open.store.openSession).connection
        try connection.transaction { () throws -> Void in
            try connection.execute("UPDATE ZVENUE SET ZNAME = 'late'")
            #expect(rename(copy.path, harness.url.path) == 0)
            // Makes the log newer than the file.
            usleep(20_000)
        }
        let content = try Data(contentsOf: harness.url)
        #expect(throws: (any Error).self) { try open.insert("Venue", ["name": .text("refused")]) }
        try? open.close()
        #expect {
            _ = try harness.open()
        } throws: { error in
            code(error) == 259 && message(error).contains("mv -n")
        }
        #expect(try Data(contentsOf: harness.url) == content)
    }
}
