import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// Relationships in join tables, foreign keys and columns without an inverse, with and without order.
@Suite struct ToManyTests {
    let harness: StoreHarness
    let open: StoreHarness.Open

    init() throws {
        harness = try StoreHarness(StoreModels.web())
        open = try harness.open()
    }

    func insert(_ entity: String, _ names: [String]) throws -> [NSManagedObjectID] {
        try names.map { try open.insert(entity, ["name": .text($0)]) }
    }

    func destinations(_ entity: String, _ name: String, of id: NSManagedObjectID) throws -> [NSManagedObjectID] {
        let relationship = try open.relationship(entity, name)
        let found = try open.store.destinations(of: relationship, from: [id])[id] ?? []
        // The destinations are the same when read with their rows.
        let read = try #require(try open.store.destinationRows(of: relationship, inOrderOf: [id], limit: 2, most: .max))
        #expect(read.ranges == [0..<found.count] && read.keys.map(open.store.objectID(for:)) == found)
        let rows = try open.store.rows(inOrderOf: found)
        #expect(read.rows.map(\.array) == rows.prefix(2).map { $0?.array })
        return found
    }

    func save(
        _ entity: String, _ name: String, owner: NSManagedObjectID, added: [NSManagedObjectID] = [],
        removed: [NSManagedObjectID] = [], order: [NSManagedObjectID]? = nil
    ) throws {
        let change = StoreToManyChange(
            relationship: try open.relationship(entity, name), owner: owner, added: added, removed: removed,
            order: order)
        try open.store.save(StoreChangeSet(toMany: [change]))
    }

    @Test func pairsAreSeenFromBothEnds() throws {
        let folders = try insert("Folder", ["F", "G"])
        let notes = try insert("Note", ["a", "b", "c"])
        try save("Folder", "notes", owner: folders[0], added: notes, order: [notes[2], notes[0], notes[1]])
        try save("Note", "folders", owner: notes[1], added: [folders[1]])
        #expect(try destinations("Folder", "notes", of: folders[0]) == [notes[2], notes[0], notes[1]])
        #expect(try destinations("Folder", "notes", of: folders[1]) == [notes[1]])
        #expect(try destinations("Note", "folders", of: notes[1]) == folders)
        try save("Folder", "notes", owner: folders[0], removed: [notes[0]], order: [notes[1], notes[2]])
        #expect(try destinations("Folder", "notes", of: folders[0]) == [notes[1], notes[2]])
    }

