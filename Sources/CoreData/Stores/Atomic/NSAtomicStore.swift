import Foundation

/// A store that is read as a whole when it is added and written as a whole by each save. Abstract: a subclass says how.
///
/// A subclass overrides ``load()``, ``save()``, ``newCacheNode(for:)``, ``updateCacheNode(_:from:)`` and
/// ``newReferenceObject(for:)``, and the members of its class that read and write metadata without a coordinator. It is registered
/// with `NSPersistentStoreCoordinator.registerStoreClass(_:type:)`. What it keeps of each row is a cache node; fetches,
/// faults, conflicts and constraints are the framework's work.
///
/// Metadata that are there already are set in the initialiser or in `loadMetadata()`: they need a UUID (`NSStoreUUIDKey`)
/// before the first object ID is made. What is missing of type, UUID and version hashes is filled in.
///
/// All members are called under the coordinator's lock, one at a time.
// SAFETY: used under the coordinator's lock only.
open class NSAtomicStore: NSPersistentStore, RowStore, @unchecked Sendable {
    private var nodes = CacheNodes()
    private var copy: AtomicStoreRows?
    private var metadataIsDirty = false

    /// Stores the arguments; touches no file. A subclass may read the store's metadata here, or in `loadMetadata()`.
    public required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
    }

    /// The rows, in the form in which they are searched.
    final var rows: AtomicStoreRows {
        guard let copy else { preconditionFailure("The store \(url?.path ?? "") was not loaded.") }
        return copy
    }

    open override var metadata: [String: Any]! {
        didSet {
            metadataIsDirty = true
            guard let told = metadata?[NSStoreUUIDKey] as? String, told != identifier else { return }
            identifier = told
        }
    }

    override var hasUnsavedMetadata: Bool { metadataIsDirty }

    package final var operations: any StoreOperations { rows }

    override var wantsObjects: Bool { true }

    override class func references(ofStore identifier: String) -> ReferenceTable? {
        ReferenceTable.shared(ofStore: identifier)
    }

    // MARK: For subclasses to override

    /// Reads the store and adds a node for each of its rows, with ``addCacheNodes(_:)``. An empty file, or none, means a new
    /// store. Subclasses must override it.
    ///
    /// - Throws: the subclass's own error, which refuses the store: adding it throws the same. 134000 where it is not
    ///   overridden.
    open func load() throws {
        throw Self.lacks("load()")
    }

    /// Writes all nodes and the metadata, as a whole or not at all. Subclasses must override it.
    ///
    /// - Throws: the subclass's own error, which refuses the save: the context's `save()` throws the same, and nodes and
    ///   objects are as they were before. 134000 where it is not overridden.
    open func save() throws {
        throw Self.lacks("save()")
    }

    /// A node for an object that is saved for the first time. By default a plain one; ``updateCacheNode(_:from:)`` fills it.
    ///
    /// The nodes of the other new objects may not be there yet: the node is given to ``updateCacheNode(_:from:)`` too, once
    /// all are.
    open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        NSAtomicStoreCacheNode(objectID: managedObject.objectID)
    }

    /// Brings the values of an object that is saved into its node. By default all properties that are not transient.
    open func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
        for (name, property) in managedObject.entity.propertiesByName where !property.isTransient {
            switch property {
            case is NSAttributeDescription: node.setValue(managedObject.value(forKey: name), forKey: name)
            case let relationship as NSRelationshipDescription where !relationship.isToMany:
                let destination = managedObject.value(forKey: name) as? NSManagedObject
                node.setValue(destination.flatMap { cacheNode(for: $0.objectID) }, forKey: name)
            case let relationship as NSRelationshipDescription:
                let members = CacheNodes.members(of: managedObject.value(forKey: name))
                let nodes = members.compactMap { ($0 as? NSManagedObject).flatMap { cacheNode(for: $0.objectID) } }
                node.setValue(
                    relationship.isOrdered ? NSOrderedSet(array: nodes) : NSSet(array: nodes), forKey: name)
            default: break
            }
        }
    }

    /// A value that names the row of a new object in the store, for ever, and no other of the entity's hierarchy: a number,
    /// a text, or any other value that ``NSPersistentStore/uriText(forReferenceObject:)`` gives a text of its own. By default a UUID's text.
    open func newReferenceObject(for managedObject: NSManagedObject) -> Any { UUID().uuidString }

    /// Called in a save, before the nodes of deleted objects are taken out. Does nothing by default.
    open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

    // MARK: Nodes

    /// Adds nodes to the store, while it is loaded. One for a row that has a node takes its place.
    open func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) { nodes.add(cacheNodes) }

    /// The nodes of all rows.
    open func cacheNodes() -> Set<NSAtomicStoreCacheNode> { Set(nodes.all) }

    /// The node of a row; `nil` where the store has no such row.
    open func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? { nodes[objectID] }

    /// The ID of the row that a reference names: equal for equal references of one hierarchy of entities.
    ///
    /// - Parameters:
    ///   - entity: the row's own entity, of the coordinator's model.
    ///   - data: the reference, as ``newReferenceObject(for:)`` gives it. Two with one text name one row.
    /// - Precondition: `metadata` have a UUID (`NSStoreUUIDKey`) already.
    open func objectID(for entity: NSEntityDescription, withReferenceObject data: Any) -> NSManagedObjectID {
        namedID(entity, data)
    }

    /// Returns the reference that identifies the row of an ID in the store.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any {
        reference(of: objectID)
    }

    // MARK: Joining a coordinator

    open override func loadMetadata() throws { completeMetadata() }

    private func completeMetadata() { StoreMetadata.complete(self) { UUID().uuidString } }

    override func prepare() throws {
        completeMetadata()
        let copy = AtomicStoreRows(
            persistentStoreCoordinator: persistentStoreCoordinator, configurationName: configurationName,
            at: .memoryPlace, options: nil)
        copy.owner = self
        try copy.loadMetadata()
        try copy.prepare()
        self.copy = copy
        try fill(copy)
        completeMetadata()
        metadataIsDirty = false
    }

    /// Reads the store, and puts its rows where they are searched.
    func fill(_ rows: AtomicStoreRows) throws {
        try load()
        try rows.fill(NodeReader(store: url?.path ?? "", nodes: nodes).read())
    }

    // MARK: Saving

    /// Writes the rows as a save will leave them.
    ///
    /// - Throws: to refuse the save, with everything as it was before.
    func write(_ changes: StoreChangeSet) throws {
        let before = nodes.state
        do {
            let objects = AtomicStoreObjects(changes, of: self)
            try objects.onQueue { try apply(changes, objects) }
            try save()
        } catch {
            nodes.restore(before)
            throw error
        }
    }

    private func apply(_ changes: StoreChangeSet, _ objects: AtomicStoreObjects) throws {
        var fresh: [(NSAtomicStoreCacheNode, NSManagedObject)] = []
        for row in changes.inserted {
            let object = try objects.object(row.id)
            bindReference(of: row.id, object)
            let node = newCacheNode(for: object)
            guard node.objectID == row.id else {
                throw CoreDataError.make(
                    134030,
                    "\(Swift.type(of: self)).newCacheNode(for:) gave a node of \(node.objectID) for the object \(row.id)."
                )
            }
            fresh.append((node, object))
        }
        addCacheNodes(Set(fresh.map(\.0)))
        for (node, object) in fresh { updateCacheNode(node, from: object) }
        for change in changes.updated {
            guard let node = cacheNode(for: change.id) else { continue }
            nodes.keepState(of: node)
            updateCacheNode(node, from: try objects.object(change.id))
        }
        let removed = Set(changes.deleted.compactMap { cacheNode(for: $0.id) })
        if removed.isEmpty { return }
        willRemoveCacheNodes(removed)
        nodes.remove(removed)
        nodes.dropReferences(to: removed)
    }

    private func bindReference(of id: NSManagedObjectID, _ object: NSManagedObject) {
        guard let number = id.rowKey?.reference, let references = reference.references else { return }
        let root = id.entity.rootName ?? ""
        guard references.isReserved(number, root: root) else { return }
        let told = newReferenceObject(for: object)
        references.bind(number, to: told, text(ofReference: told), root: root)
    }

    func didCommit() { metadataIsDirty = false }

    /// IDs for rows whose objects are not at hand.
    func reserveIDs(for runs: [EntityRun]) throws -> [NSManagedObjectID] {
        runs.flatMap { run in
            (0..<run.count).map { _ in
                let number = reference.references?.reserve(root: run.entity.rootName ?? "") ?? 0
                return NSManagedObjectID(entity: run.entity, reference: number, store: self)
            }
        }
    }

    func reserveIDs(of objects: [NSManagedObject]) throws -> [NSManagedObjectID]? {
        objects.map { objectID(for: $0.entity, withReferenceObject: newReferenceObject(for: $0)) }
    }
}
