import Foundation
import Synchronization

/// Lets one thread stop a read on another one.
final class Interruption: Sendable {
    private let flag = Atomic<Bool>(false)
    /// Receives the number of rows that a store has scanned so far, on the reading thread.
    let onScan: (@Sendable (Int) -> Void)?

    init(onScan: (@Sendable (Int) -> Void)? = nil) { self.onScan = onScan }

    /// Stops the current work and any that begins later.
    func interrupt() { flag.store(true, ordering: .releasing) }

    var isInterrupted: Bool { flag.load(ordering: .acquiring) }

    /// Throws if the work was interrupted.
    ///
    /// - Throws: 3072 after ``interrupt()``.
    func check() throws {
        if isInterrupted { throw CoreDataError.make(3072, "The fetch was cancelled.") }
    }
}
