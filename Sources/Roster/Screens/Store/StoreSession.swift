import CoreData
import Foundation

/// The open store and its container.
///
/// Use on the main thread: all work is done in the view context. The verbs have another class of the same name, which
/// opens a store for one command.
final class StoreSession {
    let container: NSPersistentContainer
    /// The URL of the store. It changes if the program follows a moved file.
    var url: URL
    let isReadOnly: Bool
    /// Record counts of entities.
    let counts: EntityCounts
    /// Record counts when the store was opened, up to ``OpenedStore/mostCounted``; empty if not counted.
    let sizes: [String: Int]
    let limits: WorkLimits
    /// Incremented whenever records may have changed.
    private(set) var revision = 0
    private var unsaved = UnsavedTally()
    /// Deleted objects for which it is not known yet whether the user or others deleted them.
    private var doubtful: Set<NSManagedObject> = []
    /// Objects inserted or changed since `noting(_:)` or `collecting(_:)` began; `nil` while neither runs.
    private var noted: [NSManagedObject]?
    /// True while a group of a large edit is made. Callbacks then postpone work that examines all records.
    private(set) var isChangingMany = false
    private var observers: [Observer] = []
    private var unreadRecords: [NSManagedObject] = []
    /// True if the server did not answer when they were read.
    private var isUnreachable = false

    var context: NSManagedObjectContext { container.viewContext }
    var model: NSManagedObjectModel { container.managedObjectModel }

    /// The entities whose records can be listed, by name.
    var entities: [NSEntityDescription] {
        model.entities.filter { !$0.isAbstract && $0.name != nil }.sorted { ($0.name ?? "") < ($1.name ?? "") }
    }

    /// Uses an opened store. Call on the main thread.
    init(_ opened: OpenedStore, limits: WorkLimits = WorkLimits()) {
        self.limits = limits
        url = opened.url
        isReadOnly = opened.isReadOnly
        container = opened.container
        sizes = opened.sizes
        counts = EntityCounts(sizes.filter { $0.value < OpenedStore.mostCounted })
        context.automaticallyMergesChangesFromParent = true
        context.name = "roster"
        context.transactionAuthor = "roster"
        context.undoManager = UndoManager()
        for name in [
            NSManagedObjectContext.didChangeObjectsNotification, NSManagedObjectContext.didSaveObjectsNotification,
            NSManagedObjectContext.didMergeChangesObjectIDsNotification,
        ] {
            observers.append(
                Observer(name, of: context) { [weak self] info in
                    self?.revision += 1
                    self?.note(name, info)
                })
        }
    }

    private func note(_ name: Notification.Name, _ info: [AnyHashable: Any]) {
        guard name == NSManagedObjectContext.didChangeObjectsNotification else {
            if name == NSManagedObjectContext.didSaveObjectsNotification { countUnsavedAnew() }
            return
        }
        guard info[NSInvalidatedAllObjectsKey] == nil else { return countUnsavedAnew() }
        func objects(_ key: String) -> Set<NSManagedObject> { info[key] as? Set<NSManagedObject> ?? [] }
        let deleted = objects(NSDeletedObjectsKey)
        if isChangingMany {
            for object in deleted { unsaved.note(object, object.objectID.isTemporaryID ? nil : .deleted) }
        } else {
            // Objects deleted by a merge need no save. Which ones these are is known only at the end of the event.
            doubtful.formUnion(deleted)
        }
        for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSRefreshedObjectsKey] {
            let changed = objects(key)
            for object in changed where !object.isDeleted { unsaved.note(object) }
            if key != NSRefreshedObjectsKey { noted?.append(contentsOf: changed) }
        }
    }

    private func countUnsavedAnew() { (unsaved, doubtful) = (UnsavedTally(of: context), []) }

    /// Makes a group of a large edit. Returns the inserted and changed objects.
    func noting(_ body: () -> Void) -> [NSManagedObject] {
        isChangingMany = true
        defer { isChangingMany = false }
        return collecting(body)
    }

    /// Makes an edit. Returns the inserted and changed objects.
    func collecting(_ body: () -> Void) -> [NSManagedObject] {
        var changed: [NSManagedObject] = []
        collecting(into: &changed, body)
        return changed
    }

    /// Makes an edit and stores the inserted and changed objects in `changed`, even if it throws.
    func collecting(into changed: inout [NSManagedObject], _ body: () throws -> Void) rethrows {
        let before = noted
        noted = []
        defer {
            context.processPendingChanges()
            changed = noted ?? []
            noted = before
        }
        try body()
    }

    /// Closes the store, which completes its file. The session cannot be used afterwards.
    func close() throws {
        context.reset()
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// Number of inserted, changed and deleted records that are not saved. O(1).
    var unsavedCount: Int { settledTally.count }

    /// The inserted, changed and deleted records that are not saved, in the order of their first change. O(n).
    var unsavedObjects: [NSManagedObject] { settledTally.objects }

    /// The number of unsaved insertions minus unsaved deletions of an entity. O(1).
    func unsavedGrowth(of entity: NSEntityDescription) -> Int { settledTally.growth(of: entity) }

    /// True if the user had deleted the record before others did, as far as known.
    func wasDeletedHere(_ object: NSManagedObject) -> Bool { unsaved.isDeletion(object) }

    private var settledTally: UnsavedTally {
        context.processPendingChanges()
        if !context.hasChanges { (unsaved, doubtful) = (UnsavedTally(), []) }
        guard !doubtful.isEmpty else { return unsaved }
        let deleted = context.deletedObjects
        for object in doubtful {
            if deleted.contains(object) {
                unsaved.note(object, .deleted)
            } else if object.isDeleted || object.managedObjectContext == nil {
                unsaved.note(object, nil)
            }
        }
        doubtful = []
        return unsaved
    }

    /// True if some records look empty because they could not be read.
    var hasUnreadRecords: Bool {
        unreadRecords.removeAll { !$0.isFault || $0.managedObjectContext == nil }
        return !unreadRecords.isEmpty
    }

    /// True if records could not be read because the connection to the server is lost.
    var isConnectionLost: Bool { isUnreachable && hasUnreadRecords }

    /// Reads one of the records that could not be read. If that succeeds, the connection is back.
    func retryReading() {
        guard isConnectionLost, let object = unreadRecords.first,
            let property = object.entity.properties.first(where: { !$0.isTransient })
        else { return }
        _ = object.value(forKey: property.name)
        if !object.isFault { unreadRecords = [] }
    }

    /// Calls `tell` with the error when records cannot be read, once until they can.
    func observeUnreadRecords(_ tell: @escaping (any Error) -> Void) {
        observers.append(
            Observer(.NSManagedObjectContextDidFailToFulfillFault, of: context) { [weak self] info in
                guard let self, let error = info[NSUnderlyingErrorKey] as? any Error else { return }
                let isKnown = hasUnreadRecords
                let code = (error as NSError).code
                isUnreachable = !url.isFileURL && code == CocoaError.Code.persistentStoreOperation.rawValue
                unreadRecords += info[NSAffectedObjectsErrorKey] as? [NSManagedObject] ?? []
                if !isKnown { tell(error) }
            })
    }

    /// Calls `tell` after changes of other programs were merged, with the changed records and whether records were
    /// deleted.
    func observeMerges(_ tell: @escaping (_ changed: Set<NSManagedObjectID>, _ haveDeleted: Bool) -> Void) {
        observers.append(
            Observer(NSManagedObjectContext.didMergeChangesObjectIDsNotification, of: context) { info in
                func ids(_ key: String) -> Set<NSManagedObjectID> { info[key] as? Set<NSManagedObjectID> ?? [] }
                tell(ids(NSUpdatedObjectIDsKey), !ids(NSDeletedObjectIDsKey).isEmpty)
            })
    }

    /// Calls `tell` when the store's file is found to be missing or replaced.
    func observeLoss(_ tell: @escaping @Sendable @MainActor () -> Void) {
        observers.append(
            Observer(
                anyThread: NSPersistentStoreCoordinator.storeFileDidVanishNotification,
                of: container.persistentStoreCoordinator
            ) { DispatchQueue.main.async { tell() } })
    }
}

