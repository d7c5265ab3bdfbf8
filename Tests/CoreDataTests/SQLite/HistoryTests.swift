import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// The history is written with its rows and can be read by any other connection.
@Suite struct StoreHistoryTests {
    let harness: StoreHarness
    init() throws { harness = try StoreHarness(StoreModels.league()) }

    @Test func everySaveIsATransaction() throws {
        let open = try harness.open(StoreHarness.history)
        #expect(try open.store.lastHistoryNumber() == 0)
        let begin = Date()
        let team = try open.newRow("Team", ["name": .text("A"), "wins": .integer(1)])
        let venue = try open.newRow("Venue", ["name": .text("V")])
        try open.store.save(StoreChangeSet(inserted: [team, venue], author: "importer", contextName: "background"))
        let update = try open.change(team.id, ["wins": .integer(2), "home": .reference(venue.id)])
        try open.store.save(StoreChangeSet(updated: [update]))
        try open.store.save(StoreChangeSet(deleted: [try open.deletion(team.id)], author: "importer"))

        let transactions = try open.store.history(after: 0)
        #expect(transactions.map(\.number) == [1, 2, 3])
        #expect(transactions.map(\.author) == ["importer", nil, "importer"])
        #expect(transactions.map(\.contextName) == ["background", nil, nil])
        #expect(transactions.map(\.isOwn) == [true, true, true])
        #expect(transactions.allSatisfy { $0.timestamp >= begin.addingTimeInterval(-1) && $0.timestamp <= Date() })
        #expect(transactions.map { $0.changes.map(\.kind) } == [[.insert, .insert], [.update], [.delete]])
        #expect(transactions.flatMap(\.changes).map(\.number) == [1, 2, 3, 4])
        let changed = transactions[1].changes[0]
        #expect(open.store.objectID(for: changed.key) == team.id)
        #expect(Set(changed.changedProperties) == ["wins", "home"])
        #expect(transactions[2].changes[0].tombstone == ["name": .text("A")])
        #expect(try open.store.lastHistoryNumber() == 3)
        #expect(try open.store.history(after: 2).map(\.number) == [3])
    }

    @Test func anotherConnectionSeesItAsForeign() throws {
        let writer = try harness.open(StoreHarness.history)
        let reader = try harness.open(StoreHarness.history)
        let before = try reader.store.dataVersion()
        let id = try writer.insert("Team", ["name": .text("A")])
        #expect(try reader.store.dataVersion() != before)
        let found = try reader.store.history(after: 0)
        #expect(found.map(\.isOwn) == [false])
        #expect(
            found.flatMap(\.changes).map { reader.store.objectID(for: $0.key).uriRepresentation() } == [
                id.uriRepresentation()
            ])
    }

    @Test func rowsAreInApplesForm() throws {
        let open = try harness.open(StoreHarness.history)
        let id = try open.insert("Team", ["name": .text("A")])
        try open.store.save(StoreChangeSet(updated: [try open.change(id, ["name": .text("B")])], author: "me"))
        #expect(
            try harness.sql(
                "SELECT Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS FROM ACHANGE")
                == [
                    [.integer(16001), .null, .integer(0), .integer(1), .integer(1), .integer(1), .null],
                    // The properties are home, name, wins; the second of three bits is set.
                    [
                        .integer(16001), .null, .integer(1), .integer(1), .integer(1), .integer(2),
                        .blob(Data([0b0100_0000])),
                    ],
                ])
        #expect(
            try harness.sql("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000").map {
                $0.prefix(3)
            }
                == [
                    [.integer(16001), .text("CHANGE"), .integer(0)],
                    [.integer(16002), .text("TRANSACTION"), .integer(0)],
                    [.integer(16003), .text("TRANSACTIONSTRING"), .integer(0)],
                ])
        #expect(
            try harness.sql(
                "SELECT s.ZNAME FROM ATRANSACTION t JOIN ATRANSACTIONSTRING s ON s.Z_PK = t.ZAUTHORTS") == [
                    [.text("me")]
                ])
    }

    @Test func withoutTheOptionThereIsNone() throws {
        let open = try harness.open()
        try open.insert("Team", ["name": .text("A")])
        #expect(try open.store.lastHistoryNumber() == nil)
        #expect(try open.store.history(after: 0).isEmpty)
        try open.close()
        // The history begins when the option is set and continues without it.
        let later = try harness.open(StoreHarness.history)
        try later.insert("Team", ["name": .text("B")])
        #expect(try later.store.lastHistoryNumber() == 1)
        try later.close()
        let last = try harness.open()
        try last.insert("Team", ["name": .text("C")])
        #expect(try last.store.history(after: 0).count == 2)
    }

    @Test func numbersContinueAfterTheHistoryWasEmptied() throws {
        let open = try harness.open(StoreHarness.history)
        try open.insert("Team", ["name": .text("A")])
        _ = try harness.sql("DELETE FROM ACHANGE")
        _ = try harness.sql("DELETE FROM ATRANSACTION")
        #expect(try open.store.lastHistoryNumber() == 1)
        try open.insert("Team", ["name": .text("B")])
        #expect(try open.store.history(after: 1).map(\.number) == [2])
    }
}
