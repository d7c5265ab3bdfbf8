import CoreData
import Foundation
import Synchronization

/// A store with its records in a ``RecordServer``. Rows are read on demand; a save is one transaction there.
///
/// The store's URL is the service's address:
///
/// ```swift
/// ServiceStore.register()
/// try coordinator.addPersistentStore(type: ServiceStore.storeType, at: server.url)
/// ```
///
/// ``ServiceFollower`` merges changes by other clients into contexts.
public final class ServiceStore: NSIncrementalStore, @unchecked Sendable {
    public static let storeType = NSPersistentStore.StoreType(rawValue: "RecordService")

    /// Registers the store type. Further calls do nothing.
    public static func register() {
        NSPersistentStoreCoordinator.registerStoreClass(ServiceStore.self, type: storeType)
    }

    public override var type: String { Self.storeType.rawValue }

    private var client: ServiceClient { ServiceClient(url: url ?? URL(fileURLWithPath: "/")) }
    /// Records read by a fetch, until an object takes its row. A list needs one request instead of one per row.
    private let known = Mutex<[String: ServiceRecord]>([:])

    /// Discards records that others changed, to read them again.
    func forget(_ references: [String]) {
        known.withLock { known in for reference in references { known[reference] = nil } }
    }

    // MARK: Metadata

