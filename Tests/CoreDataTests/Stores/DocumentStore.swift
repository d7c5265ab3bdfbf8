import CoreData
import Foundation
import Synchronization

/// An incremental store defined by a program, as written for Apple's framework: documents of a service, identified by
/// texts.
final class DocumentStore: NSIncrementalStore, @unchecked Sendable {
    /// The type. Its first use registers it.
    static let type = {
        let type = NSPersistentStore.StoreType(rawValue: "org.example.DocumentStore")
        NSPersistentStoreCoordinator.registerStoreClass(DocumentStore.self, type: type)
        return type
    }()

    /// Requests to the store, for tests.
    private(set) var asked: [String] = []
    var refusal: (any Error)?

    struct Document {
        var entity: String
        var values: [String: Any] = [:]
        /// References of destinations, by relationship.
        var links: [String: [String]] = [:]
        var version: UInt64 = 1
    }

    /// Documents of the service at the store's URL. Other programs may change them.
    var documents: [String: Document] {
        get { service.documents }
        set { service.documents = newValue }
    }

    private lazy var service = Service.at(url!)

    final class Service: @unchecked Sendable {
        private static let all = Mutex<[URL: Service]>([:])
        var metadata: [String: Any]?
        var documents: [String: Document] = [:]

        static func at(_ url: URL) -> Service {
            all.withLock { all in
                let known = all[url] ?? Service()
                all[url] = known
                return known
            }
        }
    }

    func forgetAsked() { asked = [] }

    /// Number of contexts with an object for each row, for tests.
    private(set) var holders: [NSManagedObjectID: Int] = [:]
    /// Life cycle events of the store: `added`, `removed`.
    private(set) var life: [String] = []

    override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
        for id in objectIDs { holders[id, default: 0] += 1 }
    }

    override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
        for id in objectIDs { holders[id, default: 0] -= 1 }
    }

    override func didAdd(to coordinator: NSPersistentStoreCoordinator) {
        life.append(coordinator === persistentStoreCoordinator ? "added" : "added elsewhere")
    }

    override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
        life.append(coordinator === persistentStoreCoordinator ? "removed" : "removed elsewhere")
    }

    override var type: String { Self.type.rawValue }

    override class func identifierForNewStore(at storeURL: URL) -> Any { "Documents-" + UUID().uuidString }

    // MARK: Metadata

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        guard let metadata = Service.at(url).metadata else { throw CocoaError(.fileReadNoSuchFile) }
        return metadata
    }

    override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        Service.at(url).metadata = metadata
    }

    override func loadMetadata() throws {
        metadata =
            service.metadata ?? [
                NSStoreTypeKey: type, NSStoreUUIDKey: Self.identifierForNewStore(at: url ?? URL(fileURLWithPath: "/")),
            ]
    }

    // MARK: Requests

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if let refusal { throw refusal }
        switch request {
        case let fetch as NSFetchRequest<NSFetchRequestResult>:
            let found = try objects(fetch, context!)
            asked.append("fetch \(fetch.entityName ?? "")")
            switch fetch.resultType {
            case .countResultType: return [NSNumber(value: found.count)]
            case .managedObjectIDResultType: return found.map(\.objectID)
            default: return found
            }
        case let save as NSSaveChangesRequest:
            for object in save.insertedObjects ?? [] { keep(object) }
            for object in save.updatedObjects ?? [] { keep(object) }
            for object in save.deletedObjects ?? [] { documents[reference(object.objectID)] = nil }
            let counts = [save.insertedObjects, save.updatedObjects, save.deletedObjects].map {
                $0.map { "\($0.count)" } ?? "-"
            }
            asked.append("save " + counts.joined(separator: " "))
            service.metadata = metadata
            return []
        default: throw CocoaError(.featureUnsupported)
        }
    }

    private func objects(
        _ fetch: NSFetchRequest<NSFetchRequestResult>, _ context: NSManagedObjectContext
    ) throws -> [NSManagedObject] {
        let all = documents.keys.sorted().compactMap { name -> NSManagedObject? in
            let entity = documents[name].flatMap { self.entity(named: $0.entity) }
            guard let entity, let wanted = fetch.entity, entity.isKindOf(entity: wanted),
                fetch.includesSubentities || entity.name == wanted.name
            else { return nil }
            return context.object(with: newObjectID(for: entity, referenceObject: name))
        }
        let matching = all.filter { fetch.predicate?.evaluate(with: $0) ?? true }
        let sorted = NSArray(array: matching).sortedArray(using: fetch.sortDescriptors ?? [])
        let rest = sorted.dropFirst(fetch.fetchOffset)
        return (fetch.fetchLimit > 0 ? rest.prefix(fetch.fetchLimit) : rest).compactMap { $0 as? NSManagedObject }
    }

    private func entity(named name: String) -> NSEntityDescription? {
        persistentStoreCoordinator?.managedObjectModel.entitiesByName[name]
    }

    private func reference(_ id: NSManagedObjectID) -> String { referenceObject(for: id) as! String }

    private func keep(_ object: NSManagedObject) {
        let name = reference(object.objectID)
        var document = documents[name] ?? Document(entity: object.entity.name!, version: 0)
        document.version += 1
        document.values = object.dictionaryWithValues(forKeys: Array(object.entity.attributesByName.keys))
            .filter { !($0.value is NSNull) }
        for (key, relationship) in object.entity.relationshipsByName {
            let destinations: [NSManagedObject]
            switch object.value(forKey: key) {
            case let one as NSManagedObject: destinations = [one]
            case let many as Set<NSManagedObject>: destinations = Array(many)
            case let many as NSOrderedSet: destinations = many.array.compactMap { $0 as? NSManagedObject }
            default: destinations = []
            }
            document.links[relationship.name] = destinations.map { reference($0.objectID) }
        }
        documents[name] = document
    }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { newObjectID(for: $0.entity, referenceObject: "\($0.entity.name!)/\(UUID().uuidString)") }
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        asked.append("values")
        guard let document = documents[reference(objectID)] else {
            throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError))
        }
        return NSIncrementalStoreNode(objectID: objectID, withValues: document.values, version: document.version)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        asked.append("relationship \(relationship.name)")
        let links = documents[reference(objectID)]?.links[relationship.name] ?? []
        let ids = links.compactMap { name in
            documents[name].flatMap { self.entity(named: $0.entity) }.map {
                newObjectID(for: $0, referenceObject: name)
            }
        }
        return relationship.isToMany ? ids : ids.first ?? NSNull()
    }
}
