import Foundation

/// What a validation error, a failed save or a conflict says beyond its code.
extension CocoaError {
    /// The object that is not valid.
    public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }

    /// The name of the property that is not valid.
    public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }

    /// The predicate that the value fails.
    public var validationPredicate: NSPredicate? { userInfo[NSValidationPredicateErrorKey] as? NSPredicate }

    /// The value that is not valid.
    public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }

    /// The stores in which something failed.
    public var affectedStores: [AnyObject]? { userInfo[NSAffectedStoresErrorKey] as? [AnyObject] }

    /// The objects with which something failed.
    public var affectedObjects: [AnyObject]? { userInfo[NSAffectedObjectsErrorKey] as? [AnyObject] }
}