/// The records with something to save, updated from the context's notifications: examining all records after each key
/// would take too long.
struct UnsavedTally {
    enum Kind {
        case inserted, changed, deleted
    }

    private struct Entry {
        var kind: Kind
        /// Index in `order`.
        let place: Int
    }

    private var entries: [NSManagedObject: Entry] = [:]
    /// The objects in the order of their first change; `nil` for removed ones.
    private var order: [NSManagedObject?] = []
    /// Insertions minus deletions by entity, not including subentities.
    private var growth: [NSEntityDescription: Int] = [:]

    init() {}

    /// Creates the tally of a context's current changes.
    init(of context: NSManagedObjectContext) {
        for object in context.deletedObjects { note(object, .deleted) }
        for object in context.insertedObjects.union(context.updatedObjects) { note(object) }
    }

    var count: Int { entries.count }

    func isDeletion(_ object: NSManagedObject) -> Bool { entries[object]?.kind == .deleted }

    var objects: [NSManagedObject] { order.compactMap { $0 } }

    func growth(of entity: NSEntityDescription) -> Int {
        growth.reduce(0) { $1.key.isKindOf(entity: entity) ? $0 + $1.value : $0 }
    }

    /// Updates the entry of a record that is not deleted.
    mutating func note(_ object: NSManagedObject) {
        note(object, object.isInserted ? .inserted : UnsavedRecords.isChangedItself(object) ? .changed : nil)
    }

    mutating func note(_ object: NSManagedObject, _ kind: Kind?) {
        let old = entries[object]
        if let kind {
            entries[object] = Entry(kind: kind, place: old?.place ?? order.count)
            if old == nil { order.append(object) }
        } else if let old {
            entries[object] = nil
            order[old.place] = nil
            closeGaps()
        }
        let step = Self.growth(kind) - Self.growth(old?.kind)
        if step != 0 { growth[object.entity, default: 0] += step }
    }

    /// Compacts `order` when most of its entries are `nil`.
    private mutating func closeGaps() {
        guard order.count > 64, order.count > 2 * entries.count else { return }
        order = objects
        for (place, object) in objects.enumerated() {
            if let kind = entries[object]?.kind { entries[object] = Entry(kind: kind, place: place) }
        }
    }

    private static func growth(_ kind: Kind?) -> Int { kind == .inserted ? 1 : kind == .deleted ? -1 : 0 }
}

/// Tests whether records have something to save.
enum UnsavedRecords {
    /// True if the saved record itself was changed, not only records that refer to it.
    static func isChangedItself(_ object: NSManagedObject) -> Bool {
        object.hasPersistentChangedValues
            && object.changedValues().keys.contains { key in
                guard let relationship = object.entity.relationshipsByName[key], relationship.isToMany else {
                    return true
                }
                return relationship.inverseRelationship?.isToMany ?? true
            }
    }
}
