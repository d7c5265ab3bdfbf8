import Foundation

/// Moves the objects of a store, with their unsaved changes, to the store that replaced it. Used on the context's
/// queue.
struct MovedObjects {
    private let context: NSManagedObjectContext
    private let move: StoreMove
    private var ids: [NSManagedObjectID: NSManagedObjectID] = [:]

    init(context: NSManagedObjectContext, move: StoreMove) {
        self.context = context
        self.move = move
    }

    /// Cost: a pass over all objects of the context.
    mutating func run() {
        context.processPendingChanges()
        context.faults.ahead.forgetAll()
        let all = context.registry.all
        var moved: Set<NSManagedObject> = []
        for object in all where object.storeReference?.identifier == move.former {
            if object.hasTemporaryID {
                context.assign(object, to: move.store)
            } else if takeOver(object) {
                moved.insert(object)
            }
        }
        guard !moved.isEmpty else { return }
        for object in all { renewValues(of: object, isMoved: moved.contains(object)) }
        NotificationCenter.default.post(
            name: NSManagedObjectContext.didChangeObjectsNotification, object: context,
            userInfo: [NSRefreshedObjectsKey: moved])
        NotificationCenter.default.post(name: .contextHasUnknownChanges, object: context)
    }

    /// Registers an object under its ID in the new store.
    ///
    /// - Returns: true if the object has a row in the new store, or may get one.
    private mutating func takeOver(_ object: NSManagedObject) -> Bool {
        let old = object.objectID
        guard let id = move.id(for: old) ?? newID(of: object) else { return false }
        ids[old] = id
        context.registry.move(object, to: id)
        return true
    }

    /// Obtains another ID for a new object that had a permanent ID before its first save.
    private func newID(of object: NSManagedObject) -> NSManagedObjectID? {
        guard object.isInserted else { return nil }
        return try? context.source?.obtainPermanentIDs(
            for: [EntityRun(entity: object.layout.entity, count: 1)], in: move.store
        ).first
    }

    private func renewValues(of object: NSManagedObject, isMoved: Bool) {
        if isMoved { object.faultBatch = nil }
        if object.hasOwnValues { object.values = object.values.map(renewed) }
        guard let row = object.snapshot else { return }
        let version = isMoved ? move.version ?? row.version : row.version
        object.snapshot = .make(row.values.map(renewed), version: version, isUnsaved: row.isUnsaved)
    }

    private func renewed(_ value: SlotValue) -> SlotValue {
        guard case .reference(let id) = value, let new = ids[id] ?? move.id(for: id) else { return value }
        return .reference(new)
    }
}
