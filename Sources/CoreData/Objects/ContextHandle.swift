/// A context as its objects refer to it.
///
/// The handle stays until all objects have left the context, which they do on its queue. The context itself may be gone before:
/// any thread can hold the last reference to it, and lets go of it there. Objects that are used on the queue meanwhile have no
/// context.
final class ContextHandle {
    /// The context; `nil` once nobody holds it. Any thread.
    private(set) weak var living: NSManagedObjectContext?
    /// Tells whether reads of the context's objects are tracked.
    // SAFETY: set on the context's queue alone, as a whole: no accesses overlap.
    @exclusivity(unchecked)
    var readProbe = ObservationProbe()
    /// Makes a fault real whose row is at hand.
    ///
    /// Part of the handle because it does without the context: to count a reference for each object takes longer than the rest.
    let realise: (NSManagedObject) -> Void

    init(_ context: NSManagedObjectContext, realise: @escaping (NSManagedObject) -> Void) {
        living = context
        self.realise = realise
    }
}
