import CoreData
import Foundation
import StoreConformance
import Synchronization

/// A read-only incremental store defined by a program, whose rows are identified by values of any type: `Tag`s with a
/// name.
final class KeyedStore: NSIncrementalStore, @unchecked Sendable {
    static let storeType = {
        let type = NSPersistentStore.StoreType(rawValue: "org.example.KeyedStore")
        NSPersistentStoreCoordinator.registerStoreClass(KeyedStore.self, type: type)
        return type
    }()

    struct Row {
        let reference: Any
        var name: String
        var version: UInt64 = 1
        /// Error of reading the row.
        var failure: (any Error)?
    }

    /// Contents of the store at a URL. Outlives the open stores.
    final class Shelf: @unchecked Sendable {
        private static let all = Mutex<[URL: Shelf]>([:])
        let url: URL
        let identifier = UUID().uuidString
        var rows: [Row]
        /// Token and version that the store reports.
        var (token, version): (String?, Int64) = (nil, 0)
        /// Reads a reference from a URI; `nil` to leave it to the framework.
        var reading: ((String) -> Any?)?

        init(_ references: [Any]) {
            rows = references.enumerated().map { Row(reference: $1, name: "row \($0)") }
            let url = URL(fileURLWithPath: "/shelves/\(identifier)")
            self.url = url
            Self.all.withLock { $0[url] = self }
        }

        static func at(_ url: URL) -> Shelf { all.withLock { $0[url]! } }

        /// A new coordinator, as after a launch.
        func open(options: [AnyHashable: Any]? = nil) throws -> (NSPersistentStoreCoordinator, KeyedStore) {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: StoreConformance.library())
            let store = try coordinator.addPersistentStore(type: KeyedStore.storeType, at: url, options: options)
            return (coordinator, store as! KeyedStore)
        }
    }

    override var type: String { Self.storeType.rawValue }

    private(set) lazy var shelf = Shelf.at(url!)
    /// Names of the requested rows.
    private(set) var asked: [String] = []

    override func loadMetadata() throws {
        metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: shelf.identifier]
    }

    override func changeToken() throws -> String? { shelf.token }

    override func changeVersion() throws -> Int64 { shelf.version }

    override func referenceObject(forURIText text: String, entity: NSEntityDescription) -> Any? {
        guard let reading = shelf.reading else { return super.referenceObject(forURIText: text, entity: entity) }
        return reading(text)
    }

    override func uriText(forReferenceObject data: Any) -> String {
        (data as? ReferenceType)?.text ?? super.uriText(forReferenceObject: data)
    }

    /// A program's own type for references.
    class ReferenceType: NSObject {
        var text: String { "" }
    }

    func id(_ row: Int) -> NSManagedObjectID {
        let entity = persistentStoreCoordinator!.managedObjectModel.entitiesByName["Tag"]!
        return newObjectID(for: entity, referenceObject: shelf.rows[row].reference)
    }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        guard let fetch = request as? NSFetchRequest<NSFetchRequestResult> else {
            throw CocoaError(.featureUnsupported)
        }
        asked.append("fetch")
        if fetch.resultType == .countResultType { return [NSNumber(value: shelf.rows.count)] }
        return shelf.rows.indices.map(id)
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        let reference = referenceObject(for: objectID)
        // Compares the types and bytes of references.
        let row = shelf.rows.first { row in
            switch (row.reference, reference) {
            case (let own as String, let other as String): Array(own.utf8) == Array(other.utf8)
            case (let own as UUID, let other as UUID): own == other
            case (let own as Data, let other as Data): own == other
            case (let own as NSNumber, let other as NSNumber): own == other
            default: false
            }
        }
        guard let row else { throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError)) }
        asked.append(row.name)
        if let failure = row.failure { throw failure }
        return NSIncrementalStoreNode(objectID: objectID, withValues: ["name": row.name], version: row.version)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any { relationship.isToMany ? [NSManagedObjectID]() : NSNull() }
}

extension NSPersistentStoreCoordinator {
    /// A new context of the coordinator with its own queue.
    func makeContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = self
        return context
    }
}
