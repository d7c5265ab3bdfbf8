import CoreData
import Foundation

/// 20: time from the cancellation of an asynchronous fetch to its end, at several moments: during SQLite's search, and
/// while rows are compared and sorted in memory.
@MainActor struct CancelWorkload {
    let stage: Stage

    /// Times that a cancelled fetch reports from other threads.
    private final class Times: @unchecked Sendable {
        let ended = DispatchSemaphore(value: 0)
        var end = 0.0
        var wasCancelled = false
    }

    func run() throws {
        let stack = try League.Stack(try stage.filledStore(stage.count))
        let context = stack.container.newBackgroundContext()
        for (what, format) in [
            ("SQLite searches", "teamName MATCHES[c] '.*of.*9.*9.*9.*' AND qualifyingZone LIKE[cd] '*zone*'"),
            ("memory compares", "CAST(wins, 'NSString') CONTAINS '9' AND teamName CONTAINS[cd] 'OF'"),
        ] {
            var waits: [Double] = []
            for delay in [0.02, 0.1, 0.25] {
                for _ in 0..<stage.rounds {
                    if let wait = try wait(NSPredicate(format: format), cancelledAfter: delay, in: context) {
                        waits.append(wait)
                    }
                }
            }
            guard let longest = waits.max() else {
                print("No fetch of \(stage.count) rows ran long enough to be cancelled: \(what).")
                continue
            }
            Line(
                number: 20, what: "cancel a fetch of \(stage.count) rows while \(what): longest of \(waits.count)",
                unit: .milliseconds, figure: longest, target: .absolute(0.05)
            ).report()
        }
        try stack.close()
    }

    /// - Returns: Nil if the fetch ended before the cancellation.
    private func wait(
        _ predicate: NSPredicate, cancelledAfter delay: Double, in context: NSManagedObjectContext
    ) throws -> Double? {
        let times = Times()
        nonisolated(unsafe) var running: NSPersistentStoreAsynchronousResult?
        try context.performAndWait {
            let request = NSFetchRequest<Team>(entityName: "Team")
            request.predicate = predicate
            request.sortDescriptors = [
                NSSortDescriptor(key: "teamName", ascending: true, selector: .localizedStandardCompare)
            ]
            let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                times.end = Clock.wall.now
                times.wasCancelled = result.operationError != nil
                times.ended.signal()
            }
            running = try context.execute(asynchronous) as? NSPersistentStoreAsynchronousResult
        }
        Thread.sleep(forTimeInterval: delay)
        let cancelled = Clock.wall.now
        running?.cancel()
        times.ended.wait()
        return times.wasCancelled ? times.end - cancelled : nil
    }
}
