import Foundation
import Testing

@testable import CoreData

/// Rows and destinations are returned in the requested order.
@Suite struct RowsInOrderTests {
    let harness: StoreHarness
    let open: StoreHarness.Open

    init() throws {
        harness = try StoreHarness(StoreModels.web())
        open = try harness.open()
    }

    @Test(arguments: [1, 3, 40, 700]) func rowsHaveTheRequestedOrder(_ count: Int) throws {
        let rows = try (0..<count).map { try open.newRow("Note", ["name": .text("note \($0)")]) }
        try open.store.save(StoreChangeSet(inserted: rows))
        let folder = try open.insert("Folder", ["name": .text("F")])
        let gone = open.store.objectID(
            for: RowKey(entity: try #require(rows[0].id.rowKey).entity, reference: 1_000_000))
        let temporary = NSManagedObjectID(temporaryFor: try open.entity("Note"))
        var generator = SeededGenerator(seed: UInt64(count))
        // Some are repeated; one does not exist, one has another entity, one was never saved.
        let wanted = (rows.map(\.id) + rows.prefix(5).map(\.id) + [gone, folder, temporary])
            .shuffled(using: &generator)
        let found = try open.store.rows(inOrderOf: wanted)
        #expect(found.count == wanted.count)
        for (id, row) in zip(wanted, found) {
            let expected = rows.first { $0.id == id }.map { $0.row.values[0] } ?? (id == folder ? .text("F") : nil)
            #expect(row?.values[0] == expected)
        }
        #expect(try open.store.rows(inOrderOf: []).isEmpty)
        #expect(try open.store.rows(for: wanted).count == count + 1)
    }

    @Test func destinationsHaveTheRequestedOrder() throws {
        let folders = try (0..<600).map { try open.newRow("Folder", ["name": .text("F\($0)")]) }
        try open.store.save(StoreChangeSet(inserted: folders))
        let parts = try (0..<1200).map { number in
            try open.newRow("Part", ["whole": .reference(folders[number % 300 * 2].id)])
        }
        try open.store.save(StoreChangeSet(inserted: parts))
        var generator = SeededGenerator(seed: 7)
        let wanted = (folders.map(\.id) + folders.prefix(3).map(\.id)).shuffled(using: &generator)
        let relationship = try open.relationship("Folder", "parts")
        let found = try open.store.destinations(of: relationship, inOrderOf: wanted)
        #expect(found.count == wanted.count)
        var expected: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        for (number, part) in parts.enumerated() { expected[folders[number % 300 * 2].id, default: []].append(part.id) }
        for (owner, members) in zip(wanted, found) {
            let expected = expected[owner] ?? []
            #expect(Set(members) == Set(expected) && members.count == expected.count)
        }
    }

    @Test func aPairThatAForeignJoinTableNamesTwiceIsOneDestination() throws {
        let folder = try open.insert("Folder", ["name": .text("F")])
        let note = try open.insert("Note", ["name": .text("a")])
        try open.store.save(
            StoreChangeSet(toMany: [
                StoreToManyChange(
                    relationship: try open.relationship("Note", "folders"), owner: note, added: [folder], removed: [],
                    order: nil)
            ]))
        for statement in [
            "CREATE TABLE copy AS SELECT * FROM Z_1NOTES", "DROP TABLE Z_1NOTES",
            "ALTER TABLE copy RENAME TO Z_1NOTES", "INSERT INTO Z_1NOTES SELECT * FROM Z_1NOTES",
        ] { _ = try harness.sql(statement) }
        let found = try open.store.destinations(of: open.relationship("Note", "folders"), inOrderOf: [note])
        #expect(found == [[folder]])
    }
}
