import Foundation

/// The effect of an object's deletion on the destinations of a relationship.
public enum NSDeleteRule: UInt, Sendable {
    /// No effect: the destinations keep their references to the deleted object.
    case noActionDeleteRule = 0
    /// The destinations' references to the object are removed.
    case nullifyDeleteRule = 1
    /// The destinations are deleted too.
    case cascadeDeleteRule = 2
    /// The object cannot be deleted while it has destinations.
    case denyDeleteRule = 3
}

/// A relationship: a property that refers to one or many objects of an entity.
// SAFETY: as `NSPropertyDescription`: frozen with its model before other threads may see it.
open class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {
    /// The entity of the destinations.
    open var destinationEntity: NSEntityDescription? {
        get { destinationLink?.target }
        set {
            willModify()
            destinationLink = newValue?.backlink
        }
    }
    private var destinationLink: Backlink<NSEntityDescription>?

    /// The destination's relationship back to this entity; `nil` if one-way.
    open var inverseRelationship: NSRelationshipDescription? {
        get { inverseLink?.target }
        set {
            willModify()
            inverseLink = newValue?.backlink
        }
    }
    private var inverseLink: Backlink<NSRelationshipDescription>?
    private var backlink: Backlink<NSRelationshipDescription>!

    /// A to-many relationship without a destination and an inverse.
    public required init() {
        super.init()
        backlink = Backlink(self)
    }

    deinit { backlink.cut() }

    /// Maximum number of destinations. 1 makes a to-one relationship; 0, the default, means no limit.
    open var maxCount = 0 { willSet { willModify() } }

    /// Minimum number of destinations. 0 by default. Neither count is enforced while an optional relationship is
    /// empty.
    open var minCount = 0 { willSet { willModify() } }

    /// The effect of a deletion on the destinations. Nullify by default.
    open var deleteRule: NSDeleteRule = .nullifyDeleteRule { willSet { willModify() } }

    /// True if the destinations of a to-many relationship are ordered. `false` by default.
    open var isOrdered = false { willSet { willModify() } }

    /// True if `maxCount` is not 1.
    open var isToMany: Bool { maxCount != 1 }

    /// The hash of everything that the relationship's schema depends on: name, optionality, destination, inverse,
    /// counts and order.
    open override var versionHash: Data { super.versionHash }

    override func copyValues(to copy: NSPropertyDescription) {
        super.copyValues(to: copy)
        guard let copy = copy as? NSRelationshipDescription else { return }
        copy.destinationEntity = destinationEntity
        copy.inverseRelationship = inverseRelationship
        copy.maxCount = maxCount
        copy.minCount = minCount
        copy.deleteRule = deleteRule
        copy.isOrdered = isOrdered
    }
}

extension NSRelationshipDescription {
    /// True if a deletion may leave dangling references of this relationship: it has no inverse, or the inverse's
    /// rule is No Action.
    var mayDangle: Bool { inverseRelationship.map { $0.deleteRule == .noActionDeleteRule } ?? true }

    /// True if this end of a many-to-many relationship writes the pairs: the end whose entity and name sort first.
    var writesPairs: Bool {
        guard let inverse = inverseRelationship, inverse !== self else { return isToMany }
        guard isToMany, inverse.isToMany else { return false }
        func key(_ end: NSRelationshipDescription) -> (String, String) { (end.entity.name ?? "", end.name) }
        return key(self) <= key(inverse)
    }
}
