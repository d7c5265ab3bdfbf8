import Foundation

/// Details of a validation error, a failed save or a conflict.
extension CocoaError {
    /// The invalid object.
    public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }

    /// The name of the invalid property.
    public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }

    /// The predicate that the value fails.
    public var validationPredicate: NSPredicate? { userInfo[NSValidationPredicateErrorKey] as? NSPredicate }

    /// The invalid value.
    public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }

    /// The stores that failed.
    public var affectedStores: [AnyObject]? { userInfo[NSAffectedStoresErrorKey] as? [AnyObject] }

    /// The objects that failed.
    public var affectedObjects: [AnyObject]? { userInfo[NSAffectedObjectsErrorKey] as? [AnyObject] }
}
