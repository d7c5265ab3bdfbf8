import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData

/// Nine contexts write the same objects at the same time.
@Suite(.needs(.campaign)) struct ContextStressTests {
    private static let objectCount = 1_000

    /// Takes 1.5 s; at least 60 s with `ROSTER_LONG_TESTS`. `Scripts/sanitize` runs it under the thread sanitizer.
    @Test func noUpdateIsLostAmongManyContexts() async throws {
        let isLong = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"] != nil
        let stack = try ClubStack()
        let first = stack.context()
        let ids = try first.use { context in
            let venues = (0..<Self.objectCount).map { context.make("Venue", ["name": "Venue \($0)"]) }
            try context.save()
            return venues.map(\.objectID)
        }
        let deadline = Date(timeIntervalSinceNow: isLong ? 60 : 1.5)
        let tally = try await withThrowingTaskGroup(of: Tally.self) { group in
            for number in 0..<9 {
                let context = stack.context(number == 8 ? .mainQueueConcurrencyType : .privateQueueConcurrencyType)
                context.automaticallyMergesChangesFromParent = number.isMultiple(of: 2)
                // One context writes through a child.
                let writer = number == 7 ? context.child() : context
                group.addTask {
                    var random = GraphRandom(state: UInt64(number) + 1)
                    var tally = Tally()
                    var rounds = 0
                    while rounds < 10 || Date() < deadline {
                        rounds += 1
                        let chosen = (0..<3).map { _ in ids[random.next(ids.count)] }
                        tally += try await writer.perform { try Self.addOne(to: Set(chosen), in: writer) }
                    }
                    return tally
                }
            }
            return try await group.reduce(Tally()) { $0 + $1 }
        }
        let sum = try stack.context().use { context in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Venue"))
                .reduce(0) { $0 + ($1.value(forKey: "capacity") as? Int ?? 0) }
        }
        #expect(sum == tally.written && tally.written > 0, "\(tally), but the rows add up to \(sum)")
    }

    private struct Tally {
        var written = 0
        var conflicts = 0

        static func + (left: Tally, right: Tally) -> Tally {
            Tally(written: left.written + right.written, conflicts: left.conflicts + right.conflicts)
        }
        static func += (left: inout Tally, right: Tally) { left = left + right }
    }

    /// Adds one to each object once, and retries after each conflict.
    private static func addOne(to ids: Set<NSManagedObjectID>, in context: NSManagedObjectContext) throws -> Tally {
        var tally = Tally()
        while true {
            let objects = try ids.map { try context.existingObject(with: $0) }
            for object in objects {
                object.setValue((object.value(forKey: "capacity") as? Int ?? 0) + 1, forKey: "capacity")
            }
            do {
                try context.save()
                if let parent = context.parent { try parent.performAndWait { try parent.save() } }
                tally.written += objects.count
                return tally
            } catch let error as NSError where error.code == 133020 {
                tally.conflicts += 1
                // The parent contains the refused values, too.
                for level in [context.parent, context].compactMap({ $0 }) {
                    level.performAndWait {
                        level.rollback()
                        for id in ids { level.refresh(level.object(with: id), mergeChanges: false) }
                    }
                }
            }
        }
    }
}
