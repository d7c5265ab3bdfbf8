/// Returns the same object as another specialisation of its generic class. Objective-C allows this; Swift stops the
/// program at such a cast, because each specialisation is a class.
///
/// For `NSFetchRequest`, `NSFetchedResultsController`, `NSAsynchronousFetchRequest` and `NSAsynchronousFetchResult`: their fields
/// and methods do not depend on the generic type, so all specialisations have the same memory layout and method table.
// SAFETY: callers pass only these classes; `LayoutTests` compares the layouts of two specialisations of each, and calls
// methods of one through the other.
@inline(__always)
func respecialised<Object: AnyObject, Other: AnyObject>(_ object: Object, as type: Other.Type = Other.self) -> Other {
    Unretained<Other>(address: Unretained(object).address).object
}