    /// More owners than one statement can query, in random order, some without members and one repeated.
    @Test(arguments: [0, 7, 1000]) func ownersAreRequestedTogether(limit: Int) throws {
        let folders = try insert("Folder", (0..<700).map { "F\($0)" })
        let notes = try insert("Note", (0..<20).map { "n\($0)" })
        let lists = folders.indices.map { folder in
            folder % 3 == 0 ? [] : [notes[folder % 10], notes[10 + folder * 7 % 10]]
        }
        let relationship = try open.relationship("Folder", "notes")
        try open.store.save(
            StoreChangeSet(
                toMany: zip(folders, lists).map { folder, notes in
                    StoreToManyChange(
                        relationship: relationship, owner: folder, added: notes, removed: [], order: notes)
                }))
        let places = (0..<700).map { $0 * 11 % 700 } + [4]
        let owners = places.map { folders[$0] }
        let read = try #require(
            try open.store.destinationRows(
                of: relationship, inOrderOf: owners, limit: limit, most: .max))
        #expect(read.ranges.map { read.keys[$0].map(open.store.objectID(for:)) } == places.map { lists[$0] })
        #expect(try open.store.destinations(of: relationship, inOrderOf: owners) == places.map { lists[$0] })
        #expect(read.rows.count == min(limit, read.keys.count))
        let alone = try open.store.rows(inOrderOf: read.keys.prefix(limit).map(open.store.objectID(for:)))
        #expect(read.rows.map(\.array) == alone.map { $0?.array })
    }

    /// Most owners: their lists are built from one scan of the table, which also has rows of other owners.
    @Test func theListsOfMostOwnersAreReadWithOneScan() throws {
        let folders = try insert("Folder", (0..<600).map { "F\($0)" })
        let marks = try open.relationship("Folder", "marks")
        let rows = try (0..<2000).map { number in try open.newRow("Mark", ["name": .text("m\(number)")]) }
        var lists: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        for (number, row) in rows.enumerated() where number % 7 > 0 {
            lists[folders[number * 389 % 610 % 600], default: []].append(row.id)
        }
        try open.store.save(
            StoreChangeSet(
                inserted: rows,
                toMany: lists.map { folder, members in
                    StoreToManyChange(relationship: marks, owner: folder, added: members, removed: [], order: nil)
                }))
        let owners = folders.indices.map { folders[$0 * 7 % 600] }.dropFirst(5) + [folders[4]]
        let read = try #require(
            try open.store.destinationRows(of: marks, inOrderOf: Array(owners), limit: .max, most: .max))
        #expect(
            read.ranges.map { read.keys[$0].map(open.store.objectID(for:)) } == owners.map { lists[$0] ?? [] })
        let alone = try open.store.rows(inOrderOf: read.keys.map(open.store.objectID(for:)))
        #expect(read.rows.map(\.array) == alone.map { $0?.array })
        let lookedUp = try #require(
            try open.store.destinationRows(of: marks, inOrderOf: Array(owners), limit: 5000, most: .max))
        #expect(lookedUp.ranges.map { Array(lookedUp.keys[$0]) } == read.ranges.map { Array(read.keys[$0]) })
        let fewer = lookedUp.keys.count - 1
        #expect(try open.store.destinationRows(of: marks, inOrderOf: Array(owners), limit: 9, most: fewer) == nil)
    }

    @Test func positionsAreApplesAndFewRowsChange() throws {
        let folder = try insert("Folder", ["F"])[0]
        let notes = try insert("Note", ["a", "b", "c", "d"])
        try save("Folder", "notes", owner: folder, added: Array(notes[0..<3]), order: Array(notes[0..<3]))
        let positions = "SELECT Z_FOK_6NOTES FROM Z_1NOTES ORDER BY 1"
        #expect(try harness.sql(positions) == [[.integer(2048)], [.integer(3072)], [.integer(4096)]])
        let order = [notes[0], notes[3], notes[1], notes[2]]
        try save("Folder", "notes", owner: folder, added: [notes[3]], order: order)
        #expect(
            try harness.sql(positions) == [[.integer(2048)], [.integer(2560)], [.integer(3072)], [.integer(4096)]])
        #expect(try destinations("Folder", "notes", of: folder) == order)
    }

    @Test func aRelationshipThatIsItsOwnInverseHasTwoRowsPerPair() throws {
        let people = try insert("Person", ["a", "b", "c"])
        try save("Person", "friends", owner: people[0], added: [people[1]])
        #expect(try destinations("Person", "friends", of: people[1]) == [people[0]])
        #expect(
            try harness.sql("SELECT * FROM Z_8FRIENDS ORDER BY 1")
                == [[.integer(1), .integer(2)], [.integer(2), .integer(1)]])
        try save("Person", "friends", owner: people[1], removed: [people[0]])
        #expect(try harness.sql("SELECT COUNT(*) FROM Z_8FRIENDS") == [[.integer(0)]])
    }

    @Test func aForeignKeyCarriesThePlaceInTheList() throws {
        let folder = try insert("Folder", ["F"])[0]
        let first = try open.insert("Part", ["name": .text("1"), "whole": .reference(folder)])
        let second = try open.insert("Part", ["name": .text("2"), "whole": .reference(folder)])
        #expect(try destinations("Folder", "parts", of: folder) == [first, second], "a new one goes to the end")
        let moved = [
            try open.change(second, [:], positions: ["whole": 0]), try open.change(first, [:], positions: ["whole": 1]),
        ]
        try open.store.save(StoreChangeSet(updated: moved))
        #expect(try harness.sql("SELECT Z_FOK_WHOLE FROM ZPART ORDER BY Z_PK") == [[.integer(3072)], [.integer(2048)]])
        #expect(try destinations("Folder", "parts", of: folder) == [second, first])
        try open.store.save(StoreChangeSet(updated: [try open.change(second, ["whole": .null])]))
        #expect(try destinations("Folder", "parts", of: folder) == [first])
        #expect(try harness.sql("SELECT Z_FOK_WHOLE FROM ZPART WHERE Z_PK = 2") == [[.null]])
    }

    @Test func withoutAnInverseTheDestinationNamesItsOwner() throws {
        let folders = try insert("Folder", ["F", "G"])
        let marks = try insert("Mark", ["a", "b"])
        try save("Folder", "marks", owner: folders[0], added: marks)
        #expect(try destinations("Folder", "marks", of: folders[0]) == marks)
        try save("Folder", "marks", owner: folders[1], added: [marks[1]])
        try save("Folder", "marks", owner: folders[0], removed: [marks[1]])
        #expect(try destinations("Folder", "marks", of: folders[0]) == [marks[0]])
        #expect(try destinations("Folder", "marks", of: folders[1]) == [marks[1]])
        try open.store.save(StoreChangeSet(deleted: [try open.deletion(folders[1])]))
        #expect(try harness.sql("SELECT Z1MARKS FROM ZMARK ORDER BY Z_PK") == [[.integer(1)], [.null]])
    }

    @Test func aDeletedRowLeavesNoPairs() throws {
        let folder = try insert("Folder", ["F"])[0]
        let notes = try insert("Note", ["a", "b"])
        try save("Folder", "notes", owner: folder, added: notes, order: notes)
        try open.store.save(StoreChangeSet(deleted: [try open.deletion(notes[0])]))
        #expect(try harness.sql("SELECT COUNT(*) FROM Z_1NOTES") == [[.integer(1)]])
        try open.store.save(StoreChangeSet(deleted: [try open.deletion(folder)]))
        #expect(try harness.sql("SELECT COUNT(*) FROM Z_1NOTES") == [[.integer(0)]])
    }

    @Test func aDestinationOfAFamilyKeepsItsEntity() throws {
        let song = try open.insert("Song", ["title": .text("S"), "text": .text("la la")])
        let film = try open.insert("Film", ["title": .text("F"), "text": .integer(7)])
        let parts = try [song, film].map { try open.insert("Part", ["medium": .reference($0)]) }
        guard case .reference(let first) = try open.value("medium", of: parts[0]),
            case .reference(let second) = try open.value("medium", of: parts[1])
        else { return #expect(Bool(false)) }
        #expect(first.entity.name == "Song")
        #expect(second.entity.name == "Film")
        #expect(first == song)
        #expect(try open.value("text", of: song) == .text("la la"))
        #expect(try open.value("text", of: film) == .integer(7))
        // One query for the entity and its subentities returns each row in the layout of its own entity.
        let found = try open.store.fetch(StoreQuery(entity: open.entity("Media")))
        #expect(found.keys.map { open.store.objectID(for: $0).entity.name } == ["Song", "Film"])
        #expect(found.rows.map(\.values.count) == [2, 2])
    }

    @Test func manyOwnersAreAnsweredAtOnce() throws {
        let folders = try insert("Folder", (0..<20).map { "F\($0)" })
        for folder in folders { _ = try open.insert("Part", ["whole": .reference(folder)]) }
        let found = try open.store.destinations(of: open.relationship("Folder", "parts"), from: folders)
        #expect(found.count == 20)
        #expect(found.values.allSatisfy { $0.count == 1 } == true)
    }
}

