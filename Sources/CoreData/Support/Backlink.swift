/// The way back to an object that owns, beside or above, whoever holds the link. Says nothing once the object is gone.
///
/// What a weak reference would do, but one makes every later retain and release of its target several times as slow, and
/// entities are retained with every object that is made. In exchange the target cuts the link when it goes away, and
/// nobody may follow it on one thread while the last holder of the target, and with it of its model, lets go on another:
/// as at Apple's, where these references do not retain and are never cleared.
final class Backlink<Target: AnyObject>: @unchecked Sendable {
    private(set) unowned(unsafe) var target: Target?

    init(_ target: Target) { self.target = target }

    /// To be called when the target goes away.
    func cut() { target = nil }
}
