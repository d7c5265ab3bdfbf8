/// Holds an object of a queue for threads off the queue. They cannot access the object, and it is always released on
/// the queue.
///
/// For background work of a context, such as a fetch, which holds closures of the program and the lists that they
/// show. Contexts need no such care: see `ContextRemains`.
// SAFETY: the object is used on the queue only; the reference to it moves there.
final class QueueBound<Object>: @unchecked Sendable {
    private final class Box {
        var object: Object?

        init(_ object: Object) { self.object = object }
    }

    private let box: Box
    private let queue: WorkQueue

    /// - Parameter object: an object that nothing else releases off the queue.
    init(_ object: Object, on queue: WorkQueue) {
        box = Box(object)
        self.queue = queue
    }

    deinit { queue.async { [box] in box.object = nil } }

    /// Runs `body` on the queue later.
    func async(_ body: @escaping @Sendable (Object) -> Void) {
        queue.async { [box] in if let object = box.object { body(object) } }
    }
}
