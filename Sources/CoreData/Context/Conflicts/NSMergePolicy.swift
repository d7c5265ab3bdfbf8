import Foundation

/// The kind of a merge policy.
public enum NSMergePolicyType: UInt, Sendable {
    /// The save fails.
    case errorMergePolicyType = 0
    /// Values are merged; if both changed a value, the store's wins.
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    /// Values are merged; if both changed a value, the object's wins.
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    /// The object is written as it is.
    case overwriteMergePolicyType = 3
    /// The object's changes are dropped.
    case rollbackMergePolicyType = 4
}

/// Resolves the conflicts between a save and changes that others saved in the meantime.
///
/// | policy | a row changed by both | a row that others deleted |
/// |---|---|---|
/// | `error` | the save throws 133020 | the save throws 133020 |
/// | `mergeByPropertyStoreTrump` | the store's value wins if both changed it | the object is dropped |
/// | `mergeByPropertyObjectTrump` | the object's value wins if both changed it | the row is written again |
/// | `overwrite` | the whole object is written | the row is written again |
/// | `rollback` | the object's changes are dropped | the object is dropped |
///
/// An object that is deleted here and was changed by others stays deleted under object trump and overwrite; under the
/// other two it is restored with the store's values.
///
/// Objects whose unique values are already used by a row of the store or another object of the context:
///
/// | policy | a new object | a saved object that was changed to such values |
/// |---|---|---|
/// | `error` | the save throws 133021 | the save throws 133021 |
/// | `mergeByPropertyStoreTrump` | is removed; references to it then point to the row | gets its saved unique values back |
/// | `mergeByPropertyObjectTrump` | its attributes and set relationships are copied to the row; then it is removed | keeps them; the other row is deleted, and its relationships are moved |
/// | `overwrite` | the same; to-one relationships that are not set become nil | the same |
/// | `rollback` | as under store trump | loses all its changes |
///
/// Among new objects the first one counts as the row. Two saved objects that were changed to the same values fail with
/// 133021 under object trump and overwrite.
///
/// Immutable, so contexts on any queue may use it. A save calls the methods on its context's queue.
// SAFETY: immutable; subclasses are called on the queue of the context that saves.
open class NSMergePolicy: NSObject, @unchecked Sendable {
    /// The kind of the policy: its behaviour, or that of `super` in a subclass.
    public final let mergeType: NSMergePolicyType

    /// Creates a policy of the given kind. A subclass chooses the kind for the conflicts that it passes to `super`.
    public init(merge ty: NSMergePolicyType) { mergeType = ty }

    /// The policy that makes the save fail. The default of contexts.
    public class var error: NSMergePolicy { shared(.errorMergePolicyType) }
    /// The policy that merges; the store's value wins if both changed it.
    public class var mergeByPropertyStoreTrump: NSMergePolicy { shared(.mergeByPropertyStoreTrumpMergePolicyType) }
    /// The policy that merges; the object's value wins if both changed it.
    public class var mergeByPropertyObjectTrump: NSMergePolicy { shared(.mergeByPropertyObjectTrumpMergePolicyType) }
    /// The policy that writes the object as it is.
    public class var overwrite: NSMergePolicy { shared(.overwriteMergePolicyType) }
    /// The policy that drops the object's changes.
    public class var rollback: NSMergePolicy { shared(.rollbackMergePolicyType) }

    private static let allShared = (0...4).compactMap(NSMergePolicyType.init(rawValue:)).map(NSMergePolicy.init(merge:))
    private static func shared(_ type: NSMergePolicyType) -> NSMergePolicy { allShared[Int(type.rawValue)] }

    /// Resolves the conflicts of a save: `NSMergeConflict`s by ``resolve(optimisticLockingConflicts:)``, then
    /// `NSConstraintConflict`s by ``resolve(constraintConflicts:)``. Called on the context's queue; the save is then
    /// tried again.
    ///
    /// - Throws: 133020 with merge conflicts, or 133021 with constraint conflicts that are not resolved, or an
    ///   overrider's own error; the save throws the same error.
    open func resolve(mergeConflicts list: [Any]) throws {
        let locking = list.compactMap { $0 as? NSMergeConflict }
        if !locking.isEmpty { try resolve(optimisticLockingConflicts: locking) }
        let constraints = list.compactMap { $0 as? NSConstraintConflict }
        if !constraints.isEmpty { try resolve(constraintConflicts: constraints) }
    }

    /// Resolves conflicts over rows that others changed or deleted. Overriders may change the source objects, and call
    /// `super` to apply the policy's kind.
    ///
    /// - Throws: 133020 with the conflicts if the policy resolves none.
    open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        guard mergeType != .errorMergePolicyType else { throw Self.unresolved(list) }
        for conflict in list { ConflictResolution(conflict: conflict, type: mergeType).apply() }
    }

    /// Resolves conflicts over unique values. Overriders may change the objects, and call `super` to apply the policy's
    /// kind to those that still conflict.
    ///
    /// - Throws: 133021 with the conflicts if the policy cannot resolve them.
    open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        let resolutions = list.map { ConstraintResolution(conflict: $0, type: mergeType) }
        guard mergeType != .errorMergePolicyType, resolutions.allSatisfy(\.isDecidable) else {
            throw Self.unresolved(constraints: list)
        }
        for resolution in resolutions { resolution.apply() }
    }

    static func unresolved(constraints: [NSConstraintConflict]) -> NSError {
        let object = constraints.first?.conflictingObjects.first
        let path = object?.objectID.persistentStore?.url?.path ?? ""
        let rest = constraints.count - 1
        let others = rest > 0 ? " (and \(rest) more \(rest == 1 ? "conflict" : "conflicts"))" : ""
        var info: [String: Any] = [NSPersistentStoreSaveConflictsErrorKey: constraints]
        info[NSAffectedObjectsErrorKey] = constraints.flatMap(\.conflictingObjects)
        info["constraint"] = constraints.first?.constraint
        info["entity"] = object?.entity.name
        let reason = constraints.first?.reason ?? "several objects have the same unique values"
        return CoreDataError.make(133021, "Cannot save to the store \(path): \(reason)\(others).", userInfo: info)
    }

    static func unresolved(_ conflicts: [NSMergeConflict]) -> NSError {
        let names = conflicts.prefix(3).map { "'\($0.sourceObject.objectID)'" }.joined(separator: ", ")
        return CoreDataError.make(
            133020, "Could not merge changes.",
            userInfo: [
                NSPersistentStoreSaveConflictsErrorKey: conflicts,
                "reason": "\(conflicts.count) objects were changed by another context or process since they were read: "
                    + "\(names). Refresh them, or set another merge policy.",
            ])
    }
}

/// The older name of ``NSMergePolicy/error``.
public let NSErrorMergePolicy: NSMergePolicy = NSMergePolicy.error
/// The older name of ``NSMergePolicy/mergeByPropertyStoreTrump``.
public let NSMergeByPropertyStoreTrumpMergePolicy: NSMergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
/// The older name of ``NSMergePolicy/mergeByPropertyObjectTrump``.
public let NSMergeByPropertyObjectTrumpMergePolicy: NSMergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
/// The older name of ``NSMergePolicy/overwrite``.
public let NSOverwriteMergePolicy: NSMergePolicy = NSMergePolicy.overwrite
/// The older name of ``NSMergePolicy/rollback``.
public let NSRollbackMergePolicy: NSMergePolicy = NSMergePolicy.rollback
