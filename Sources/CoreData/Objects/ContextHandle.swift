/// A context as its objects refer to it.
///
/// Objects do not retain their context: the program and blocks in the context's queue do. The context may be deallocated
/// on any thread that releases the last reference; its objects leave it later, on its queue. The handle lives until all
/// have left. In between, objects have no context.
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
