import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// Errors in a store's file are found and repaired if possible.
@Suite struct StoreCheckTests {
    /// Two folders, each with three parts and three ordered notes, and a medium; a photo with a large value.
    private func filled() throws -> (harness: StoreHarness, open: StoreHarness.Open) {
        let model = StoreModels.web()
        let image = StoreModels.attribute("image", .binaryDataAttributeType)
        image.allowsExternalBinaryDataStorage = true
        model.entities += [StoreModels.entity("Photo", [image])]
        let harness = try StoreHarness(model)
        let open = try harness.open(StoreHarness.history)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = open.coordinator
        try context.performAndWait { () throws in
            func insert(_ entity: String) -> NSManagedObject {
                NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            }
            for _ in 0..<2 {
                let folder = insert("Folder")
                for _ in 0..<3 {
                    folder.mutableOrderedSetValue(forKey: "parts").add(insert("Part"))
                    folder.mutableOrderedSetValue(forKey: "notes").add(insert("Note"))
                }
            }
            insert("Photo").setValue(Data(repeating: 7, count: 300_000), forKey: "image")
            try context.save()
        }
        return (harness, open)
    }

    /// The findings after `damage` and after a repair.
    private func findings(_ damage: (StoreHarness, SQLiteSession) throws -> Void) throws -> (
        before: [PersistentStoreFinding], after: [PersistentStoreFinding]
    ) {
        let (harness, open) = try filled()
        #expect(try open.coordinator.findings(in: open.store).isEmpty)
        try damage(harness, try #require(open.store.openSession))
        let before = try open.coordinator.findings(in: open.store)
        let repaired = try open.coordinator.repair(open.store)
        #expect(repaired == before.filter(\.isRepairable))
        return (before, try open.coordinator.findings(in: open.store))
    }

    @Test(arguments: [
        (
            "UPDATE ZPART SET ZWHOLE = 77 WHERE Z_PK = 2", PersistentStoreFinding.Kind.reference,
            "row 2 of the table ZPART"
        ),
        ("UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Part'", .counter, "is 1, but its last key is 6"),
        (
            "UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807 WHERE Z_NAME = 'Part'", .counter,
            "the last possible key, but its last key is 6"
        ),
        ("UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775806 WHERE Z_NAME = 'TRANSACTION'", .counter, "ATRANSACTION"),
        ("UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807 WHERE Z_NAME = 'CHANGE'", .counter, "ACHANGE"),
        (
            "UPDATE ZPART SET Z_OPT = 9223372036854775807 WHERE Z_PK = 2", .counter,
            "row 2 of the table ZPART: the version"
        ),
        ("UPDATE ZPART SET Z_FOK_WHOLE = 2048", .order, "2 lists"),
        ("UPDATE ZPART SET Z_FOK_WHOLE = NULL WHERE Z_PK = 5", .order, "members with a missing or duplicate position"),
        (
            "UPDATE ACHANGE SET ZTRANSACTIONID = 50 WHERE Z_PK = 3", .history,
            "the transaction of the change does not exist"
        ),
        ("UPDATE ATRANSACTION SET ZPROCESSIDTS = 9", .history, "ZPROCESSIDTS"),
    ]) func isFoundAndSetRight(sql: String, kind: PersistentStoreFinding.Kind, text: String) throws {
        let (before, after) = try findings { _, session in try session.connection.execute(sql) }
        #expect(before.map(\.kind) == [kind])
        #expect(before.first?.message.contains(text) == true, "\(before)")
        #expect(after.isEmpty, "\(after)")
    }

    @Test func aPairThatLeadsNowhereIsRemovedAndTheOthersStay() throws {
        let (before, after) = try findings { _, session in
            let pairs = session.layout.joinTables.map(\.table)
            let table = try #require(pairs.first { $0.first.positionColumn != nil || $0.second.positionColumn != nil })
            try session.connection.execute(
                "UPDATE \(SQLName.quoted(table.name)) SET \(table.first.column) = 99 WHERE rowid = 2")
        }
        #expect(before.map(\.kind) == [.reference] && before[0].isRepairable, "\(before)")
        #expect(after.isEmpty, "\(after)")
    }

    @Test func aCorrectedOrderKeepsAsMuchAsItCan() throws {
        let (harness, open) = try filled()
        try #require(open.store.openSession).connection.execute(
            "UPDATE ZPART SET Z_FOK_WHOLE = 9000 WHERE Z_PK IN (1, 2)")
        _ = try open.coordinator.repair(open.store)
        let rows = try harness.sql("SELECT Z_PK, Z_FOK_WHOLE FROM ZPART WHERE ZWHOLE = 1 ORDER BY Z_FOK_WHOLE")
        #expect(rows.count == 3)
        #expect(Set(rows.map { "\($0[1])" }).count == 3)
    }

