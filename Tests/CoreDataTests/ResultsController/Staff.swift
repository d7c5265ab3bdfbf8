import Foundation
import Synchronization
import Testing

@testable import CoreData

/// Employees (name, team, salary, isActive, hired, department → Department) in a SQLite store in a temporary folder,
/// which is removed with the last reference. A second instance with the same folder represents another process.
final class Staff {
    let folder: URL
    let coordinator: NSPersistentStoreCoordinator
    let store: any RowStore
    let context: NSManagedObjectContext
    private let ownsFolder: Bool

    /// - Parameter folder: the folder of another instance, which removes it; `nil` for a new one.
    init(
        in folder: URL? = nil, keepsHistory: Bool = true, watches: Bool = false,
        queue: NSManagedObjectContextConcurrencyType = .privateQueueConcurrencyType
    ) throws {
        ownsFolder = folder == nil
        self.folder =
            folder ?? FileManager.default.temporaryDirectory.appendingPathComponent("staff-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        var options: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: NSNumber(value: keepsHistory)]
        if watches { options[NSPersistentStoreRemoteChangeNotificationPostOptionKey] = NSNumber(value: true) }
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: self.folder.appendingPathComponent("Staff.sqlite"),
            options: options)
        store = try #require(coordinator.rowStores.first)
        context = NSManagedObjectContext(concurrencyType: queue)
        context.persistentStoreCoordinator = coordinator
    }

    deinit {
        try? coordinator.remove(store)
        if ownsFolder { try? FileManager.default.removeItem(at: folder) }
    }

    /// Runs `body` on the queue of a new staff's context.
    static func run(keepsHistory: Bool = true, _ body: (Staff) throws -> Void) throws {
        let staff = try Staff(keepsHistory: keepsHistory)
        try staff.context.performAndWait { try body(staff) }
    }

    private static func model() -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType, _ value: Any?) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.defaultValue = value
            return attribute
        }
        let employee = NSEntityDescription()
        employee.name = "Employee"
        let department = NSEntityDescription()
        department.name = "Department"
        let worksIn = NSRelationshipDescription()
        worksIn.name = "department"
        worksIn.destinationEntity = department
        worksIn.maxCount = 1
        let employees = NSRelationshipDescription()
        employees.name = "employees"
        employees.destinationEntity = employee
        employees.inverseRelationship = worksIn
        worksIn.inverseRelationship = employees
        employee.properties = [
            attribute("name", .stringAttributeType, nil), attribute("team", .stringAttributeType, nil),
            attribute("salary", .integer32AttributeType, 0), attribute("isActive", .booleanAttributeType, true),
            attribute("hired", .dateAttributeType, nil), worksIn,
        ]
        department.properties = [attribute("name", .stringAttributeType, nil), employees]
        let model = NSManagedObjectModel()
        model.entities = [employee, department]
        return model
    }

    // MARK: Objects

    @discardableResult
    func employee(_ name: String?, _ team: String?, _ salary: Int = 0) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: context)
        object.setValue(name, forKey: "name")
        object.setValue(team, forKey: "team")
        object.setValue(salary, forKey: "salary")
        return object
    }

    @discardableResult
    func department(_ name: String) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: "Department", into: context)
        object.setValue(name, forKey: "name")
        return object
    }

    /// Saves Alice and Bob in E and Sam in S.
    func savedThree() throws -> (alice: NSManagedObject, bob: NSManagedObject, sam: NSManagedObject) {
        let three = (employee("Alice", "E", 3), employee("Bob", "E", 1), employee("Sam", "S", 2))
        try context.save()
        return three
    }

    /// The employee of that name in this context.
    func find(_ name: String) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
        request.predicate = NSPredicate(format: "name == %@", name)
        return try #require(try context.fetch(request).first)
    }

    /// Runs `body` while the context's queue is busy.
    func whileQueueIsBusy(_ body: () throws -> Void) rethrows {
        let (begun, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        context.perform {
            begun.signal()
            done.wait()
        }
        begun.wait()
        defer { done.signal() }
        try body()
    }

    // MARK: Controllers

    func request(_ sort: [String]?, _ predicate: NSPredicate? = nil) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
        request.predicate = predicate
        request.sortDescriptors = sort?.map { key in
            key.hasPrefix("-")
                ? NSSortDescriptor(key: String(key.dropFirst()), ascending: false)
                : NSSortDescriptor(key: key, ascending: true)
        }
        return request
    }

    func controller(
        section: String? = "team", sort: [String] = ["team", "name"], where predicate: String? = nil,
        cache: String? = nil
    ) -> NSFetchedResultsController<NSManagedObject> {
        let request = request(sort, predicate.map { NSPredicate(format: $0) })
        return NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: section, cacheName: cache)
    }
}

extension NSFetchedResultsController where ResultType == NSManagedObject {
    /// Sections with their names: `E: Alice Bob | S: Sam`.
    var text: String {
        guard let sections else { return "nothing" }
        return sections.map { section in
            let names = (section.objects ?? []).map {
                ($0 as? NSManagedObject)?.value(forKey: "name") as? String ?? "-"
            }
            return (sectionNameKeyPath == nil ? "" : "\(section.name): ") + names.joined(separator: " ")
        }.joined(separator: " | ")
    }

    /// The first inconsistency of the contents, or `nil`: cases 3, 14, 15 and the order of the accessors.
    func contradiction() -> String? {
        guard let sections, let fetchedObjects else { return "no contents" }
        var position = 0
        for (number, section) in sections.enumerated() {
            let objects = section.objects ?? []
            if objects.count != section.numberOfObjects { return "section \(number) counts \(section.numberOfObjects)" }
            if objects.isEmpty && sectionNameKeyPath != nil { return "section \(number) is empty" }
            for (row, object) in objects.enumerated() {
                let path = IndexPath(row: row, section: number)
                let found = self.object(at: path)
                if found !== object as AnyObject || found !== fetchedObjects[position] {
                    return "accessors differ at \(path)"
                }
                if indexPath(forObject: found) != path { return "the object at \(path) is not found there" }
                position += 1
            }
        }
        return position == fetchedObjects.count
            ? nil : "\(position) objects in sections, \(fetchedObjects.count) in all"
    }
}

/// Collects commits of other processes to the stores of a coordinator.
final class HeardCommits: CommitObserver {
    let changes = Mutex<[CommittedChanges]>([])

    func coordinatorDidCommit(_ changes: CommittedChanges, from source: AnyObject?) {
        if source == nil { self.changes.withLock { $0.append(changes) } }
    }

    var isBehind: Bool { false }

    func coordinatorDidRemove(_ store: NSPersistentStore) {}

    func coordinatorDidMove(_ move: StoreMove) {}

    func objectsBeneathDidChange() {}
    func storesAnswer() {}
}
