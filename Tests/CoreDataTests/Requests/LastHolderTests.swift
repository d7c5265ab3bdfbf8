import Foundation
import Synchronization
import Testing

@testable import CoreData

/// The objects of a context are released on its queue, whichever thread releases the context last.
@Suite struct LastHolderTests {
    /// Records if objects were released on their queue.
    private final class Ends: Sendable {
        private let noted = Mutex<[Bool]>([])

        var all: [Bool] { noted.withLock { $0 } }

        func note(_ isOnQueue: Bool) { noted.withLock { $0.append(isOnQueue) } }

        /// Adds a team that only `context` holds.
        func addTeam(in context: NSManagedObjectContext) {
            let team = context.team()
            let note = Note(ends: self, queue: context.queue)
            team.onDidSave = { _ in withExtendedLifetime(note) {} }
        }
    }

    /// Is released with the team that holds it.
    private final class Note {
        private let ends: Ends
        private let queue: WorkQueue

        init(ends: Ends, queue: WorkQueue) { (self.ends, self.queue) = (ends, queue) }

        deinit { ends.note(queue.isCurrent) }
    }

    // SAFETY: passed between threads, each of which waits for the other.
    private final class Holder: @unchecked Sendable {
        var context: NSManagedObjectContext?
    }

    @Test func theFetchIsTheLastHolder() async throws {
        let stack = try ClubStack()
        try stack.context().use { context in
            _ = context.team()
            try context.save()
        }
        let times = 200
        let ends = Ends()
        for _ in 0..<times {
            await withCheckedContinuation { continuation in
                let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                context.persistentStoreCoordinator = stack.coordinator
                let queue = context.queue
                context.perform {
                    ends.addTeam(in: context)
                    let teams = NSFetchRequest<NSManagedObject>(entityName: "Team")
                    let request = NSAsynchronousFetchRequest(fetchRequest: teams) { _ in
                        // The context is released after this block, at the latest before its queue's next one.
                        DispatchQueue.global().async { queue.async { continuation.resume() } }
                    }
                    #expect(throws: Never.self) { try context.execute(request) }
                }
            }
        }
        // The last ones may not be released yet.
        #expect(ends.all.count > times / 2 && ends.all.allSatisfy(\.self), "\(ends.all)")
    }

    @Test func releasingAContextDoesNotWaitForItsQueue() throws {
        let stack = try ClubStack()
        let ends = Ends()
        let holder = Holder()
        holder.context = stack.context()
        holder.context?.performAndWait { if let context = holder.context { ends.addTeam(in: context) } }
        weak let context = holder.context
        let queue = try #require(holder.context).queue
        let begun = DispatchSemaphore(value: 0)
        let gate = DispatchSemaphore(value: 0)
        queue.async {
            begun.signal()
            gate.wait()
        }
        begun.wait()
        holder.context = nil
        #expect(context == nil)
        #expect(ends.all.isEmpty)
        gate.signal()
        queue.sync {}
        #expect(ends.all == [true])
    }

    @Test func aClosureOfAnotherThreadIsTheLastHolder() throws {
        let stack = try ClubStack()
        let ends = Ends()
        let group = DispatchGroup()
        let times = 200
        for _ in 0..<times {
            let context = stack.context()
            context.perform { ends.addTeam(in: context) }
            DispatchQueue.global().async(group: group) { context.performAndWait { _ = context.hasChanges } }
            DispatchQueue.global().async(group: group) { withExtendedLifetime(context) {} }
        }
        group.wait()
        #expect(ends.all.count > times / 2 && ends.all.allSatisfy(\.self), "\(ends.all)")
    }

    @MainActor @Test func objectsOfTheMainQueueAreUsableWhenAnotherThreadLetGo() async throws {
        let stack = try ClubStack()
        let id = try stack.savedTeam(of: "Ada")
        let ends = Ends()
        let holder = Holder()
        let (fault, new) = try {
            let context = stack.context(.mainQueueConcurrencyType)
            holder.context = context
            ends.addTeam(in: context)
            let found = try context.fetch(NSFetchRequest<ClubTeam>(entityName: "Team"))
            return (try #require(found.first { $0.objectID == id }), context.team())
        }()
        #expect(fault.isFault)
        let done = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            holder.context = nil
            done.signal()
        }
        Self.wait(for: done)
        #expect(fault.managedObjectContext == nil)
        #expect(!fault.name.isEmpty)
        fault.wins = 3
        new.wins = 4
        let other = stack.context(.mainQueueConcurrencyType)
        other.insert(new)
        await withCheckedContinuation { turn in DispatchQueue.main.async { turn.resume() } }
        #expect(ends.all == [true])
        #expect(new.managedObjectContext === other && new.isInserted)
        #expect(fault.wins == 3 && new.wins == 4)
    }

    @MainActor private static func wait(for done: DispatchSemaphore) { done.wait() }
}