@Suite struct OrderingKeyTests {
    @Test(arguments: 0..<200) func randomEditsKeepTheOrder(_ seed: Int) {
        var generator = SplitMix(state: UInt64(seed))
        var keys: [Int: Int64] = [:]
        var list: [Int] = []
        for element in 0..<60 {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0 where !list.isEmpty: list.remove(at: Int.random(in: 0..<list.count, using: &generator))
            case 1 where list.count > 1:
                let moved = list.remove(at: Int.random(in: 0..<list.count, using: &generator))
                list.insert(moved, at: Int.random(in: 0...list.count, using: &generator))
            default: list.insert(element, at: Int.random(in: 0...list.count, using: &generator))
            }
            let assigned = OrderingKeys.assign(list.map { keys[$0] })
            #expect(zip(assigned, assigned.dropFirst()).allSatisfy { $0 < $1 })
            #expect(assigned.allSatisfy { $0 > 0 })
            for (element, key) in zip(list, assigned) { keys[element] = key }
        }
    }

    @Test func oneMoveChangesOneKey() {
        let before = OrderingKeys.assign(Array(repeating: nil, count: 5))
        #expect(before == [2048, 3072, 4096, 5120, 6144])
        let after = OrderingKeys.assign([before[4], before[0], before[1], before[2], before[3]])
        #expect(Array(after.dropFirst()) == Array(before.dropLast()))
        #expect(after[0] > 0 && after[0] < before[0])
    }

    @Test func withoutGapsAllPositionsAreRenumbered() {
        #expect(OrderingKeys.assign([5, nil, 6]) == [2048, 3072, 4096])
    }

    struct SplitMix: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