    @Test(arguments: [
        ("UPDATE ZPART SET Z_ENT = 99 WHERE Z_PK = 1", PersistentStoreFinding.Kind.entity),
        ("DELETE FROM ZPART WHERE Z_PK = 3", .history),
    ]) func isFoundAndLeftAlone(sql: String, kind: PersistentStoreFinding.Kind) throws {
        let (before, after) = try findings { _, session in try session.connection.execute(sql) }
        #expect(before.contains { $0.kind == kind && !$0.isRepairable }, "\(before)")
        #expect(after == before.filter { !$0.isRepairable })
    }

    @Test func missingAndUnusedFilesAreFound() throws {
        let (before, _) = try findings { _, session in
            let folder = session.context.externalData.values.url
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path).first)
            try FileManager.default.moveItem(
                at: folder.appendingPathComponent(name), to: folder.appendingPathComponent(UUID().uuidString))
        }
        #expect(before.map(\.kind) == [.externalData, .externalData])
        #expect(
            before[0].message.contains("is missing or unreadable")
                && before[1].message.contains("not used by any value"))
    }

    @Test func aReadOnlyStoreIsCheckedAndNotRepaired() throws {
        let (harness, open) = try filled()
        try open.close()
        let reader = try harness.open([NSReadOnlyPersistentStoreOption: true])
        #expect(try reader.coordinator.findings(in: reader.store).isEmpty)
        let error = try #require(throws: NSError.self) { try reader.coordinator.repair(reader.store) }
        #expect(code(error) == 513)
    }

    // MARK: Hostile numbers

    @Test func aRowWhoseVersionIsTheGreatestNumberIsNamedAndNothingIsSaved() throws {
        let (harness, open) = try filled()
        try #require(open.store.openSession).connection.execute("UPDATE ZPART SET Z_OPT = \(Int64.max) WHERE Z_PK = 2")
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = open.coordinator
        let error = try #require(throws: NSError.self) {
            try context.performAndWait { () throws in
                for part in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Part")) {
                    part.setValue("new", forKey: "name")
                }
                try context.save()
            }
        }
        #expect(code(error) == 134030 && message(error).contains("/Part/p2"))
        #expect(try harness.sql("SELECT COUNT(*) FROM ZPART WHERE ZNAME IS NOT NULL") == [[.integer(0)]])
    }

    @Test(arguments: ["Part", "TRANSACTION", "CHANGE"]) func countersAtTheGreatestNumberAreNamed(counter: String) throws
    {
        let (harness, open) = try filled()
        try #require(open.store.openSession).connection.execute(
            "UPDATE Z_PRIMARYKEY SET Z_MAX = \(Int64.max) WHERE Z_NAME = '\(counter)'")
        let error = try #require(throws: NSError.self) { try open.insert("Part", [:]) }
        #expect(code(error) == 134030 && message(error).contains("no keys left"), "\(message(error))")
        #expect(try harness.sql("SELECT COUNT(*) FROM ZPART") == [[.integer(6)]])
    }

    @Test(arguments: ["ZPART", "ATRANSACTION", "ACHANGE"]) func lastKeysAtTheGreatestNumberAreNamed(table: String)
        throws
    {
        let (harness, open) = try filled()
        try open.insert("Part", [:])
        try #require(open.store.openSession).connection.execute(
            "UPDATE \(table) SET Z_PK = \(Int64.max) WHERE Z_PK = (SELECT MAX(Z_PK) FROM \(table))")
        let error = try #require(throws: NSError.self) { try open.insert("Part", [:]) }
        #expect(code(error) == 134030 && message(error).contains("no keys left"), "\(message(error))")
        #expect(try harness.sql("SELECT COUNT(*) FROM ZPART") == [[.integer(7)]])
    }

    @Test(arguments: ["'x'", "1.5", "x'00'", "NULL"]) func aCounterThatIsNotANumberIsCorrected(text: String) throws {
        let (harness, open) = try filled()
        try open.insert("Part", [:])
        try #require(open.store.openSession).connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(text)")
        try open.insert("Part", [:])
        #expect(try harness.sql("SELECT COUNT(*), MAX(Z_PK) FROM ZPART") == [[.integer(8), .integer(8)]])
    }
}
