import Foundation
import Synchronization

/// The plain settings of a context. Any thread may set them, even while the context is working.
// SAFETY: `lock` guards the values.
final class ContextSettings: @unchecked Sendable {
    struct Values {
        var name: String?
        var transactionAuthor: String?
        var undoManager: UndoManager?
        var mergePolicy: Any = NSMergePolicy.error
        var propagatesDeletesAtEndOfEvent = true
        var retainsRegisteredObjects = false
        var shouldDeleteInaccessibleFaults = true
        var stalenessInterval: TimeInterval = -1
    }

    private let lock = Mutex<Void>(())
    // SAFETY: used only under the lock.
    @exclusivity(unchecked)
    private var values = Values()

    func read<Value>(_ look: (borrowing Values) -> Value) -> Value {
        lock.withLock { _ in UncheckedSendable(look(values)) }.value
    }

    /// Sets a value. The old one, which may be of a program's own type, is released outside of the lock.
    func change(_ change: (inout Values) -> Void) {
        let old = lock.withLock { _ in
            let old = UncheckedSendable(values)
            change(&values)
            return old
        }
        withExtendedLifetime(old) {}
    }

    /// Sets the undo manager.
    ///
    /// - Returns: the previous one.
    func exchangeUndoManager(_ manager: UndoManager?) -> UndoManager? {
        lock.withLock { _ in
            let old = values.undoManager
            values.undoManager = manager
            return UncheckedSendable(old)
        }.value
    }
}
