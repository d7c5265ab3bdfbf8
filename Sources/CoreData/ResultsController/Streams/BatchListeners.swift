import Synchronization

/// Several listeners, in the order in which they were added.
final class Listeners<Listener: Sendable>: Sendable {
    private struct State {
        var listeners: [Int: Listener] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    var isEmpty: Bool { state.withLock { $0.listeners.isEmpty } }

    var all: [Listener] { state.withLock { state in state.listeners.sorted { $0.key < $1.key }.map(\.value) } }

    /// - Returns: the number for removing the listener.
    func add(_ listener: Listener) -> Int {
        state.withLock { state in
            state.next += 1
            state.listeners[state.next] = listener
            return state.next
        }
    }

    func remove(_ number: Int) { _ = state.withLock { $0.listeners.removeValue(forKey: number) } }
}

/// The streams that receive the batches of a results controller.
///
/// A stream may end on any thread, when its consumer stops waiting; it receives batches on the context's queue.
final class BatchListeners: Sendable {
    struct Listener: Sendable {
        /// Receives a batch.
        let hear: @Sendable (FetchedResultsBatch) -> Void
        /// Receives the contents after a fetch.
        let begin: @Sendable (FetchedResultsSnapshot) -> Void
        /// Called when the controller is released.
        let end: @Sendable () -> Void
    }

    private let listeners = Listeners<Listener>()
    private var all: [Listener] { listeners.all }

    var isEmpty: Bool { listeners.isEmpty }

    /// Adds a listener.
    ///
    /// - Returns: the number for removing the listener.
    func add(_ listener: Listener) -> Int { listeners.add(listener) }

    func remove(_ number: Int) { listeners.remove(number) }

    func hear(_ batch: FetchedResultsBatch) { for listener in all { listener.hear(batch) } }

    func begin(_ snapshot: FetchedResultsSnapshot) { for listener in all { listener.begin(snapshot) } }

    func end() { for listener in all { listener.end() } }
}
