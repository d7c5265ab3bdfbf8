import Foundation

/// Objects whose values would break a uniqueness constraint of the model: objects of one context among themselves, or
/// with a row of the store. Used on the queue of the context that saves.
open class NSConstraintConflict: NSObject {
    /// The names of the properties that must be unique together.
    public final let constraint: [String]
    /// The values, by name, that more than one object has.
    public final let constraintValues: [String: Any]
    /// The object of the row that already has the values; `nil` if only objects of the context conflict.
    public final let databaseObject: NSManagedObject?
    /// The values of `databaseObject`'s row.
    public final let databaseSnapshot: [String: Any]?
    /// The new or changed objects with the values: changed objects first, then new ones, in insertion order.
    public final let conflictingObjects: [NSManagedObject]
    /// The values of those objects when they were last read or saved; empty for a new one.
    public final let conflictingSnapshots: [[AnyHashable: Any]]

    /// Creates a conflict of objects that have the same values in a constraint.
    ///
    /// - Parameters:
    ///   - contraint: the names of the attributes of the constraint (the spelling is Apple's).
    ///   - databaseObject: the object of the row that already has the values; `nil` if all are in the context.
    ///   - databaseSnapshot: the values of that row.
    ///   - conflictingObjects: the objects with the same values.
    ///   - conflictingSnapshots: a dictionary for each of `conflictingObjects`, or `NSNull`.
    public init(
        constraint contraint: [String], database databaseObject: NSManagedObject?,
        databaseSnapshot: [AnyHashable: Any]?, conflicting conflictingObjects: [NSManagedObject],
        conflictingSnapshots: [Any]
    ) {
        constraint = contraint
        self.databaseObject = databaseObject
        self.databaseSnapshot = databaseSnapshot.map { snapshot in
            Dictionary(snapshot.map { ("\($0.key.base)", $0.value) }, uniquingKeysWith: { first, _ in first })
        }
        self.conflictingObjects = conflictingObjects
        self.conflictingSnapshots = conflictingSnapshots.map { $0 as? [AnyHashable: Any] ?? [:] }
        var values: [String: Any] = [:]
        for name in contraint { values[name] = conflictingObjects.first?.value(forKey: name) ?? NSNull() }
        constraintValues = values
    }

    /// Creates a conflict without objects.
    public convenience override init() {
        self.init(
            constraint: [], database: nil, databaseSnapshot: nil, conflicting: [], conflictingSnapshots: [])
    }

    /// A one-line description for errors.
    var reason: String {
        let object = conflictingObjects.first ?? databaseObject
        let values = constraint.map { "\(constraintValues[$0] ?? "")" }.joined(separator: ", ")
        return "another \(object?.entity.root.name ?? "object") already has the same "
            + "\(constraint.joined(separator: " and ")) (\(values))"
    }

    open override var description: String {
        "NSConstraintConflict (constraint: \(constraint.joined(separator: ", ")), values: \(constraintValues), "
            + "database: \(databaseObject.map { "\($0.objectID)" } ?? "(null)"), conflicting: "
            + "\(conflictingObjects.map(\.objectID)))"
    }
}
