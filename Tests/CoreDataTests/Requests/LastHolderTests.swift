import Foundation
import Synchronization
import Testing

@testable import CoreData

/// A context that nobody but a fetch beside its queue holds any more goes away on its queue.
@Suite struct LastHolderTests {
    private final class Watched: NSManagedObjectContext, @unchecked Sendable {
        static let ends = Mutex<(onQueue: Int, off: Int)>((0, 0))

        deinit {
            let isOnQueue = queue.isCurrent
            Self.ends.withLock { if isOnQueue { $0.onQueue += 1 } else { $0.off += 1 } }
        }
    }

    @Test(.disabled("a context still ends off its queue at times")) func theFetchIsTheLastHolder() async throws {
        let stack = try ClubStack()
        try stack.context().use { context in
            _ = context.team()
            try context.save()
        }
        let times = 200
        for _ in 0..<times {
            await withCheckedContinuation { continuation in
                let context = Watched(concurrencyType: .privateQueueConcurrencyType)
                context.persistentStoreCoordinator = stack.coordinator
                let queue = context.queue
                context.perform {
                    let teams = NSFetchRequest<NSManagedObject>(entityName: "Team")
                    let request = NSAsynchronousFetchRequest(fetchRequest: teams) { _ in
                        // The context is let go of behind this block, before the next one of its queue at the latest.
                        DispatchQueue.global().async { queue.async { continuation.resume() } }
                    }
                    #expect(throws: Never.self) { try context.execute(request) }
                }
            }
        }
        // What is still on its way was let go of by a queue.
        let ends = Watched.ends.withLock { $0 }
        #expect(ends.off == 0 && ends.onQueue > times / 2, "\(ends)")
    }
}
