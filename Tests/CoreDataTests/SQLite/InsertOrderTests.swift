import Testing

@testable import CoreData

/// Order in which new rows are written.
@Suite struct InsertOrderTests {
    @Test func rowsAreOrderedByEntityAndKey() throws {
        let harness = try StoreHarness(StoreModels.web())
        let open = try harness.open()
        let rows = try (0..<60).map { number in
            try open.newRow(["Folder", "Part", "Note"][number % 3], ["name": .text("\(number)")])
        }
        for mixed in [rows, rows.reversed(), rows.sorted { $0.id.hash % 7 < $1.id.hash % 7 }] {
            let groups = InsertOrder(mixed).groups
            #expect(groups.map { $0.entity.layout.index } == groups.map { $0.entity.layout.index }.sorted())
            #expect(groups.count == 3)
            #expect(groups.allSatisfy { group in group.rows.allSatisfy { $0.id.entity === group.entity } })
            let keys = groups.map { group in group.rows.compactMap { $0.id.rowKey?.reference } }
            #expect(keys.allSatisfy { $0 == $0.sorted() && $0.count == 20 })
        }
        var generator = SeededGenerator(seed: 1)
        try open.store.save(StoreChangeSet(inserted: rows.shuffled(using: &generator)))
        #expect(try open.store.rows(inOrderOf: rows.map(\.id)).map { $0?.values.array } == rows.map(\.row.values.array))
        #expect(InsertOrder([]).groups.isEmpty)
        withExtendedLifetime(harness) {}
    }
}
