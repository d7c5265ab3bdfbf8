/// A context as its objects refer to it.
///
/// The handle lives until all objects have left the context, which they do on its queue. The context itself may be
/// deallocated earlier, on any thread that releases the last reference. Until then, objects used on the queue have no
/// context.
final class ContextHandle {
    /// The context; `nil` once it is deallocated. Any thread.
    private(set) weak var living: NSManagedObjectContext?
    /// Detects whether reads of the context's objects are tracked.
    // SAFETY: set on the context's queue only, as a whole: no accesses overlap.
    @exclusivity(unchecked)
    var readProbe = ObservationProbe()
    /// Turns a fault whose row is already available into a full object.
    ///
    /// Part of the handle because it does not need the context: retaining the context costs more than the rest.
    let realise: (NSManagedObject) -> Void

    init(_ context: NSManagedObjectContext, realise: @escaping (NSManagedObject) -> Void) {
        living = context
        self.realise = realise
    }
}
