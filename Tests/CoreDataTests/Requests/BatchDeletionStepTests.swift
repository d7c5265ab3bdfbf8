import CoreData
import Foundation
import Testing

/// Batch deletions that need several steps have the same result as one step.
@Suite struct BatchDeletionStepTests {
    /// Items in folders: files that require a folder, and links that forbid the deletion of their folder.
    private static func model() -> NSManagedObjectModel {
        func entity(_ name: String) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            return entity
        }
        func relate(
            _ folder: NSEntityDescription, _ name: String, _ rule: NSDeleteRule, _ item: NSEntityDescription,
            _ back: String, isOptional: Bool
        ) {
            let (there, home) = (NSRelationshipDescription(), NSRelationshipDescription())
            (there.name, there.destinationEntity, there.maxCount, there.deleteRule) = (name, item, 0, rule)
            (home.name, home.destinationEntity, home.maxCount) = (back, folder, 1)
            (home.deleteRule, home.isOptional) = (.nullifyDeleteRule, isOptional)
            (there.inverseRelationship, home.inverseRelationship) = (home, there)
            folder.properties += [there]
            item.properties += [home]
        }
        let (item, folder, file, link, shadow) = (
            entity("Item"), entity("Folder"), entity("File"), entity("Link"), entity("Shadow")
        )
        let number = NSAttributeDescription()
        (number.name, number.attributeType) = ("number", .integer32AttributeType)
        item.properties = [number]
        relate(folder, "files", .nullifyDeleteRule, file, "folder", isOptional: false)
        relate(folder, "links", .denyDeleteRule, link, "folder", isOptional: true)
        relate(folder, "shadows", .cascadeDeleteRule, shadow, "folder", isOptional: true)
        relate(shadow, "echoes", .denyDeleteRule, link, "shadow", isOptional: true)
        item.subentities = [folder, file, link, shadow]
        let model = NSManagedObjectModel()
        model.entities = [item, folder, file, link, shadow]
        return model
    }

    private static func context(_ type: String) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        _ = try coordinator.addPersistentStore(
            ofType: type, configurationName: nil,
            at: type == NSSQLiteStoreType ? URL(fileURLWithPath: "/dev/null") : nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private static func add(
        _ entity: String, _ number: Int, _ context: NSManagedObjectContext, _ values: [String: Any] = [:]
    ) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(number, forKey: "number")
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    private static func deletion(_ format: String = "TRUEPREDICATE") -> NSBatchDeleteRequest {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
        request.predicate = NSPredicate(format: format)
        let deletion = NSBatchDeleteRequest(fetchRequest: request)
        deletion.resultType = .resultTypeCount
        return deletion
    }

    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func objectsDeletedByTheSameRequestDenyNothing(_ type: String) throws {
        let context = try Self.context(type)
        try context.performAndWait {
            let folder = Self.add("Folder", 0, context)
            for number in 1...1_005 { _ = Self.add("File", number, context, ["folder": folder]) }
            _ = Self.add("Link", 2_000, context, ["folder": folder])
            try context.save()
            let result = try context.execute(Self.deletion()) as? NSBatchDeleteResult
            #expect(result?.result as? Int == 1_007)
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) == 0)
        }
    }

    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func cascadesOfAnEarlierStepCountAsDeleted(_ type: String) throws {
        let context = try Self.context(type)
        try context.performAndWait {
            let folder = Self.add("Folder", 0, context)
            let shadow = Self.add("Shadow", 5_000, context, ["folder": folder])
            let home = Self.add("Folder", 5_001, context)
            for number in 1...1_005 { _ = Self.add("File", number, context, ["folder": home]) }
            _ = Self.add("Link", 2_000, context, ["shadow": shadow])
            try context.save()
            let result = try context.execute(Self.deletion("number < 5000")) as? NSBatchDeleteResult
            #expect(result?.result as? Int == 1_008)
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) == 1)
        }
    }

    @Test func remainingObjectsStillDenyTheDeletion() throws {
        let context = try Self.context(NSSQLiteStoreType)
        try context.performAndWait {
            let folder = Self.add("Folder", 0, context)
            _ = Self.add("Link", 9_000, context, ["folder": folder])
            for number in 1...1_005 { _ = Self.add("Folder", number, context) }
            try context.save()
            let error = #expect(throws: CocoaError.self) { try context.execute(Self.deletion("number < 5000")) }
            #expect(error?.code.rawValue == 1600)
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) == 1_007)
            _ = Self.add("File", 9_001, context, ["folder": folder])
            let links = NSFetchRequest<NSManagedObject>(entityName: "Link")
            for link in try context.fetch(links) { context.delete(link) }
            try context.save()
            let other = #expect(throws: CocoaError.self) { try context.execute(Self.deletion("number < 5000")) }
            #expect(other?.code.rawValue == 1570)
        }
    }
}
