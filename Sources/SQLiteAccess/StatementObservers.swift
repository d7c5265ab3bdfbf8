import Foundation
import Synchronization

/// A statement that a connection has run to its end.
package struct ExecutedSQL: Sendable {
    package let sql: String
    package let rows: Int
    package let duration: Duration
    /// The number of instructions of SQLite's virtual machine: some for each row that was read, even if it was not
    /// returned.
    package let steps: Int
}

/// The observers of the statements of all connections of the process.
///
/// A connection traces its statements only while an observer is registered: it checks that before each statement, on
/// its own thread.
package enum StatementObservers {
    private static let active = Atomic<Bool>(false)
    private static let handlers = Mutex<[ObjectIdentifier: @Sendable (ExecutedSQL) -> Void]>([:])

    /// True if an observer is registered.
    static var isActive: Bool { active.load(ordering: .relaxed) }

    /// Calls `handler`, on the threads of the connections, until `remove` is called with the same owner.
    package static func add(_ owner: AnyObject, _ handler: @escaping @Sendable (ExecutedSQL) -> Void) {
        handlers.withLock {
            $0[ObjectIdentifier(owner)] = handler
            active.store(true, ordering: .relaxed)
        }
    }

    package static func remove(_ owner: AnyObject) {
        handlers.withLock {
            $0[ObjectIdentifier(owner)] = nil
            active.store(!$0.isEmpty, ordering: .relaxed)
        }
    }

    static func tell(_ statement: ExecutedSQL) {
        // Called without the lock: a handler may run statements.
        for handler in handlers.withLock({ Array($0.values) }) { handler(statement) }
    }
}
