import Foundation

extension Set {
    /// The objects of `set` that are of the element's class, for example the contents of a to-many relationship.
    public init(_ set: NSSet) { self = Set(set.allObjects.lazy.compactMap { $0 as? Element }) }
}
