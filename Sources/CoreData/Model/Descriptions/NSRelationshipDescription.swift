import Foundation

/// What happens to the objects at the far end when an object is deleted.
public enum NSDeleteRule: UInt, Sendable {
    /// Nothing: the far end keeps a reference to an object that is gone.
    case noActionDeleteRule = 0
    /// The far end forgets the object.
    case nullifyDeleteRule = 1
    /// The far end is deleted too.
    case cascadeDeleteRule = 2
    /// The object cannot be deleted while there is a far end.
    case denyDeleteRule = 3
}

/// A relationship: a property that refers to one or many objects of an entity.
// SAFETY: as `NSPropertyDescription`: frozen with its model before other threads may see it.
open class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {
    /// The entity of the objects at the far end.
    open var destinationEntity: NSEntityDescription? {
        get { destinationLink?.target }
        set {
            willModify()
            destinationLink = newValue?.backlink
        }
    }
    private var destinationLink: Backlink<NSEntityDescription>?

    /// The relationship of the destination that leads back; `nil` for a one-way relationship.
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

    /// The greatest number of destinations: 1 makes a to-one relationship, 0, the default, means no limit.
    open var maxCount = 0 { willSet { willModify() } }

    /// The least number of destinations. 0 by default. Neither count is enforced while an optional relationship is empty.
    open var minCount = 0 { willSet { willModify() } }

    /// What a deletion does to the far end. Nullify by default.
    open var deleteRule: NSDeleteRule = .nullifyDeleteRule { willSet { willModify() } }

    /// Whether the destinations of a to-many relationship have an order. `false` by default.
    open var isOrdered = false { willSet { willModify() } }

    /// `true` exactly when `maxCount` is not 1.
    open var isToMany: Bool { maxCount != 1 }

    /// The hash of what the store's form of the relationship depends on: name, optionality, destination, inverse, counts
    /// and order.
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
    /// Whether a deletion may leave references of this relationship to rows that are gone: without an inverse, and where the
    /// inverse's rule is No Action.
    var mayDangle: Bool { inverseRelationship.map { $0.deleteRule == .noActionDeleteRule } ?? true }

    /// Whether this end of a many-to-many relationship is the one that writes the pairs: the one whose entity and name come
    /// first.
    var writesPairs: Bool {
        guard let inverse = inverseRelationship, inverse !== self else { return isToMany }
        guard isToMany, inverse.isToMany else { return false }
        func key(_ end: NSRelationshipDescription) -> (String, String) { (end.entity.name ?? "", end.name) }
        return key(self) <= key(inverse)
    }
}
