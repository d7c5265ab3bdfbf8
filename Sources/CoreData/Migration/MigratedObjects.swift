import Foundation

/// Reads the objects of one side of a migration, many at a time.
struct MigratedObjects {
    let context: NSManagedObjectContext

    /// The objects with their values, in that order.
    func objects(_ ids: [NSManagedObjectID]) throws -> [NSManagedObject] {
        for group in Dictionary(grouping: ids, by: { ObjectIdentifier($0.entity) }).values {
            let request = NSFetchRequest<NSManagedObject>()
            request.entity = group[0].entity
            request.includesSubentities = false
            request.returnsObjectsAsFaults = false
            request.predicate = NSPredicate(format: "SELF IN %@", group)
            // The context holds them while they are listed below.
            let read = try context.fetch(request)
            guard read.count == Set(group).count else {
                throw CoreDataError.make(
                    134110, "An object of the migrated store is gone in the middle of the migration.")
            }
        }
        return ids.map(context.object(with:))
    }

    /// Validates all objects of all stores as a first save does.
    ///
    /// - Throws: 134110 with what the validation throws beneath.
    func validate(_ step: () throws -> Void) throws {
        let model = context.persistentStoreCoordinator?.managedObjectModel
        for entity in model?.entities ?? [] where !entity.isAbstract {
            let request = NSFetchRequest<NSManagedObject>()
            request.entity = entity
            request.includesSubentities = false
            request.returnsObjectsAsFaults = false
            request.fetchBatchSize = MigrationRun.batch
            for object in try context.fetch(request) {
                do { try object.validateForInsert() } catch {
                    throw CoreDataError.make(
                        134110, "The migrated store would not be valid: \(error.localizedDescription)",
                        underlying: error, userInfo: ["entity": entity.name ?? ""])
                }
                try step()
            }
        }
    }
}
