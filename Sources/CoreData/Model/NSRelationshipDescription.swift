import Foundation

public enum NSDeleteRule: UInt, Sendable {
    case noActionDeleteRule = 0
    case nullifyDeleteRule = 1
    case cascadeDeleteRule = 2
    case denyDeleteRule = 3
}

/// A relationship: a property that refers to one or many objects of an entity.
open class NSRelationshipDescription: NSPropertyDescription {
    open unowned(unsafe) var destinationEntity: NSEntityDescription?
    open unowned(unsafe) var inverseRelationship: NSRelationshipDescription?
    open var maxCount = 0
    open var minCount = 0
    open var deleteRule: NSDeleteRule = .nullifyDeleteRule
    open var isOrdered = false
    /// `true` exactly when `maxCount` is not 1.
    open var isToMany: Bool { maxCount != 1 }
}
