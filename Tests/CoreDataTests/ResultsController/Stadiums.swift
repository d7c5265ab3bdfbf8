import CoreData
import Foundation
import TestSupport
import Testing

/// Stadiums in a SQLite store, used like in an app: public names only, on the main queue.
///
/// Stadium (name, city, country, capacity, seats, opened, cost, rating, plan, code) and its subentity Arena; Club with
/// stadiums. The folder is removed with the last reference.
@MainActor
final class Stadiums {
    let folder: URL
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }

    init(type: String = NSSQLiteStoreType, in shared: URL? = nil) throws {
        folder =
            shared ?? FileManager.default.temporaryDirectory.appendingPathComponent("stadiums-\(UUID().uuidString)")
        ownsFolder = shared == nil
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        container = NSPersistentContainer(name: "Stadiums", managedObjectModel: Self.model())
        let description = NSPersistentStoreDescription(url: folder.appendingPathComponent("Stadiums.sqlite"))
        description.type = type
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
    }

    private let ownsFolder: Bool

    deinit {
        for store in container.persistentStoreCoordinator.persistentStores {
            try? container.persistentStoreCoordinator.remove(store)
        }
        if ownsFolder { try? FileManager.default.removeItem(at: folder) }
    }

    private static func model() -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = true
            return attribute
        }
        let stadium = NSEntityDescription()
        stadium.name = "Stadium"
        let arena = NSEntityDescription()
        arena.name = "Arena"
        let club = NSEntityDescription()
        club.name = "Club"
        let owner = NSRelationshipDescription()
        owner.name = "owner"
        owner.destinationEntity = club
        owner.maxCount = 1
        owner.isOptional = true
        let grounds = NSRelationshipDescription()
        grounds.name = "grounds"
        grounds.destinationEntity = stadium
        grounds.inverseRelationship = owner
        owner.inverseRelationship = grounds
        stadium.properties = [
            attribute("name", .stringAttributeType), attribute("city", .stringAttributeType),
            attribute("country", .stringAttributeType), attribute("capacity", .integer64AttributeType),
            attribute("seats", .integer32AttributeType), attribute("opened", .dateAttributeType),
            attribute("cost", .decimalAttributeType), attribute("rating", .doubleAttributeType),
            attribute("plan", .binaryDataAttributeType), attribute("code", .UUIDAttributeType), owner,
        ]
        club.properties = [
            attribute("name", .stringAttributeType), attribute("position", .integer32AttributeType), grounds,
        ]
        stadium.subentities = [arena]
        let model = NSManagedObjectModel()
        model.entities = [stadium, arena, club]
        return model
    }

    @discardableResult
    func add(_ name: String, entity: String = "Stadium", _ values: [String: Any?] = [:]) -> NSManagedObject {
        let stadium = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        stadium.setValue(name, forKey: "name")
        for (key, value) in values { stadium.setValue(value, forKey: key) }
        return stadium
    }

    func request(_ sort: [String] = ["name"], _ format: String? = nil) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Stadium")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = sort.map { key in
            key.hasPrefix("-")
                ? NSSortDescriptor(key: String(key.dropFirst()), ascending: false)
                : NSSortDescriptor(key: key, ascending: true)
        }
        return request
    }

    /// Runs the main queue until a condition is true.
    func waits(until condition: () -> Bool) async -> Bool { await eventuallyAsync("the list follows", condition) }

    /// A fetched controller and its delegate, which records row changes.
    func list(
        _ request: NSFetchRequest<NSManagedObject>, section: String? = nil
    ) throws -> (controller: NSFetchedResultsController<NSManagedObject>, log: RowLog) {
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: section, cacheName: nil)
        let log = RowLog()
        controller.delegate = log
        try controller.performFetch()
        return (controller, log)
    }
}

/// Names of the objects in a controller by section: `A B | C`.
@MainActor
func names(_ controller: NSFetchedResultsController<NSManagedObject>) -> String {
    (controller.sections ?? []).map { section in
        (section.objects ?? []).map { ($0 as? NSManagedObject)?.value(forKey: "name") as? String ?? "-" }
            .joined(separator: " ")
    }.joined(separator: " | ")
}

/// Records changes of rows and sections: `delete 0,1→-`, `section insert 2`, `did`.
@MainActor
final class RowLog: NSObject, @MainActor NSFetchedResultsControllerDelegate {
    private var heard: [String] = []

    var isEmpty: Bool { heard.isEmpty }

    /// Returns the events since the last call.
    func take() -> [String] {
        defer { heard = [] }
        return heard
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) { heard.append("section \(type) \(sectionIndex) \(sectionInfo.name)") }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        func text(_ path: IndexPath?) -> String { path.map { "\($0.section),\($0.row)" } ?? "-" }
        heard.append("\(type) \(text(indexPath))→\(text(newIndexPath))")
        if let newIndexPath, controller.object(at: newIndexPath) !== anObject as AnyObject {
            heard.append("the new path is not valid yet")
        }
    }
}

/// A delegate with the snapshot method. Its other methods must not be called.
@MainActor
final class SnapshotLog: NSObject, @MainActor NSFetchedResultsControllerDelegate {
    private(set) var snapshots: [NSDiffableDataSourceSnapshotReference] = []
    private(set) var otherCalls = 0

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) { snapshots.append(snapshot) }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) { otherCalls += 1 }

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        otherCalls += 1
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        otherCalls += 1
    }
}

/// A delegate with the difference method and the one for rows.
@MainActor
final class DifferenceLog: NSObject, @MainActor NSFetchedResultsControllerDelegate {
    private(set) var differences: [CollectionDifference<NSManagedObjectID>] = []
    private(set) var rowCalls = 0

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) { differences.append(diff) }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) { rowCalls += 1 }
}
