import CoreData
import Foundation

/// The store that the program works on, with its container.
///
/// Use on the main thread: everything is done in the container's view context. The verbs have another class of this name,
/// which opens a store for one command.
final class StoreSession {
    let container: NSPersistentContainer
    /// Where the store is; changes where the program follows a file that was moved.
    var url: URL
    let isReadOnly: Bool
    /// How many records the entities have.
    let counts: EntityCounts
    /// How many they had when the store was opened, by name, up to ``OpenedStore/mostCounted``; empty where that was not asked.
    let sizes: [String: Int]
    let limits: WorkLimits
    /// Counts up whenever records may look otherwise than before.
    private(set) var revision = 0
    private var unsaved = UnsavedTally()
    /// What was deleted, by the user or by others.
    private var doubtful: Set<NSManagedObject> = []
    /// What came or changed since `noting(_:)` or `collecting(_:)` began; `nil` while neither runs.
    private var noted: [NSManagedObject]?
    /// Whether a part of a change of very many records is being made: its callbacks leave to the end what looks at all of them.
    private(set) var isChangingMany = false
    private var observers: [Observer] = []
    private var unreadRecords: [NSManagedObject] = []

    var context: NSManagedObjectContext { container.viewContext }
    var model: NSManagedObjectModel { container.managedObjectModel }

    /// The entities whose records can be listed, by name.
    var entities: [NSEntityDescription] {
        model.entities.filter { !$0.isAbstract && $0.name != nil }.sorted { ($0.name ?? "") < ($1.name ?? "") }
    }

    /// Takes over a store that was opened, on the main thread.
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
            // What a merge brings is deleted too, and nothing to save: which it was can be told when the event is over.
            doubtful.formUnion(deleted)
        }
        for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSRefreshedObjectsKey] {
            let changed = objects(key)
            for object in changed where !object.isDeleted { unsaved.note(object) }
            if key != NSRefreshedObjectsKey { noted?.append(contentsOf: changed) }
        }
    }

    private func countUnsavedAnew() { (unsaved, doubtful) = (UnsavedTally(of: context), []) }

    /// Makes a part of a change of very many records. Answers the records that came or changed with it.
    func noting(_ body: () -> Void) -> [NSManagedObject] {
        isChangingMany = true
        defer { isChangingMany = false }
        return collecting(body)
    }

    /// Changes records. Answers those that came or changed.
    func collecting(_ body: () -> Void) -> [NSManagedObject] {
        var changed: [NSManagedObject] = []
        collecting(into: &changed, body)
        return changed
    }

    /// Changes records, and tells of those that came or changed, also where it throws.
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

    /// Lets go of the store, so that its file is whole by itself. Nothing of it may be used afterwards.
    func close() throws {
        context.reset()
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// How many records are inserted, changed or deleted and not saved. O(1).
    var unsavedCount: Int { settledTally.count }

    /// The records that are inserted, changed or deleted and not saved, in the order in which they became so. O(n).
    var unsavedObjects: [NSManagedObject] { settledTally.objects }

    /// How many more records an entity has than are saved. O(1).
    func unsavedGrowth(of entity: NSEntityDescription) -> Int { settledTally.growth(of: entity) }

    /// Whether the user had deleted a record before others did, as far as that was counted.
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

    /// Whether records look empty because they could not be read when they were shown last.
    var hasUnreadRecords: Bool {
        unreadRecords.removeAll { !$0.isFault || $0.managedObjectContext == nil }
        return !unreadRecords.isEmpty
    }

    /// Calls `tell` with the reason whenever records cannot be read: they look empty until they can.
    func observeUnreadRecords(_ tell: @escaping (any Error) -> Void) {
        observers.append(
            Observer(.NSManagedObjectContextDidFailToFulfillFault, of: context) { [weak self] info in
                guard let self, let error = info[NSUnderlyingErrorKey] as? any Error else { return }
                unreadRecords += info[NSAffectedObjectsErrorKey] as? [NSManagedObject] ?? []
                tell(error)
            })
    }

    /// Calls `tell` with the changed records, and whether others are deleted, whenever changes of other programs were merged
    /// into the context.
    func observeMerges(_ tell: @escaping (_ changed: Set<NSManagedObjectID>, _ haveDeleted: Bool) -> Void) {
        observers.append(
            Observer(NSManagedObjectContext.didMergeChangesObjectIDsNotification, of: context) { info in
                func ids(_ key: String) -> Set<NSManagedObjectID> { info[key] as? Set<NSManagedObjectID> ?? [] }
                tell(ids(NSUpdatedObjectIDsKey), !ids(NSDeletedObjectIDsKey).isEmpty)
            })
    }

    /// Calls `tell` when the store's file is found not to be in its place any more.
    func observeLoss(_ tell: @escaping @Sendable @MainActor () -> Void) {
        observers.append(
            Observer(
                anyThread: NSPersistentStoreCoordinator.storeFileDidVanishNotification,
                of: container.persistentStoreCoordinator
            ) { DispatchQueue.main.async { tell() } })
    }
}

/// The records that have something to save, kept up with what the context tells: to look at all of very many takes too long for
/// each key.
struct UnsavedTally {
    enum Kind {
        case inserted, changed, deleted
    }

    private struct Entry {
        var kind: Kind
        /// Where it stands in the order.
        let place: Int
    }

    private var entries: [NSManagedObject: Entry] = [:]
    /// In the order in which they came; with gaps where some went.
    private var order: [NSManagedObject?] = []
    /// How many more records the entities have, subentities not counted.
    private var growth: [NSEntityDescription: Int] = [:]

    init() {}

    /// Those that a context has now.
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

    /// Takes up what a record that is not deleted has to save now.
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

    /// Where most have gone.
    private mutating func closeGaps() {
        guard order.count > 64, order.count > 2 * entries.count else { return }
        order = objects
        for (place, object) in objects.enumerated() {
            if let kind = entries[object]?.kind { entries[object] = Entry(kind: kind, place: place) }
        }
    }

    private static func growth(_ kind: Kind?) -> Int { kind == .inserted ? 1 : kind == .deleted ? -1 : 0 }
}

/// Which records have something to save.
enum UnsavedRecords {
    /// Whether a saved record was changed, and not only the records that point at it.
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
