/// An object of a queue, in the hands of threads that are not on it: they cannot reach it, and whoever lets go of it last, the
/// object itself is let go of on the queue.
///
/// It keeps work beside a context's queue, such as a fetch, which holds closures of the program and the lists that they show. Contexts need no such care: see `ContextRemains`.
// SAFETY: the object is reached on the queue only, but for the reference to it, which moves there.
final class QueueBound<Object>: @unchecked Sendable {
    private final class Box {
        var object: Object?

        init(_ object: Object) { self.object = object }
    }

    private let box: Box
    private let queue: WorkQueue

    /// - Parameter object: an object that nobody else lets go of beside the queue.
    init(_ object: Object, on queue: WorkQueue) {
        box = Box(object)
        self.queue = queue
    }

    deinit { queue.async { [box] in box.object = nil } }

    /// Runs `body` on the queue, some time later.
    func async(_ body: @escaping @Sendable (Object) -> Void) {
        queue.async { [box] in if let object = box.object { body(object) } }
    }
}
