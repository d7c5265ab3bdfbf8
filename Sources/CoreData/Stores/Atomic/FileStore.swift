import Foundation

/// A built-in atomic store: one file, read when the store is added and rewritten by each save.
// SAFETY: used under the coordinator's lock only.
class FileStore: NSAtomicStore, @unchecked Sendable {
    class var format: any StoreFileFormat.Type { BinaryStoreFormat.self }

    /// The contents of the file, until its rows are inserted into the tables.
    private var image: StoreImage?
    private var nextNumber: Int64 = 1
    /// The identity of the file when it was last read or written.
    private var stamp: StoreFileReplacement.Stamp?

    override var wantsObjects: Bool { false }

    override class func references(ofStore identifier: String) -> ReferenceTable? { nil }

    private var path: String { url?.path ?? "" }

    private var entities: [NSEntityDescription] {
        persistentStoreCoordinator?.managedObjectModel.entities(forConfigurationName: configurationName) ?? []
    }

    // MARK: Joining a coordinator

    override func loadMetadata() throws {
        guard let url else { return }
        if try PlainFile.check(path, for: "open") {
            stamp = StoreFileReplacement.Stamp(path)
            image = try Self.image(at: url)
            metadata = image?.metadata
        } else if isReadOnly {
            throw Self.isMissing(url)
        }
        try super.loadMetadata()
    }

    override func fill(_ rows: AtomicStoreRows) throws {
        try Self.format.check(entities)
        guard let image else {
            guard !isReadOnly else { return }
            try persistentStoreCoordinator?.managedObjectModel.checkThatItMayWrite(path)
            return try save()
        }
        self.image = nil
        let last = image.records.map(\.number).max() ?? 0
        nextNumber = max(1, image.nextNumber, last == .max ? last : last + 1)
        let byName = Dictionary(
            entities.map { (Self.folded($0.name ?? ""), $0) }, uniquingKeysWith: { first, _ in first })
        try rows.fill(
            StoreImageRows(store: self, entities: entities, fold: Self.foldedProperty).rows(of: image) {
                byName[Self.folded($0)]
            })
    }

    /// Returns the name of an entity as spelled in the file.
    class func folded(_ name: String) -> String { name }

    /// Returns the name of a property as spelled in the file.
    class func foldedProperty(_ name: String) -> String { name }

    override func reconnect(to newURL: URL) throws {
        url = newURL
        stamp = StoreFileReplacement.Stamp(path)
    }

    // MARK: Saving

    override func write(_ changes: StoreChangeSet) throws { try save() }

    override func save() throws {
        var image = StoreImage(metadata: metadata ?? [:], nextNumber: nextNumber)
        image.records = try StoreImageRows(store: self, entities: entities).records(rows)
        let data = try Self.format.data(of: image, model: persistentStoreCoordinator?.managedObjectModel)
        stamp = try StoreFileReplacement(path: path).write(data, replacing: stamp, permissions: creation?.permissions)
    }

    override func reserveIDs(for runs: [EntityRun]) throws -> [NSManagedObjectID] {
        let count = Int64(runs.map(\.count).reduce(0, +))
        guard nextNumber <= .max - count else {
            throw CoreDataError.make(
                134030,
                "Cannot save to \(path): row numbers are used up, the next is \(nextNumber). The file is damaged; "
                    + "copy its objects to a new store.", userInfo: [NSFilePathErrorKey: path])
        }
        return runs.flatMap { run in
            (0..<run.count).map { _ in
                defer { nextNumber += 1 }
                return NSManagedObjectID(entity: run.entity, reference: nextNumber, store: self)
            }
        }
    }

    // MARK: Nodes

    /// A node for each row, created at each call.
    override func cacheNodes() -> Set<NSAtomicStoreCacheNode> { Set(nodesByID().values) }

    override func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? { nodesByID()[objectID] }

    private func nodesByID() -> [NSManagedObjectID: NSAtomicStoreCacheNode] {
        guard let records = try? StoreImageRows(store: self, entities: entities).records(rows) else { return [:] }
        var nodes: [Int64: NSAtomicStoreCacheNode] = [:]
        let byName = Dictionary(entities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
        for record in records {
            guard let entity = byName[record.entity] else { continue }
            nodes[record.number] = NSAtomicStoreCacheNode(
                objectID: NSManagedObjectID(entity: entity, reference: record.number, store: self))
        }
        for record in records {
            guard let node = nodes[record.number] else { continue }
            for (name, attribute) in node.objectID.entity.attributesByName {
                let slot = StoredValue.slot(of: attribute, in: record.values)
                node.setValue(
                    slot.flatMap { AttributeCoercion.value($0, type: attribute.attributeType) }
                        .flatMap { $0 is UncodedValue ? nil : $0 }, forKey: name)
            }
            for (name, relationship) in node.objectID.entity.relationshipsByName {
                let members = (record.destinations[name] ?? []).compactMap { nodes[$0] }
                node.setValue(
                    !relationship.isToMany
                        ? members.first
                        : relationship.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members), forKey: name)
            }
        }
        return Dictionary(nodes.values.map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: Without a coordinator

    private static func isMissing(_ url: URL) -> NSError {
        CoreDataError.make(
            260, "Cannot open the store \(url.path): the file does not exist.", userInfo: [NSFilePathErrorKey: url.path]
        )
    }

    /// Returns the contents of the file at `url`; `nil` for an empty file, which is a new store.
    private static func image(at url: URL) throws -> StoreImage? {
        let data: Data
        do { data = try Data(contentsOf: url) } catch {
            throw CoreDataError.make(
                (error as NSError).code == 257 ? 257 : 256,
                "Cannot read the store \(url.path): \(error.localizedDescription)", underlying: error as NSError,
                userInfo: [NSFilePathErrorKey: url.path])
        }
        return data.isEmpty ? nil : try format.image(from: data, path: url.path)
    }

    private static func existingImage(at url: URL) throws -> StoreImage {
        guard try PlainFile.check(url.path, for: "open") else { throw isMissing(url) }
        guard let image = try image(at: url) else {
            throw CoreDataError.make(
                259, "Cannot open the store \(url.path): the file is empty.", userInfo: [NSFilePathErrorKey: url.path])
        }
        return image
    }

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try existingImage(at: url).metadata
    }

    override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        let stamp = StoreFileReplacement.Stamp(url.path)
        var image = try existingImage(at: url)
        var metadata = metadata ?? [:]
        for key in [NSStoreTypeKey, NSStoreUUIDKey] where metadata[key] == nil { metadata[key] = image.metadata[key] }
        image.metadata = metadata
        _ = try StoreFileReplacement(path: url.path).write(format.data(of: image, model: nil), replacing: stamp)
    }

    override class var copiesFiles: Bool { true }

    override class func replaceStore(
        at destination: URL, options: [AnyHashable: Any]?, with source: URL, options sourceOptions: [AnyHashable: Any]?
    ) throws {
        _ = try existingImage(at: source)
        _ = try StoreFileReplacement(path: destination.path).write(
            Data(contentsOf: source), replacing: nil, permissions: PlainFile.permissions(source.path))
    }
}

/// The built-in store type `NSBinaryStoreType`.
// SAFETY: adds no state to `FileStore`.
final class BinaryStore: FileStore, @unchecked Sendable {
    override var type: String { NSBinaryStoreType }
    override class var format: any StoreFileFormat.Type { BinaryStoreFormat.self }
}
