/// Returns the same object as another specialisation of its generic class. Objective-C allows this; Swift stops the
/// program at such a cast, because each specialisation is a class.
///
/// Only for the classes named in ARCHITECTURE.md, "What rests on the compiler". The layout of their fields and
/// methods does not depend on the generic type, so all specialisations have the same memory layout and method table.
// SAFETY: callers pass only these classes; `LayoutTests` compares the layouts of two specialisations of each, and calls
// methods of one through the other.
@inline(__always)
func respecialised<Object: AnyObject, Other: AnyObject>(_ object: Object, as type: Other.Type = Other.self) -> Other {
    Unretained<Other>(address: Unretained(object).address).object
}
