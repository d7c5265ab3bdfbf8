import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite struct ContextQueueTests {
    @Test func waitingIsReentrantThroughOtherContexts() throws {
        let stack = try ClubStack()
        let (first, second) = (stack.context(), stack.context())
        let depth = first.performAndWait {
            second.performAndWait { first.performAndWait { second.performAndWait { first.isOnQueue ? 4 : 0 } } }
        }
        #expect(depth == 4 && !first.isOnQueue && !second.isOnQueue)
    }

    @Test func waitingRethrows() throws {
        let context = try ClubStack().contextKeepingStack()
        #expect(throws: CocoaError.self) { try context.performAndWait { throw CocoaError(.coreData) } }
    }

    @Test func asynchronousWorkGivesItsResultAndEndsAnEvent() async throws {
        let context = try ClubStack().contextKeepingStack()
        let notices = Notices(context)
        let name = await context.perform { () -> String in
            let name = context.team("Later").name
            #expect(notices.take().isEmpty)
            return name
        }
        #expect(name == "Later")
        // The next block runs after the first one's event was processed.
        let posted = await context.perform(schedule: .enqueued) { notices.take().count }
        #expect(posted == 1)
        await #expect(throws: CocoaError.self) { try await context.perform { throw CocoaError(.coreData) } }
    }

    @Test func blocksOfOneContextNeverOverlap() async throws {
        let context = try ClubStack().contextKeepingStack()
        let boxed = UncheckedSendable(try context.use { $0.team() })
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<100 {
                group.addTask {
                    if index.isMultiple(of: 2) {
                        await context.perform { boxed.value.wins += 1 }
                    } else {
                        context.performAndWait { boxed.value.wins += 1 }
                    }
                }
            }
        }
        #expect(try context.use { _ in boxed.value.wins } == 100)
    }

    @MainActor @Test func theMainQueueEndsEventsByItself() async throws {
        let stack = try ClubStack()
        let context = stack.context(.mainQueueConcurrencyType)
        let notices = Notices(context)
        _ = context.make("Fan", ["name": "Dot"])
        _ = context.make("Fan", ["name": "Eve"])
        var posted: [Int] = []
        await eventuallyAsync("the main queue ends the event") {
            posted = notices.take().map { $0.objects(NSInsertedObjectsKey).count }
            return !posted.isEmpty
        }
        #expect(posted == [2])
    }

    @MainActor @Test func immediateWorkOfTheMainActorRunsInPlace() async throws {
        let stack = try ClubStack()
        let context = stack.context(.mainQueueConcurrencyType)
        let order = UncheckedSendable(NSMutableArray())
        enqueue(in: context) { order.value.add("later") }
        await context.perform(schedule: .immediate) { @Sendable in order.value.add("now") }
        await context.perform(schedule: .enqueued) { @Sendable in }
        #expect(order.value.map { $0 as? String } == ["now", "later"])
    }

    /// Calls the overload that does not wait. Asynchronous code would select the other one.
    private nonisolated func enqueue(in context: NSManagedObjectContext, _ block: @escaping @Sendable () -> Void) {
        context.perform(block)
    }

    @Test func aContextIsReleasedWithItsObjects() throws {
        weak var lost: NSManagedObjectContext?
        weak var lostObject: NSManagedObject?
        let stack = try ClubStack()
        var kept: ClubTeam?
        try autoreleased {
            let context = stack.context()
            lost = context
            kept = try context.use { context in
                let team = context.team()
                lostObject = context.make("Player", ["name": "Ada", "team": team])
                try context.save()
                return team
            }
        }
        #expect(lost == nil && lostObject == nil)
        #expect(kept?.managedObjectContext == nil && kept?.name == "Rovers")
    }

    private func autoreleased(_ body: () throws -> Void) rethrows { try body() }

    @Test func cleanObjectsAreHeldWeakly() throws {
        let stack = try ClubStack()
        try stack.context().use { context in
            for name in ["One", "Two"] { _ = context.team(name) }
            try context.save()
            context.undoManager = nil
            #expect(context.registeredObjects.isEmpty)
            let teams = try context.fetch(NSFetchRequest<ClubTeam>(entityName: "Team"))
            #expect(context.registeredObjects.count == 2)
            teams[0].wins = 1
            let id = teams[0].objectID
            #expect(context.registeredObject(for: id) === teams[0])
        }
        let retaining = stack.context()
        try retaining.use { context in
            context.retainsRegisteredObjects = true
            _ = try context.fetch(NSFetchRequest<ClubTeam>(entityName: "Team"))
            #expect(context.registeredObjects.count == 2)
        }
    }
}
