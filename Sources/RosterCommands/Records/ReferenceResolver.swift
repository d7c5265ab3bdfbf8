import CoreData
import Foundation

/// Finds the record that a value names: by unique key, by URI, or as `Entity/p12`.
///
/// Remembers what it found by ID, so that it can be used across resets of the context. Use it on the context's queue.
final class ReferenceResolver {
    private let context: NSManagedObjectContext
    private var known: [String: [String: NSManagedObjectID]] = [:]

    init(context: NSManagedObjectContext) { self.context = context }

    /// The object of `entity` that `value` names.
    /// - Throws: ``ValueProblem`` when there is none.
    func object(named value: JSONValue, of entity: NSEntityDescription) throws -> NSManagedObject {
        if case .string(let text) = value, let object = try objectByURI(text, of: entity) { return object }
        guard let key = UniqueKey(of: entity)?.single else {
            throw ValueProblem(
                reason: "names no \(entity.name ?? "record"): the entity has no unique key, so give its URI")
        }
        guard let wanted = try ValueParser.value(from: value, for: key) else {
            throw ValueProblem(reason: "names no \(entity.name ?? "record")")
        }
        let text = ValueText.json(wanted, of: key).text
        if let id = known[entity.name ?? ""]?[text], let object = try? context.existingObject(with: id) {
            return object
        }
        try find([wanted], of: entity, by: key)
        guard let id = known[entity.name ?? ""]?[text] else {
            throw ValueProblem(reason: "names no \(entity.name ?? "record"): there is none whose \(key.name) is that")
        }
        return context.object(with: id)
    }

    /// Looks for many at once: one fetch for those not known yet. What is not there is not an error here.
    func prefetch(_ values: [JSONValue], of entity: NSEntityDescription) throws {
        guard let key = UniqueKey(of: entity)?.single else { return }
        var wanted: [Any] = []
        var seen: Set<String> = []
        for value in values {
            if case .string(let text) = value, text.hasPrefix("x-coredata:") { continue }
            guard let parsed = (try? ValueParser.value(from: value, for: key)) ?? nil else { continue }
            let text = ValueText.json(parsed, of: key).text
            if known[entity.name ?? ""]?[text] == nil, seen.insert(text).inserted { wanted.append(parsed) }
        }
        if !wanted.isEmpty { try find(wanted, of: entity, by: key) }
    }

    private func find(_ wanted: [Any], of entity: NSEntityDescription, by key: NSAttributeDescription) throws {
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = entity
        request.predicate = NSPredicate(format: "%K IN %@", key.name, wanted)
        for object in try context.fetch(request) {
            let text = ValueText.json(object.value(forKey: key.name), of: key).text
            known[entity.name ?? "", default: [:]][text] = object.objectID
        }
    }

    /// `nil` where `text` is neither a URI of a record nor of the form `Entity/p12`.
    private func objectByURI(_ text: String, of entity: NSEntityDescription) throws -> NSManagedObject? {
        guard let uri = ObjectReference.uri(text, in: context) else { return nil }
        guard let id = context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri) else {
            throw ValueProblem(reason: "is no record of this store")
        }
        guard id.entity.isKindOf(entity: entity) else {
            throw ValueProblem(reason: "is a \(id.entity.name ?? "?"), not a \(entity.name ?? "?")")
        }
        guard let object = try? context.existingObject(with: id) else {
            throw ValueProblem(reason: "names no record: it may have been deleted")
        }
        return object
    }
}
