import CoreData
import Foundation
import Testing

/// Harm to files, stores and threads that the framework must never do. Written like a program that uses the framework.
@Suite struct NeverHarmTests {
    /// A temporary folder with stacks in it.
    final class World: Sendable {
        let folder: URL

        init() throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("never-harm-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func url(_ name: String) -> URL { folder.appendingPathComponent(name) }

        /// Folders with items, which have a unique name and a picture that may be stored in a file.
        static func model() -> NSManagedObjectModel {
            func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
                let attribute = NSAttributeDescription()
                attribute.name = name
                attribute.attributeType = type
                attribute.isOptional = true
                return attribute
            }
            let (item, folder) = (NSEntityDescription(), NSEntityDescription())
            item.name = "Item"
            folder.name = "Folder"
            let picture = attribute("picture", .binaryDataAttributeType)
            picture.allowsExternalBinaryDataStorage = true
            let (toFolder, toItems) = (NSRelationshipDescription(), NSRelationshipDescription())
            toFolder.name = "folder"
            toFolder.destinationEntity = folder
            toFolder.maxCount = 1
            toFolder.inverseRelationship = toItems
            toItems.name = "items"
            toItems.destinationEntity = item
            toItems.inverseRelationship = toFolder
            item.properties = [
                attribute("name", .stringAttributeType), attribute("number", .integer64AttributeType), picture,
                toFolder,
            ]
            item.uniquenessConstraints = [["name"]]
            folder.properties = [attribute("name", .stringAttributeType), toItems]
            let model = NSManagedObjectModel()
            model.entities = [item, folder]
            return model
        }

        func coordinator(_ url: URL, options: [AnyHashable: Any]? = nil) throws -> NSPersistentStoreCoordinator {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
            try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
            return coordinator
        }

        /// Creates a store with an item of that name and closes it.
        func fill(_ url: URL, _ name: String, pictureSize: Int = 0) throws {
            let coordinator = try coordinator(url)
            try coordinator.context().fill(name, pictureSize: pictureSize)
            try coordinator.remove(coordinator.persistentStores[0])
        }

        func names(_ url: URL) throws -> [String] {
            let coordinator = try coordinator(url)
            defer { try? coordinator.remove(coordinator.persistentStores[0]) }
            return try coordinator.context().names()
        }
    }
}

extension NSPersistentStoreCoordinator {
    func context(
        _ type: NSManagedObjectContextConcurrencyType = .privateQueueConcurrencyType
    ) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: type)
        context.persistentStoreCoordinator = self
        return context
    }
}

extension NSManagedObjectContext {
    /// Saves a new item.
    @discardableResult
    func fill(_ name: String, pictureSize: Int = 0) throws -> NSManagedObjectID {
        try performAndWait {
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: self)
            item.setValue(name, forKey: "name")
            if pictureSize > 0 { item.setValue(Data(repeating: 7, count: pictureSize), forKey: "picture") }
            try save()
            return item.objectID
        }
    }

    /// The names of all items.
    func names(_ format: String = "TRUEPREDICATE") throws -> [String] {
        try performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.predicate = NSPredicate(format: format)
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            return try fetch(request).compactMap { $0.value(forKey: "name") as? String }
        }
    }
}

/// The code of the error that `body` throws; `nil` if it throws none.
func thrownCode(_ body: () throws -> Void) -> Int? {
    do {
        try body()
        return nil
    } catch {
        return (error as NSError).code
    }
}
