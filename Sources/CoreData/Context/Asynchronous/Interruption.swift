import Foundation
import Synchronization

/// Lets one thread stop what another one reads.
final class Interruption: Sendable {
    private let flag = Atomic<Bool>(false)
    /// Hears on the way how many rows a store has gone through, on the thread that reads.
    let onScan: (@Sendable (Int) -> Void)?

    init(onScan: (@Sendable (Int) -> Void)? = nil) { self.onScan = onScan }

    /// Stops the work that runs, and all that would begin later.
    func interrupt() { flag.store(true, ordering: .releasing) }

    var isInterrupted: Bool { flag.load(ordering: .acquiring) }

    /// - Throws: 3072 after ``interrupt()``.
    func check() throws {
        if isInterrupted { throw CoreDataError.make(3072, "The fetch was cancelled.") }
    }
}
