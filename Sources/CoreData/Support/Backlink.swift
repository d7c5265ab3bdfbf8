/// A reference from an object to its owner, which it does not retain. `nil` once the owner is gone.
///
/// What a weak reference would do, but one makes every later retain and release of its target several times as slow, and
/// entities are retained with every object that is made. In exchange the target cuts the link when it goes away, and
/// no thread may follow it while another releases the last reference to the target, and with it to its model:
/// as at Apple's, where these references do not retain and are never cleared.
// SAFETY: changed by the model's owner alone, which cuts it before the target goes away; see the rule above for
// readers.
final class Backlink<Target: AnyObject>: @unchecked Sendable {
    // SAFETY: not followed once `cut()` was called, as the target does when it goes away; see the rule for readers.
    private(set) unowned(unsafe) var target: Target?

    init(_ target: Target) { self.target = target }

    /// To be called when the target goes away.
    func cut() { target = nil }
}
