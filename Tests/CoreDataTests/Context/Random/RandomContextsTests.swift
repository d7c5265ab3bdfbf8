import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Random operations in sibling and child contexts; after each step, every context agrees with plain dictionaries.
///
/// Conflicting edits are left to `RandomConflictsTests`: here, only a context itself and its children change an object
/// that it changed and did not save.
@Suite(.needs(.campaign)) struct RandomContextsTests {
    /// 120 steps for each seed and store type; `ROSTER_LONG_TESTS=n` runs n times 2,000 (50 for 10⁵).
    ///
    /// Three seeds for SQLite and one for each other type; three for each in the long form.
    @Test(arguments: cases)
    func everyContextAgreesWithThePlainModel(kind: StoreKind, seed: UInt64) throws {
        let factor = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }
        let stack = try ClubStack(type: kind.type)
        var walk = try ContextWalk(stack: stack, seed: seed)
        var trail: [String] = []
        for step in 0..<(factor.map { $0 * 2_000 } ?? 120) {
            trail.append("\(step): \(try walk.step())")
            guard let difference = try walk.difference() else { continue }
            Issue.record(
                "\(kind) seed \(seed), step \(step)\n\(trail.suffix(12).joined(separator: "\n"))\n\(difference)")
            return
        }
        #expect(walk.done["save", default: 0] > 3 && walk.done["undo", default: 0] > 0, "\(walk.done)")
        if factor != nil { print("contexts: \(kind), seed \(seed): \(trail.count) steps") }
        try walk.close()
    }

    private static let cases: [(StoreKind, UInt64)] = StoreKind.all.enumerated().flatMap { number, kind in
        let seeds: [UInt64] = [3, 11, 20]
        let isWhole = kind.type == NSSQLiteStoreType || ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"] != nil
        return (isWhole ? seeds : [seeds[number % seeds.count]]).map { (kind, $0) }
    }

    struct StoreKind: CustomTestStringConvertible, CustomStringConvertible {
        let type: String
        var description: String { type }
        var testDescription: String { type }

        /// All store types, including the test store, which keeps its rows in memory.
        static var all: [StoreKind] {
            MemoryStore.register()
            let types = [NSSQLiteStoreType, NSInMemoryStoreType, NSBinaryStoreType, NSXMLStoreType]
            return NSPersistentStoreCoordinator.registeredStoreTypes.keys.sorted()
                .filter { types.contains($0) || $0 == MemoryStore.storeType }
                .map(StoreKind.init)
        }
    }
}
