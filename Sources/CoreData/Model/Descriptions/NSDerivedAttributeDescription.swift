import Foundation

/// A derived attribute: its value is computed from other values whenever the object is saved. By stores in SQLite files
/// and on servers only.
// SAFETY: as `NSPropertyDescription`: frozen with its model before other threads may see it.
open class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    /// What the value is computed from: a key path over to-one relationships, `uppercase:`, `lowercase:` or `canonical:`
    /// of one, a to-many relationship's `@count` or `@sum`, or `now()`.
    ///
    /// `nil` in a model of a store or a compiled model where it has a part that is not known here: the value is then left to
    /// the triggers that the store has, and no new store can be made with the attribute (134060).
    open var derivationExpression: NSExpression? { willSet { willModify() } }

    /// Which related objects count; archived models may have one.
    final var filteringPredicate: NSPredicate?

    override func copyValues(to copy: NSPropertyDescription) {
        super.copyValues(to: copy)
        guard let copy = copy as? NSDerivedAttributeDescription else { return }
        copy.derivationExpression = derivationExpression
        copy.filteringPredicate = filteringPredicate
    }
}
