/// The user info of the framework's errors, under Apple's keys.

/// Several errors: an array of `NSError`.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// The invalid object.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// The name of the invalid property.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// The predicate that the value fails.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
/// The invalid value, if not `nil`.
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// An array of the stores that failed.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// An array of the objects that failed.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// An array of `NSMergeConflict`.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
/// The domain of SQLite's own error codes; also the key of such a code in the user info of an error.
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"
