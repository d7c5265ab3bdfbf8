import CoreData
import Dispatch

/// A migration through a manager that shows progress and can be cancelled.
struct WatchedMigration {
    let manager: NSMigrationManager
    let surroundings: CommandSurroundings

    private static let interval = DispatchTimeInterval.milliseconds(100)

    /// Runs `body`, which migrates by the manager.
    ///
    /// - Throws: what `body` throws; ``CommandError`` of failure if an interruption ended it.
    func run(_ body: () throws -> Void) rethrows {
        let look = Look(manager: manager, surroundings: surroundings)
        let queue = DispatchQueue(label: "roster.migration")
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { look.look() }
        timer.schedule(deadline: .now() + Self.interval, repeating: Self.interval)
        timer.resume()
        defer {
            timer.cancel()
            // Waits for the end of a timer event that has begun.
            queue.sync {}
            surroundings.progress.end()
        }
        try body()
    }
}

// SAFETY: only the timer's queue uses it, one look at a time. The migrating thread does not use the surroundings until
// the last look has ended. A manager's progress and cancellation can be used on any thread.
private final class Look: @unchecked Sendable {
    private let manager: NSMigrationManager
    private let surroundings: CommandSurroundings

    init(manager: NSMigrationManager, surroundings: CommandSurroundings) {
        (self.manager, self.surroundings) = (manager, surroundings)
    }

    func look() {
        let fraction = Double(manager.migrationProgress)
        surroundings.progress.report(fraction: fraction, "\(Int(fraction * 100)) % of the records")
        if surroundings.interruption.isRaised {
            manager.cancelMigrationWithError(CommandError.failure("interrupted"))
        }
    }
}
