import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// Large binary values are stored in external files: none is missing, and none is left over.
@Suite struct ExternalDataTests {
    let harness: StoreHarness
    init() throws { harness = try StoreHarness(StoreModels.types()) }

    static let big = Data(repeating: 7, count: ExternalData.inlineLimit + 1)
    static let bigger = Data(repeating: 9, count: ExternalData.inlineLimit * 3)

    private var place: ExternalData { ExternalData(storePath: harness.url.path) }

    private func files(_ folder: URL? = nil) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: (folder ?? place.values.url).path)) ?? []).sorted()
    }

    private func stored() throws -> [Data] {
        try harness.sql("SELECT ZEXTERNAL FROM ZTHING ORDER BY Z_PK").compactMap {
            if case .blob(let data) = $0[0] { data } else { nil }
        }
    }

    @Test func aBigValueIsAFile() throws {
        let open = try harness.open()
        let id = try open.insert("Thing", ["external": .data(Self.big)])
        let name = try #require(files().first)
        #expect(files().count == 1)
        #expect(try stored() == [Data([2]) + Data(name.utf8) + Data([0])])
        #expect(name.count == 36 && UUID(uuidString: name) != nil && name == name.uppercased())
        #expect(try Data(contentsOf: URL(fileURLWithPath: place.values.place(name))) == Self.big)
        #expect(try open.value("external", of: id) == .data(Self.big))
        #expect(files(place.notes.url).isEmpty)
    }

    @Test func aValueAtTheLimitStaysInTheRow() throws {
        let value = Data(repeating: 1, count: ExternalData.inlineLimit)
        let open = try harness.open()
        let id = try open.insert("Thing", ["external": .data(value)])
        #expect(files().isEmpty)
        #expect(try stored() == [Data([1]) + value])
        #expect(try open.value("external", of: id) == .data(value))
    }

    @Test func aFileIsRemovedWithItsValue() throws {
        let open = try harness.open()
        let id = try open.insert("Thing", ["external": .data(Self.big)])
        let other = try open.insert("Thing", ["external": .data(Self.big)])
        let first = files()
        // A value that was read can be used after it was replaced.
        guard case .data(let kept) = try open.value("external", of: id) else { throw RoundTripTests.Missing() }
        try open.store.save(StoreChangeSet(updated: [try open.change(id, ["string": .text("a")])]))
        #expect(files() == first)
        try open.store.save(StoreChangeSet(updated: [try open.change(id, ["external": .data(Self.bigger)])]))
        #expect(files().count == 2 && files() != first)
        #expect(kept == Self.big)
        #expect(try open.value("external", of: id) == .data(Self.bigger))
        try open.store.save(StoreChangeSet(updated: [try open.change(id, ["external": .null])]))
        #expect(files().count == 1)
        try open.store.save(StoreChangeSet(deleted: [try open.deletion(other)]))
        #expect(files().isEmpty && files(place.notes.url).isEmpty)
    }

    @Test func aSaveThatFailsLeavesNothing() throws {
        let model = StoreModels.types()
        model.entitiesByName["Thing"]?.uniquenessConstraints = [["string"]]
        let harness = try StoreHarness(model)
        let place = ExternalData(storePath: harness.url.path)
        let open = try harness.open()
        let id = try open.insert("Thing", ["string": .text("a"), "external": .data(Self.big)])
        let before = files(place.values.url)
        let row = try open.newRow("Thing", ["string": .text("a"), "external": .data(Self.bigger)])
        let change = try open.change(id, ["external": .data(Self.bigger)])
        #expect(throws: (any Error).self) { try open.store.save(StoreChangeSet(inserted: [row], updated: [change])) }
        #expect(files(place.values.url) == before && before.count == 1)
        #expect(files(place.notes.url).isEmpty)
        #expect(try open.value("external", of: id) == .data(Self.big))
    }

    /// The next process that opens the store removes the files that a killed save left, and only those.
    @Test func filesLeftByAKilledSaveAreRemoved() throws {
        let open = try harness.open()
        let id = try open.insert("Thing", ["external": .data(Self.big)])
        let used = files()
        let living = ExternalDataChanges(place)
        _ = try living.stored(Self.big)
        do {
            // Both kinds of leftovers: a new file whose row was never committed, and a removed value that still has its
            // row.
            let dead = ExternalDataChanges(place)
            _ = try dead.stored(Self.bigger)
            try dead.willReplace(try stored()[0])
        }
        try open.close()
        #expect(files().count == 3 && files(place.notes.url).count == 2)
        let again = try harness.open()
        #expect(files().count == 2 && Set(files()).isSuperset(of: used))
        #expect(files(place.notes.url).count == 1, "the note of a save that lives is not touched")
        #expect(try again.store.rows(for: [id]).count == 1)
        living.didRollBack()
        #expect(files() == used)
    }

    @Test func aNameThatLeadsElsewhereIsNotFollowed() throws {
        let open = try harness.open()
        let id = try open.insert("Thing", ["external": .data(Data([1]))])
        let outside = Data([2]) + Data("../../../../../../../etc/hostname----".utf8) + Data([0])
        _ = try harness.sql("UPDATE ZTHING SET ZEXTERNAL = ?", [.blob(outside)])
        #expect(try open.value("external", of: id).isNull)
        try open.store.save(StoreChangeSet(deleted: [try open.deletion(id)]))
        #expect(FileManager.default.fileExists(atPath: "/etc/hostname"))
    }
}
