import Foundation

/// A derived attribute: its value is computed from other values at each save. Supported by stores in SQLite files and
/// on servers only.
// SAFETY: as `NSPropertyDescription`: frozen with its model before other threads may see it.
open class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    /// The expression that computes the value: a key path over to-one relationships, `uppercase:`, `lowercase:` or
    /// `canonical:` of one, a to-many relationship's `@count` or `@sum`, or `now()`.
    ///
    /// `nil` if the model comes from a store or a compiled file and the expression has an unknown part. The store's
    /// own triggers then maintain the value, and no new store can be made with the attribute (134060).
    open var derivationExpression: NSExpression? { willSet { willModify() } }

    /// The related objects that count; present in some archived models.
    final var filteringPredicate: NSPredicate?

    override func copyValues(to copy: NSPropertyDescription) {
        super.copyValues(to: copy)
        guard let copy = copy as? NSDerivedAttributeDescription else { return }
        copy.derivationExpression = derivationExpression
        copy.filteringPredicate = filteringPredicate
    }
}
