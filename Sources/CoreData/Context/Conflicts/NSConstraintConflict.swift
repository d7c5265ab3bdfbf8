import Foundation

/// Objects whose values would break a uniqueness constraint of the model: objects of one context among themselves, or
/// with a row of the store. Used on the queue of the context that saves.
open class NSConstraintConflict: NSObject {
    /// The names of the properties that must be unique together.
    public final let constraint: [String]
    /// The values, by name, that more than one object has.
    public final let constraintValues: [String: Any]
    /// The object of the row that has the values already; `nil` where only objects of the context conflict.
    public final let databaseObject: NSManagedObject?
    /// The values of that row.
    public final let databaseSnapshot: [String: Any]?
    /// The new or changed objects with the values: changed objects first, then new ones, in the order they came.
    public final let conflictingObjects: [NSManagedObject]
    /// What those objects were when they were last read or saved; empty for a new one, which has no saved values.
    public final let conflictingSnapshots: [[AnyHashable: Any]]

    /// A conflict of objects that have the same values in a constraint.
    ///
    /// - Parameters:
    ///   - contraint: the names of the attributes of the constraint (the spelling is Apple's).
    ///   - databaseObject: the object of the row that has the values already; `nil` where all are in the context.
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

    /// A conflict of no objects.
    public convenience override init() {
        self.init(
            constraint: [], database: nil, databaseSnapshot: nil, conflicting: [], conflictingSnapshots: [])
    }

    /// The one line of an error about the conflict.
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
