/// A reference from a part to the object that it is a part of, which is not counted.
///
/// Retaining a context costs more than other objects, because there are weak references to it: what happens for every object
/// does without it. Of all unretained references this is the plainest; `Backlink` is one that is cut, and `Unmanaged` what
/// goes through memory or C.
// SAFETY: the owner makes the part, holds it, and is held by what calls the part. A part that outlives its owner in a call
// of its own, as when code of the user's gives the context up, does not follow the reference after.
struct Unretained<Object: AnyObject> {
    unowned(unsafe) let object: Object

    @inline(__always)
    init(_ object: Object) { self.object = object }
}
