import Foundation

/// A conflict over an object whose row another context or process changed or deleted after it was read. Used on the
/// queue of the context that saves.
open class NSMergeConflict: NSObject {
    /// The object whose changes are in conflict.
    public final let sourceObject: NSManagedObject
    /// The row's current version; 0 if it was deleted.
    public final let newVersionNumber: Int
    /// The version that the object's changes are based on.
    public final let oldVersionNumber: Int
    /// The values that the object's changes are based on.
    public final let objectSnapshot: [String: Any]?
    /// The values that this process last read; equal to `objectSnapshot`, because there is no row cache between
    /// contexts.
    public final let cachedSnapshot: [String: Any]?
    /// The store's current values; `nil` if the row was deleted.
    public final let persistedSnapshot: [String: Any]?
    /// The store's current row.
    final let currentRow: RowSnapshot?

    /// Creates a conflict of `srcObject` with a row of a store.
    ///
    /// - Parameters:
    ///   - srcObject: the object whose changes are in conflict.
    ///   - newvers: the row's current version; 0 if it was deleted.
    ///   - oldvers: the version that the object's changes are based on.
    ///   - cachesnap: the values that this process last read.
    ///   - persnap: the store's current values; `nil` if the row was deleted.
    public init(
        source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int,
        cachedSnapshot cachesnap: [String: Any]?, persistedSnapshot persnap: [String: Any]?
    ) {
        sourceObject = srcObject
        newVersionNumber = newvers
        oldVersionNumber = oldvers
        cachedSnapshot = cachesnap
        persistedSnapshot = persnap
        objectSnapshot = srcObject.snapshot.map { ChangedValues.dictionary(of: $0.values, srcObject.layout) }
        currentRow = persnap.map { Self.row($0, srcObject.layout, version: Int64(newvers)) }
    }

    init(_ object: NSManagedObject, current: RowSnapshot?) {
        let base = object.snapshot.map { ChangedValues.dictionary(of: $0.values, object.layout) }
        sourceObject = object
        newVersionNumber = Int(current?.version ?? 0)
        oldVersionNumber = Int(object.snapshot?.version ?? 0)
        objectSnapshot = base
        cachedSnapshot = base
        persistedSnapshot = current.map { ChangedValues.dictionary(of: $0.values, object.layout) }
        currentRow = current
    }

    private static func row(_ values: [String: Any], _ layout: EntityLayout, version: Int64) -> RowSnapshot {
        let slots = layout.slots.enumerated().map { slot, property in
            let type = layout.attribute(at: slot)?.attributeType ?? .objectIDAttributeType
            return AttributeCoercion.slotValue(values[property.name], type: type) ?? .null
        }
        return RowSnapshot.make(slots, version: version)
    }

    open override var description: String {
        "NSMergeConflict for object '\(sourceObject.objectID)' with oldVersion = \(oldVersionNumber) and newVersion = "
            + "\(newVersionNumber)"
    }
}

extension CocoaError {
    /// The conflicts that made a save fail.
    public var persistentStoreSaveConflicts: [NSMergeConflict]? {
        userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
    }
}
