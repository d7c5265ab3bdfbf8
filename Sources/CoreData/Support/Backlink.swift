/// An unretained reference from an object to its owner; `nil` once the owner is released.
///
/// A weak reference would make every later retain and release of its target several times slower, and entities are
/// retained with every new object. Instead, the target cuts the link when it is released. No thread may follow the
/// link while another releases the last reference to the target, and with it to its model. Apple's framework has the
/// same rule: its references do not retain and are never cleared.
// SAFETY: changed only by the model's owner, which cuts it before the target is released; see the rule above for
// readers.
final class Backlink<Target: AnyObject>: @unchecked Sendable {
    // SAFETY: not followed after `cut()`, which the target calls when it is released; see the rule for readers.
    private(set) unowned(unsafe) var target: Target?

    init(_ target: Target) { self.target = target }

    /// Call this when the target is released.
    func cut() { target = nil }
}
