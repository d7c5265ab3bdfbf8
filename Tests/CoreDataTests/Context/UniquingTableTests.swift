import Foundation
import Testing

@testable import CoreData

/// Compares the table of a context's objects with a dictionary.
@Suite struct UniquingTableTests {
    @Test(arguments: [1, 2, 3]) func itHoldsWhatADictionaryWouldHold(_ seed: UInt64) throws {
        try ClubStack().contextKeepingStack().use { context in
            let objects = (0..<200).map { context.team("Team \($0)") }
            var generator = SeededGenerator(seed: seed)
            let table = UniquingTable()
            var expected: [RowKey: NSManagedObject] = [:]
            for step in 0..<10_000 {
                let key = RowKey(
                    entity: UInt32.random(in: 0..<3, using: &generator),
                    reference: Int64.random(in: -2_000..<2_000, using: &generator))
                switch Int.random(in: 0..<5, using: &generator) {
                case 0:
                    table.take(key)
                    expected[key] = nil
                case 1: if table[key] !== expected[key] { Issue.record("another object for \(key) in step \(step)") }
                case 2 where step % 500 == 0: table.reserve(step % 3_000)
                default:
                    let object = objects[Int.random(in: 0..<objects.count, using: &generator)]
                    table.insert(object, for: key)
                    expected[key] = object
                }
            }
            #expect(table.objects.count == expected.count)
            #expect(expected.allSatisfy { table[$0] === $1 })
            // The test holds all objects.
            #expect(table.takeUnused().isEmpty)
        }
    }

    @Test func unusedObjectsAreRemoved() throws {
        try ClubStack().contextKeepingStack().use { context in
            let entity = context.team("Team").entity
            let table = UniquingTable()
            var held: [NSManagedObject] = []
            for number in 0..<1_000 {
                let object = NSManagedObject(entity: entity, insertInto: nil)
                if number % 4 == 0 { held.append(object) }
                table.insert(object, for: RowKey(entity: 0, reference: Int64(number)))
            }
            #expect(table.insertionCount == 1_000)
            #expect(table.takeUnused().count == 750)
            #expect(table.insertionCount == 0)
            #expect(Set(table.objects) == Set(held))
            #expect(table[RowKey(entity: 0, reference: 1)] == nil)
            #expect(table[RowKey(entity: 0, reference: 4)] === held[1])
        }
    }

    /// The caller removes unused objects before the table grows; otherwise it would keep all objects of a long list.
    @Test func growthIsAnnounced() throws {
        try ClubStack().contextKeepingStack().use { context in
            let object = context.team("Team")
            let table = UniquingTable()
            var told = 0
            for number in 0..<1_000 {
                let key = RowKey(entity: 0, reference: Int64(number) * 16)
                if table.mustGrow(for: key) { told += 1 }
                table.insert(object, for: key)
            }
            // Grows from 16 pages to 2,048.
            #expect(told == 7)
        }
    }

    /// Reference numbers of stores can be any integer.
    @Test func numbersFarApartAndAtTheEndsOfTheRangeAreFound() throws {
        try ClubStack().contextKeepingStack().use { context in
            let numbers: [Int64] = [.min, .min + 1, -16, -1, 0, 15, 16, 1 << 32, 1 << 60, .max - 1, .max]
            let table = UniquingTable()
            let objects = numbers.map { context.team("Team \($0)") }
            for (number, object) in zip(numbers, objects) {
                table.insert(object, for: RowKey(entity: 2, reference: number))
            }
            for (number, object) in zip(numbers, objects) {
                #expect(table[RowKey(entity: 2, reference: number)] === object)
                #expect(table[RowKey(entity: 1, reference: number)] == nil)
            }
        }
    }

    /// A released object may have held the last reference to another one, whose `deinit` uses the table.
    @Test func aReleasedObjectMayUseTheTable() throws {
        final class Farewell: NSManagedObject {
            var onEnd: () -> Void = {}
            deinit { onEnd() }
        }
        try ClubStack().contextKeepingStack().use { context in
            let next = context.team("Next")
            let table = UniquingTable()
            let key = RowKey(entity: 0, reference: 7)
            var found: [NSManagedObject?] = []
            func insertOneThatAsks() {
                let object = Farewell(entity: next.entity, insertInto: nil)
                object.onEnd = { found.append(table[key]) }
                table.insert(object, for: key)
            }
            insertOneThatAsks()
            table.insert(next, for: key)
            #expect(found.count == 1 && found[0] === next)
            insertOneThatAsks()
            table.take(key)
            #expect(found.count == 2 && found[1] == nil)
        }
    }
}