    public override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        let data = try ServiceClient(url: url).ask("GET", "metadata")
        guard !data.isEmpty else { throw CocoaError(.fileReadNoSuchFile, userInfo: [NSURLErrorKey: url]) }
        guard let list = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any] else {
            throw CocoaError(.fileReadCorruptFile, userInfo: [NSURLErrorKey: url])
        }
        return list
    }

    public override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        let data = try PropertyListSerialization.data(fromPropertyList: metadata ?? [:], format: .xml, options: 0)
        _ = try ServiceClient(url: url).ask("PUT", "metadata", body: data)
    }

    public override func loadMetadata() throws {
        guard let url else { throw CocoaError(.fileReadUnsupportedScheme) }
        do { metadata = try Self.metadataForPersistentStore(with: url) } catch CocoaError.fileReadNoSuchFile {
            metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString]
        }
    }

    /// The number of the service's last change. A cached list with the same number is still valid.
    public override func changeToken() throws -> String? {
        "\(try client.ask(ServiceChanges.self, "changes", [("after", "-1")]).last)"
    }

    // MARK: Requests

    public override func execute(
        _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
    ) throws -> Any {
        if let save = request as? NSSaveChangesRequest { return try carryOut(save) }
        guard let fetch = request as? NSFetchRequest<NSFetchRequestResult>, let context, let entity = fetch.entity
        else {
            throw CocoaError(.featureUnsupported)
        }
        let found = try objects(of: entity, fetch, context)
        switch fetch.resultType {
        case .countResultType: return [NSNumber(value: found.count)]
        case .managedObjectIDResultType: return found.map(\.objectID)
        default: return found
        }
    }

    private func objects(
        of entity: NSEntityDescription, _ fetch: NSFetchRequest<NSFetchRequestResult>, _ context: NSManagedObjectContext
    ) throws -> [NSManagedObject] {
        let names = (fetch.includesSubentities ? Self.hierarchy(of: entity) : [entity]).map {
            ("entity", $0.name ?? "")
        }
        let records = try client.ask([ServiceRecord].self, "records", names)
        known.withLock { known in for record in records { known[record.reference] = record } }
        let all = try records.map { context.object(with: try id(of: $0.reference, $0.entity)) }
        let matching = all.filter { fetch.predicate?.evaluate(with: $0) ?? true }
        let sorted = matching.sorted(using: fetch.sortDescriptors ?? [])
        let rest = sorted.dropFirst(fetch.fetchOffset)
        return Array(fetch.fetchLimit > 0 ? rest.prefix(fetch.fetchLimit) : rest)
    }

    private static func hierarchy(of entity: NSEntityDescription) -> [NSEntityDescription] {
        [entity] + entity.subentities.flatMap(hierarchy)
    }

    /// The ID of the record with a reference.
    ///
    /// - Throws: An error if the model has no such entity.
    func id(of reference: String, _ entity: String) throws -> NSManagedObjectID {
        guard let known = persistentStoreCoordinator?.managedObjectModel.entitiesByName[entity] else {
            throw CocoaError(
                .fileReadCorruptFile,
                userInfo: [
                    NSLocalizedDescriptionKey: "The service has a record of '\(entity)', which is not in the model."
                ])
        }
        return newObjectID(for: known, referenceObject: reference)
    }

    private func reference(_ id: NSManagedObjectID) -> String { "\(referenceObject(for: id))" }

    // MARK: Rows

    private func record(_ id: NSManagedObjectID) throws -> ServiceRecord {
        let reference = reference(id)
        if let record = known.withLock({ $0.removeValue(forKey: reference) }) { return record }
        do { return try client.ask(ServiceRecord.self, "record", [("reference", reference)]) } catch let refusal
            as ServiceRefusal where refusal.status == 404
        {
            throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError))
        }
    }

    public override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        let record = try record(objectID)
        var values: [String: Any] = [:]
        for (name, text) in record.values {
            guard let attribute = objectID.entity.attributesByName[name] else { continue }
            values[name] = RecordText.value(text, attribute.attributeType)
        }
        return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: record.version)
    }

    public override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        let links = try record(objectID).links[relationship.name] ?? []
        let ids = try links.compactMap { link -> NSManagedObjectID? in
            guard let entity = link.split(separator: "/").first else { return nil }
            return try id(of: link, String(entity))
        }
        return relationship.isToMany ? ids : ids.first ?? NSNull()
    }

    // MARK: Saves

    public override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { newObjectID(for: $0.entity, referenceObject: "\($0.entity.name ?? "")/\(UUID().uuidString)") }
    }

    private func carryOut(_ save: NSSaveChangesRequest) throws -> Any {
        known.withLock { $0 = [:] }
        var transaction = ServiceTransaction()
        for object in save.insertedObjects ?? [] { transaction.changed.append(written(object, version: 0)) }
        for object in save.updatedObjects ?? [] where try !isOnlyReferredTo(object) {
            transaction.changed.append(written(object, version: try current(object.objectID).version))
        }
        // A record that is already deleted needs no deletion.
        for object in save.deletedObjects ?? [] where try !isOnlyReferredTo(object) {
            transaction.deleted.append(try current(object.objectID))
        }
        if !transaction.changed.isEmpty || !transaction.deleted.isEmpty {
            do {
                _ = try client.ask("POST", "transaction", body: JSONEncoder().encode(transaction))
            } catch let refusal as ServiceRefusal where refusal.status == 409 {
                throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectMergeError))
            }
        }
        if let url { try Self.setMetadata(metadata, forPersistentStoreAt: url) }
        return []
    }

    /// The record that a save changes. If another client deleted it, that is a conflict like a different version.
    private func current(_ id: NSManagedObjectID) throws -> ServiceRecord {
        do { return try record(id) } catch let error as CocoaError
            where error.code.rawValue == NSManagedObjectReferentialIntegrityError
        {
            throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectMergeError))
        }
    }

    /// True if an object's record is deleted and only its relationships changed: a reference to it was removed.
    private func isOnlyReferredTo(_ object: NSManagedObject) throws -> Bool {
        let changed = object.changedValues().keys
        if changed.contains(where: { object.entity.attributesByName[$0] != nil }) { return false }
        do { _ = try record(object.objectID) } catch let error as CocoaError
            where error.code.rawValue == NSManagedObjectReferentialIntegrityError
        {
            return true
        }
        return false
    }

    private func written(_ object: NSManagedObject, version: UInt64) -> ServiceRecord {
        var record = ServiceRecord(
            reference: reference(object.objectID), entity: object.entity.name ?? "", version: version, values: [:],
            links: [:])
        for name in object.entity.attributesByName.keys {
            record.values[name] = object.value(forKey: name).flatMap(RecordText.text)
        }
        for (name, relationship) in object.entity.relationshipsByName {
            let members: [NSManagedObject] =
                if !relationship.isToMany {
                    [object.value(forKey: name) as? NSManagedObject].compactMap { $0 }
                } else if relationship.isOrdered {
                    object.mutableOrderedSetValue(forKey: name).array.compactMap { $0 as? NSManagedObject }
                } else {
                    object.mutableSetValue(forKey: name).allObjects.compactMap { $0 as? NSManagedObject }
                }
            record.links[name] = members.map { reference($0.objectID) }
        }
        return record
    }
}
