/// Returns the same object as another specialisation of its generic class. Objective-C allows this; Swift stops the
/// program at such a cast, because each specialisation is a class.
///
/// For `NSFetchRequest`, `NSFetchedResultsController`, `NSAsynchronousFetchRequest` and `NSAsynchronousFetchResult`: no field and
/// no method of theirs is laid out by their generic type, so every specialisation has the same memory layout and method table.
// SAFETY: callers pass classes of that kind alone; `LayoutTests` compares the layouts of two specialisations of each, and calls
// methods of one through the other.
@inline(__always)
func respecialised<Object: AnyObject, Other: AnyObject>(_ object: Object, as type: Other.Type = Other.self) -> Other {
    Unretained<Other>(address: Unretained(object).address).object
}
