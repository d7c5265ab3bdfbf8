import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// The token changes with every commit of any process, and with nothing else.
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
            // A program that knows nothing of Core Data.
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
}
