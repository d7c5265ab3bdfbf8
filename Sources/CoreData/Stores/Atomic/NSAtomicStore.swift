import Foundation

/// A store that is read when it is added, and written as a whole by each save. Abstract: subclasses implement both.
///
/// A subclass overrides ``load()``, ``save()``, ``newCacheNode(for:)``, ``updateCacheNode(_:from:)`` and
/// ``newReferenceObject(for:)``, and the class methods that read and write metadata without a coordinator. Register it
/// with `NSPersistentStoreCoordinator.registerStoreClass(_:type:)`. It keeps a cache node for each row. The framework
/// implements fetches, faults, conflicts and constraints.
///
/// Set existing metadata in the initialiser or in `loadMetadata()`: a UUID (`NSStoreUUIDKey`) is needed before the
/// first object ID is made. A missing type, UUID or version hash is filled in.
///
/// All members are called under the coordinator's lock, one at a time.
// SAFETY: used under the coordinator's lock only.
open class NSAtomicStore: NSPersistentStore, RowStore, @unchecked Sendable {
    private var nodes = CacheNodes()
    private var copy: AtomicStoreRows?
    private var metadataIsDirty = false

    /// Stores the arguments; touches no file. A subclass may read the store's metadata here or in `loadMetadata()`.
    public required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
    }

    /// The rows in searchable tables.
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

    /// Reads the store and adds a node for each of its rows with ``addCacheNodes(_:)``. An empty or missing file is a
    /// new store. Subclasses must override it.
    ///
    /// - Throws: any error of the subclass; adding the store then fails with it. 134000 if not overridden.
    open func load() throws {
        throw Self.lacks("load()")
    }

    /// Writes all nodes and the metadata atomically. Subclasses must override it.
    ///
    /// - Throws: any error of the subclass; the context's `save()` then fails with it, and nodes and objects are
    ///   unchanged. 134000 if not overridden.
    open func save() throws {
        throw Self.lacks("save()")
    }

    /// Returns a node for an object saved for the first time. By default without values: see
    /// ``updateCacheNode(_:from:)``.
    ///
    /// The nodes of other new objects may not exist yet. ``updateCacheNode(_:from:)`` is called for this node once all
    /// do.
    open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        NSAtomicStoreCacheNode(objectID: managedObject.objectID)
    }

    /// Copies the values of a saved object to its node. By default all properties that are not transient.
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

    /// Returns a permanent reference for the row of a new object, unique in its entity hierarchy: a number, a text, or
    /// another value with a distinct ``NSPersistentStore/uriText(forReferenceObject:)``. By default the text of a new
    /// UUID.
    open func newReferenceObject(for managedObject: NSManagedObject) -> Any { UUID().uuidString }

    /// Called during a save before the nodes of deleted objects are removed. Does nothing by default.
    open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

    // MARK: Nodes

    /// Adds nodes while the store is loaded. A node replaces an existing one for the same row.
    open func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) { nodes.add(cacheNodes) }

    /// The nodes of all rows.
    open func cacheNodes() -> Set<NSAtomicStoreCacheNode> { Set(nodes.all) }

    /// Returns the node of a row; `nil` if the store has no such row.
    open func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? { nodes[objectID] }

    /// Returns the ID of the row with a reference. Equal references of one entity hierarchy give equal IDs.
    ///
    /// - Parameters:
    ///   - entity: the row's own entity, in the coordinator's model.
    ///   - data: the reference, as from ``newReferenceObject(for:)``. References with equal texts identify the same
    ///     row.
    /// - Precondition: `metadata` contains a UUID (`NSStoreUUIDKey`).
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

    /// Reads the store and inserts its rows into the searchable tables.
    func fill(_ rows: AtomicStoreRows) throws {
        try load()
        try rows.fill(NodeReader(store: url?.path ?? "", nodes: nodes).read())
    }

    // MARK: Saving

    /// Writes the rows as they will be after a save.
    ///
    /// - Throws: an error that stops the save, with everything unchanged.
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
                    "\(Swift.type(of: self)).newCacheNode(for:) returned a node of \(node.objectID) for the object \(row.id)."
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

    /// Reserves IDs for rows without objects.
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
