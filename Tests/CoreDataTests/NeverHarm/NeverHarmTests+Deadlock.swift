import CoreData
import Foundation
import Synchronization
import Testing

/// Contexts of all kinds that wait for each other, at the same time: whatever they do, all of them come to an end.
extension NeverHarmTests {
    /// The four contexts of a program: one of the main queue, one beside it, a private child and its child.
    final class Family: @unchecked Sendable {
        let contexts: [NSManagedObjectContext]

        init(_ coordinator: NSPersistentStoreCoordinator) {
            let main = coordinator.context(.mainQueueConcurrencyType)
            let beside = coordinator.context()
            func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
                let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                child.parent = parent
                return child
            }
            let son = child(of: main)
            contexts = [main, beside, son, child(of: son)]
            for context in contexts {
                context.automaticallyMergesChangesFromParent = true
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            }
        }
    }

    enum Work: CaseIterable {
        case perform, performAndWait, asynchronous, merge

        /// Reads, changes and saves in `context`.
        static func touch(_ context: NSManagedObjectContext) throws {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            for item in try context.fetch(request).prefix(2) {
                item.setValue((item.value(forKey: "number") as? Int ?? 0) + 1, forKey: "number")
            }
            try context.save()
        }

        func run(_ family: Family, on index: Int) async throws {
            let context = family.contexts[index]
            switch self {
            case .perform: Work.enqueue(in: context)
            case .performAndWait: try Work.wait(for: context)
            case .asynchronous: try await context.perform { try Work.touch(context) }
            case .merge:
                let ids = try await family.contexts[1].perform {
                    try family.contexts[1].fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).map(\.objectID)
                }
                NSManagedObjectContext.mergeChanges(
                    fromRemoteContextSave: [NSUpdatedObjectIDsKey: ids], into: [context, family.contexts[0]])
            }
        }

        private static func enqueue(in context: NSManagedObjectContext) {
            context.perform { try? touch(context) }
        }

        private static func wait(for context: NSManagedObjectContext) throws {
            try context.performAndWait { try touch(context) }
        }

        /// From inside of a block of one context into the others, in both directions.
        static func waitInside(_ family: Family, _ outer: Int, _ inner: Int) throws {
            try family.contexts[outer].performAndWait {
                try touch(family.contexts[outer])
                try family.contexts[inner].performAndWait { try touch(family.contexts[inner]) }
            }
        }
    }

    @Test func allThatWaitForEachOtherEnd() async {
        await #expect(processExitsWith: .success) {
            let stage = Mutex("")
            // Whoever hangs is ended, and says where.
            Thread.detachNewThread {
                var (last, since) = ("", Date())
                while true {
                    Thread.sleep(forTimeInterval: 0.5)
                    let now = stage.withLock { $0 }
                    if now != last { (last, since) = (now, Date()) }
                    if Date().timeIntervalSince(since) > 30 {
                        FileHandle.standardError.write(Data("stands still: \(now)\n".utf8))
                        _exit(9)
                    }
                }
            }
            let world = try NeverHarmTests.World()
            let coordinator = try world.coordinator(world.url("Store.sqlite"))
            let family = NeverHarmTests.Family(coordinator)
            for name in ["a", "b", "c"] { try family.contexts[1].fill(name) }
            for work in NeverHarmTests.Work.allCases {
                for index in 0..<4 {
                    stage.withLock { $0 = "\(work) \(index)" }
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for other in 0..<4 {
                            group.addTask { try? await work.run(family, on: index) }
                            group.addTask { try? NeverHarmTests.Work.waitInside(family, index, other) }
                            group.addTask { @MainActor in try? NeverHarmTests.Work.waitInside(family, other, index) }
                            group.addTask { try? NeverHarmTests.Work.waitInside(family, other, index) }
                        }
                        try await group.waitForAll()
                    }
                }
            }
        }
    }

    /// The one that was seen: a child merges what its parent, the main context, saved, while the main thread waits for the child.
    @MainActor @Test func theMainThreadWaitsForAChildThatMerges() throws {
        let world = try World()
        let coordinator = try world.coordinator(world.url("Store.sqlite"))
        let family = Family(coordinator)
        let (main, child) = (family.contexts[0], family.contexts[2])
        try main.fill("a")
        let item = try #require(try main.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).first)
        for number in 0..<50 {
            child.performAndWait { _ = try? child.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")) }
            item.setValue(number, forKey: "number")
            try main.save()
            child.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                let numbers = (try? child.fetch(request).map { $0.value(forKey: "number") as? Int }) ?? []
                #expect(numbers == [number])
            }
        }
    }
}
