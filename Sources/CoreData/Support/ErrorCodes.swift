/// The codes of the framework's errors in `NSCocoaErrorDomain`, under the names of Apple's C constants.

/// A value is invalid: a validation predicate fails.
public let NSManagedObjectValidationError = 1550
/// Values that must be unique are not unique.
public let NSManagedObjectConstraintValidationError = 1551
/// Several values are invalid; the errors are under `NSDetailedErrorsKey`.
public let NSValidationMultipleErrorsError = 1560
/// A required property has no value.
public let NSValidationMissingMandatoryPropertyError = 1570
/// A relationship has too few destinations.
public let NSValidationRelationshipLacksMinimumCountError = 1580
/// A relationship has too many destinations.
public let NSValidationRelationshipExceedsMaximumCountError = 1590
/// The object cannot be deleted while a relationship has destinations.
public let NSValidationRelationshipDeniedDeleteError = 1600
/// A number is too large.
public let NSValidationNumberTooLargeError = 1610
/// A number is too small.
public let NSValidationNumberTooSmallError = 1620
/// A date is too late.
public let NSValidationDateTooLateError = 1630
/// A date is too soon.
public let NSValidationDateTooSoonError = 1640
/// A date is invalid.
public let NSValidationInvalidDateError = 1650
/// A text is too long.
public let NSValidationStringTooLongError = 1660
/// A text is too short.
public let NSValidationStringTooShortError = 1670
/// A text does not match its pattern.
public let NSValidationStringPatternMatchingError = 1680
/// A URI cannot be written as text.
public let NSValidationInvalidURIError = 1690
/// A context could not be locked.
public let NSManagedObjectContextLockingError = 132000
/// A coordinator could not be locked.
public let NSPersistentStoreCoordinatorLockingError = 132010
/// A row does not exist.
public let NSManagedObjectReferentialIntegrityError = 133000
/// A relationship refers to another store.
public let NSManagedObjectExternalRelationshipError = 133010
/// Another context or process changed the same objects, and the merge policy did not resolve the conflict.
public let NSManagedObjectMergeError = 133020
/// Another context or process saved the same unique values, and the merge policy did not resolve the conflict.
public let NSManagedObjectConstraintMergeError = 133021
/// The store type is not registered.
public let NSPersistentStoreInvalidTypeError = 134000
/// The file is a store of another type.
public let NSPersistentStoreTypeMismatchError = 134010
/// The database does not fit the model, or is not writable.
public let NSPersistentStoreIncompatibleSchemaError = 134020
/// A save failed.
public let NSPersistentStoreSaveError = 134030
/// Some stores were saved and others not.
public let NSPersistentStoreIncompleteSaveError = 134040
/// A save has conflicts.
public let NSPersistentStoreSaveConflictsError = 134050
/// Another failure.
public let NSCoreDataError = 134060
/// A store refused an operation.
public let NSPersistentStoreOperationError = 134070
/// A store cannot be opened.
public let NSPersistentStoreOpenError = 134080
/// A store did not answer in time.
public let NSPersistentStoreTimeoutError = 134090
/// The store does not support the request.
public let NSPersistentStoreUnsupportedRequestTypeError = 134091
/// The store was written with another version of the model.
public let NSPersistentStoreIncompatibleVersionHashError = 134100
/// A migration failed.
public let NSMigrationError = 134110
/// A migration would break a uniqueness constraint.
public let NSMigrationConstraintViolationError = 134111
/// A migration was cancelled.
public let NSMigrationCancelledError = 134120
/// No model of the store's version was found.
public let NSMigrationMissingSourceModelError = 134130
/// No mapping model was found.
public let NSMigrationMissingMappingModelError = 134140
/// A migration could not read its source.
public let NSMigrationManagerSourceStoreError = 134150
/// A migration could not write its destination.
public let NSMigrationManagerDestinationStoreError = 134160
/// A migration policy failed.
public let NSEntityMigrationPolicyError = 134170
/// SQLite reported an error.
public let NSSQLiteError = 134180
/// No mapping model can be inferred.
public let NSInferredMappingModelError = 134190
/// An external record could not be imported.
public let NSExternalRecordImportError = 134200
/// The history before the token was removed.
public let NSPersistentHistoryTokenExpiredError = 134301
/// The model of a reference was not found.
public let NSManagedObjectModelReferenceNotFoundError = 134504
/// The store is too old for a staged migration.
public let NSStagedMigrationFrameworkVersionMismatchError = 134505
/// The stages of a migration run backwards.
public let NSStagedMigrationBackwardMigrationError = 134506
