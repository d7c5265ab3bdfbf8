import CoreData
import Foundation
import Synchronization
import Testing

/// Code of the program's in requests: it runs while nothing of the framework's is locked.
extension NeverHarmTests {
    /// A predicate that waits for another context, which fetches through the same coordinator on another thread.
    @Test func aPredicateThatIsCodeMayWaitForAnotherContext() async {
        await #expect(processExitsWith: .success) {
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: 30)
                FileHandle.standardError.write(Data("stands still\n".utf8))
                _exit(9)
            }
            let world = try NeverHarmTests.World()
            let coordinator = try world.coordinator(world.url("Store.sqlite"))
            let (context, other) = (coordinator.context(), coordinator.context())
            for name in ["a", "b", "c"] { try context.fill(name) }
            let asked = Mutex(0)
            let predicate = NSPredicate { _, _ in
                let done = DispatchSemaphore(value: 0)
                // Not this thread: the coordinator's lock is recursive.
                other.perform {
                    let count = (try? other.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item"))) ?? 0
                    asked.withLock { $0 += count }
                    done.signal()
                }
                done.wait()
                return true
            }
            try NeverHarmTests.find(predicate, context)
            guard asked.withLock({ $0 }) >= 9 else { exit(3) }
        }
    }

    static func find(_ predicate: NSPredicate, _ context: NSManagedObjectContext) throws {
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.predicate = predicate
            guard try context.fetch(request).count == 3, try context.count(for: request) == 3 else { exit(4) }
        }
    }
}
