import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Contexts that wait for each other's queues. Each scene runs in its own process with a watchdog, so that a deadlock
/// fails by name.
@Suite struct QueueCircleTests {
    /// Issue 18, point 3: a working context waits for its child, grandchild or ancestor, which is working, too.
    @Test(.needs(.process)) func noOrderOfQueuesDeadlocks() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let watchdog = Watchdog()
            // Runs every seventh scene, which covers every kind of work, pair and layout; the long form runs all.
            let isLong = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"] != nil
            for (number, scene) in QueueScene.layouts.flatMap(QueueScene.all).enumerated()
            where isLong || number.isMultiple(of: 7) {
                watchdog.scene = scene.name
                try await scene.run()
            }
            exit(EXIT_SUCCESS)
        }
        Watchdog.expectNothing(of: result)
    }

    /// The scene of the issue: the parent saves, the child begins to merge, and the main thread waits for the child.
    @Test(.needs(.process)) func theMainThreadMayWaitForAChildThatMerges() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let watchdog = Watchdog()
            watchdog.scene = "the parent saves, the main thread waits for the child"
            let stack = try ClubStack()
            try await MainActor.run {
                let main = stack.context(.mainQueueConcurrencyType)
                let child = main.child()
                child.automaticallyMergesChangesFromParent = true
                for number in 0..<20 {
                    let team = main.team("Team \(number)")
                    try main.save()
                    // The merge runs before the request, or waits for this thread already.
                    if number.isMultiple(of: 2) { usleep(2000) }
                    let names = try child.performAndWait { try child.teamNames() }
                    guard names.count == number + 1 else { Watchdog.fail("\(names.count) rows of \(number + 1)") }
                    team.wins = 1
                }
            }
            exit(EXIT_SUCCESS)
        }
        Watchdog.expectNothing(of: result)
    }

    /// Blocks of one context never overlap, in whatever order threads wait for queues and for each other.
    @Test(.needs(.process)) func blocksThatWaitForEachOtherDoNotOverlap() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let watchdog = Watchdog()
            watchdog.scene = "threads that wait in any order"
            let contexts = (0..<4).map { NSManagedObjectContext($0 == 0 ? .mainQueue : .privateQueue) }
            let counters = UncheckedSendable(contexts.map { _ in Counter() })
            let threads = 4
            let rounds = 300
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<threads {
                    group.addTask {
                        await Watchdog.onThread {
                            var random = SeededRandom(seed: UInt64(number + 1))
                            for _ in 0..<rounds {
                                let path = (0..<3).map { _ in Int.random(in: 0..<4, using: &random) }
                                Counter.descend(path, contexts, counters.value)
                            }
                        }
                    }
                }
            }
            let total = counters.value.reduce(0) { $0 + $1.count }
            guard total == threads * rounds * 3 else { Watchdog.fail("\(total) blocks of \(threads * rounds * 3)") }
            exit(EXIT_SUCCESS)
        }
        Watchdog.expectNothing(of: result)
    }
}

/// Counts blocks of a context without a lock.
private final class Counter {
    var count = 0

    /// Enters the contexts of `path`, each within the previous one, and counts in each.
    static func descend(_ path: [Int], _ contexts: [NSManagedObjectContext], _ counters: [Counter]) {
        guard let first = path.first else { return }
        contexts[first].performAndWait {
            let before = counters[first].count
            sched_yield()
            counters[first].count = before + 1
            descend(Array(path.dropFirst()), contexts, counters)
        }
    }
}

private struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}

/// A working context waits for another one, which is working, too, and needs the queues of its ancestors.
private struct QueueScene {
    enum Work: CaseIterable { case perform, performAndWait, asyncPerform, merge }

    /// The contexts from the root to the leaf.
    struct Layout {
        let name: String
        let types: [NSManagedObjectContextConcurrencyType]
    }

    static let layouts = [
        Layout(
            name: "main child grandchild",
            types: [.mainQueueConcurrencyType, .privateQueueConcurrencyType, .privateQueueConcurrencyType]),
        Layout(
            name: "private main child",
            types: [.privateQueueConcurrencyType, .mainQueueConcurrencyType, .privateQueueConcurrencyType]),
        Layout(name: "private child grandchild", types: Array(repeating: .privateQueueConcurrencyType, count: 3)),
    ]

    let layout: Layout
    let holder: Int
    let target: Int
    let work: Work
    /// True if the target's work has time to reach its first wait.
    let waits: Bool

    var name: String { "\(layout.name): \(holder) waits for \(target), \(work), \(waits ? "later" : "at once")" }

    static func all(of layout: Layout) -> [QueueScene] {
        var scenes: [QueueScene] = []
        for holder in layout.types.indices {
            for target in layout.types.indices where target != holder {
                for work in Work.allCases {
                    for waits in [true, false] {
                        scenes.append(
                            QueueScene(layout: layout, holder: holder, target: target, work: work, waits: waits))
                    }
                }
            }
        }
        return scenes
    }

    func run() async throws {
        let stack = try ClubStack(type: NSInMemoryStoreType)
        var contexts = [stack.context(layout.types[0])]
        for type in layout.types.dropFirst() { contexts.append(contexts[contexts.count - 1].child(type)) }
        for context in contexts { context.automaticallyMergesChangesFromParent = true }
        let family = contexts
        let ended = DispatchSemaphore(value: 0)
        let first = family[holder]
        let body: @Sendable () -> Void = {
            first.performAndWait {
                begin(family[target], first, ended)
                if waits { usleep(1500) }
                Self.change(family[target])
            }
        }
        if layout.types[holder] == .mainQueueConcurrencyType {
            await MainActor.run(body: body)
        } else {
            await Watchdog.onThread(body)
        }
        await Watchdog.onThread { ended.wait() }
    }

    /// Starts the work on the target's queue.
    private func begin(_ context: NSManagedObjectContext, _ holder: NSManagedObjectContext, _ ended: DispatchSemaphore)
    {
        switch work {
        case .perform:
            context.perform {
                Self.change(context)
                ended.signal()
            }
        case .performAndWait:
            Thread {
                Self.change(context)
                ended.signal()
            }.start()
        case .asyncPerform:
            Task.detached {
                await context.perform { Self.change(context) }
                ended.signal()
            }
        case .merge:
            Self.change(holder)
            ended.signal()
        }
    }

    /// Reads, changes and saves.
    private static func change(_ context: NSManagedObjectContext) {
        do {
            try context.performAndWait {
                let count = try context.teamNames().count
                context.team("Team \(count)").wins = 1
                try context.save()
                guard try context.teamNames("wins = 1").count > count else { Watchdog.fail("a row is missing") }
            }
        } catch {
            Watchdog.fail("\(error)")
        }
    }
}
