import CoreData
import Foundation
import Translation

/// Finds the record that a value names: by unique key or by URI. Use it on the context's queue.
struct ReferenceResolver {
    private let context: NSManagedObjectContext

    init(context: NSManagedObjectContext) { self.context = context }

    /// The object of `entity` whose unique key is `value`.
    /// - Throws: ``ValueProblem`` if there is none.
    func object(named value: JSONValue, of entity: NSEntityDescription) throws -> NSManagedObject {
        guard let key = UniqueKey(of: entity)?.single else {
            throw ValueProblem(
                reason: sentence(
                    "cannot be found: \(entity.name ?? "record") has no unique key. Give the URI of the record"))
        }
        guard let wanted = try ValueParser.value(from: value, for: key) else {
            throw ValueProblem(reason: sentence("is not a \(entity.name ?? "record")"))
        }
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = entity
        request.fetchLimit = 1
        request.predicate = NSPredicate(format: "%K == %@", key.name, wanted)
        guard let object = try context.fetch(request).first else {
            throw ValueProblem(
                reason: sentence("not found: no \(entity.name ?? "record") has this \(key.name)"))
        }
        return object
    }

    /// The object of `entity` at a URI.
    /// - Throws: ``ValueProblem`` if there is none.
    func object(at uri: URL, of entity: NSEntityDescription) throws -> NSManagedObject {
        guard let id = context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri) else {
            throw ValueProblem(reason: tr("is not a record of this store"))
        }
        guard id.entity.isKindOf(entity: entity) else {
            throw ValueProblem(reason: sentence("is a \(id.entity.name ?? "?"), not a \(entity.name ?? "?")"))
        }
        guard let object = try? context.existingObject(with: id) else {
            throw ValueProblem(reason: tr("not found: the record may have been deleted"))
        }
        return object
    }
}
