import Foundation

/// Adds objects to a context and removes them.
final class ObjectLifeCycle {
    // SAFETY: the context owns it and outlives every use of the reference.
    private let unretained: Unretained<NSManagedObjectContext>
    private var context: NSManagedObjectContext { @inline(__always) get { unretained.object } }
    private let homes: ObjectHomes
    private let registry: ObjectRegistry
    private let changes: ChangeTracker
    /// The last class found and the generation of known classes then. Objects of one entity are usually created in a
    /// row.
    private var last: (entity: NSEntityDescription, generation: Int, type: NSManagedObject.Type)?
    /// True if all objects are plain managed objects, whatever classes the model names.
    var makesPlainObjects = false
    /// The layout of the last new object, and the layouts of all new objects so far. Their entities were checked: they
    /// are in the model and not abstract.
    private var lastInserted: EntityLayout?
    private var inserted: [ObjectIdentifier: EntityLayout] = [:]
    private var entities: [ObjectIdentifier: NSEntityDescription] = [:]
    /// The last class whose entity was looked up, and the entity.
    private var lastEntity: (type: NSManagedObject.Type, entity: NSEntityDescription)?

    init(context: NSManagedObjectContext, homes: ObjectHomes, registry: ObjectRegistry, changes: ChangeTracker) {
        unretained = Unretained(context)
        self.homes = homes
        self.registry = registry
        self.changes = changes
    }

    // MARK: Inserting

    func insert(_ object: NSManagedObject) {
        if object.isRegistered(in: homes.context) {
            if object.isDeleted { changes.noteRevival(object) }
            return
        }
        // The other context was deallocated, and its queue has not yet processed the object.
        if let other = object.contextReference, other.with({ $0.living }) == nil { object.abandonContext() }
        precondition(
            object.contextReference == nil, "The object '\(object.objectID)' is already in another context.")
        if lastInserted.map(object.has) != true { requireOwnEntity(object.layout) }
        if object.flags.contains(.inaccessible) { beginAnew(object) }
        object.enter(homes)
        registry.register(object)
        changes.noteInsertion(object)
        guard !object.flags.contains(.awoken) else { return }
        object.flags.formUnion([.awoken, .awakeningFromInsert])
        object.awakeFromInsert()
        object.flags.remove(.awakeningFromInsert)
    }

    /// Gives an object that lost its values with its former context the defaults of its entity.
    private func beginAnew(_ object: NSManagedObject) {
        object.flags.subtract([.fault, .inaccessible])
        object.snapshot = object.layout.traits.startingRow
    }

    private func requireOwnEntity(_ layout: EntityLayout) {
        if let known = inserted[ObjectIdentifier(layout)] {
            lastInserted = known
            return
        }
        let entity = layout.entity
        precondition(!entity.isAbstract, "Cannot insert an object of the abstract entity '\(entity.name ?? "")'.")
        guard let source = context.source else { return }
        let name = entity.name ?? ""
        precondition(
            source.model?.entitiesByName[name] === entity,
            "The model of the context's coordinator does not have the entity '\(name)'.")
        lastInserted = layout
        inserted[ObjectIdentifier(layout)] = layout
    }

    func existingObject(_ asked: NSManagedObjectID) throws -> NSManagedObject {
        context.requireQueue("existingObject(with:)")
        let id = asked.latest
        let registry = context.registry
        // A temporary ID is unknown outside the tree of contexts in which it was made.
        guard !id.isTemporaryID || registry.sharesTemporaryIDs || registry.registered(id) != nil else {
            throw Self.missing(id, [])
        }
        let object = registry.object(for: id)
        if object.waitsForRow { try context.faults.fetchRows(of: [object]) }
        if object.isFault, object.snapshot != nil { object.fire() }
        registry.tellStores()
        guard !object.isDeleted, !object.isFault, !object.flags.contains(.inaccessible) else {
            throw Self.missing(id, [object])
        }
        return object
    }

    private static func missing(_ id: NSManagedObjectID, _ objects: [NSManagedObject]) -> NSError {
        CoreDataError.make(
            133000, "No object has the ID '\(id)': it was deleted or never saved.",
            userInfo: [NSAffectedObjectsErrorKey: objects])
    }

    // MARK: Deleting and removing

    func delete(_ object: NSManagedObject) {
        // The object was deleted earlier and has already left its context.
        if object.managedObjectContext == nil { return }
        precondition(
            object.managedObjectContext === context,
            "An NSManagedObjectContext cannot delete objects in other contexts.")
        if object.isFault { object.fire() }
        object.prepareForDeletion()
        if !object.isDeleted { context.changes.noteDeletion(object) }
    }

    /// Removes the objects from the context permanently. Their values stay readable, and another context may insert
    /// them.
    func letGo(_ objects: [NSManagedObject]) {
        for object in objects {
            changes.forget(object)
            registry.unregister(object)
            object.leave()
        }
        changes.leaveNoTrace(of: objects)
        registry.tellStores()
    }

    /// Detaches all objects when the context is deallocated. Called on the queue.
    func abandonAll() {
        registry.forEachWithDisplaced { if $0.isRegistered(in: homes.context) { $0.abandonContext() } }
    }

    func assign(_ object: Any, to store: NSPersistentStore) {
        guard let object = object as? NSManagedObject, object.managedObjectContext === context else {
            preconditionFailure("A context can assign only its own objects to a store.")
        }
        precondition(
            object.objectID.isTemporaryID, "Can't reassign an object to a different store once it has been saved.")
        context.registry.unregister(object)
        let id = NSManagedObjectID(temporaryFor: object.layout.entity, store: store)
        // The successor resolves references by the old ID.
        object.replaceIdentifier(by: id)?.setSuccessor(id)
        context.registry.register(object, id)
    }

    // MARK: Classes and entities

    func objectClass(of entity: NSEntityDescription) -> NSManagedObject.Type {
        if makesPlainObjects { return NSManagedObject.self }
        let generation = ManagedObjectClasses.generation
        if let last, last.entity === entity, last.generation == generation { return last.type }
        let found = ManagedObjectClasses.objectClass(of: entity)
        last = (entity, generation, found)
        return found
    }

    func entity(for type: NSManagedObject.Type) -> NSEntityDescription {
        if let lastEntity, lastEntity.type == type { return lastEntity.entity }
        if let known = entities[ObjectIdentifier(type)] {
            lastEntity = (type, known)
            return known
        }
        guard let model = context.source?.model, let found = ManagedObjectClasses.entity(of: type, in: model) else {
            preconditionFailure("No entity of the context's model has the class '\(type)'.")
        }
        entities[ObjectIdentifier(type)] = found
        return found
    }
}

extension NSEntityDescription {
    /// Returns the entity of that name in the model of the context's coordinator.
    public class func entity(
        forEntityName entityName: String, in context: NSManagedObjectContext
    ) -> NSEntityDescription? {
        context.source?.model?.entitiesByName[entityName]
    }

    /// Creates an object of the named entity, of the class that the model names, and inserts it into the context.
    ///
    /// - Precondition: The model of the context's coordinator has the entity.
    public class func insertNewObject(
        forEntityName entityName: String, into context: NSManagedObjectContext
    ) -> NSManagedObject {
        guard let entity = entity(forEntityName: entityName, in: context) else {
            preconditionFailure(
                "+entityForEntityName: could not locate an entity named '\(entityName)' in this model.")
        }
        return context.objectClass(of: entity).init(entity: entity, insertInto: context)
    }
}
