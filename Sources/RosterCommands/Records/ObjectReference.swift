import CoreData
import Foundation
import Translation

/// One record, as named on the command line: `x-coredata://…/Team/p12`, `Team/p12` or `Team:Brazil`.
enum ObjectReference {
    /// Finds the record.
    /// - Throws: ``CommandError``: misuse if `text` is not a reference, failure if the record does not exist.
    static func object(named text: String, in session: StoreSession) throws -> NSManagedObject {
        let context = session.context
        if let uri = uri(text, in: context) {
            guard let id = context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri),
                let object = try? context.existingObject(with: id)
            else { throw CommandError.failure("no record “\(text)” in \(session.name)") }
            return object
        }
        if isMisnumbered(text, in: context) { throw CommandError.misuse("“\(text)” \(misnumbered)") }
        guard let colon = text.firstIndex(of: ":") else {
            throw CommandError.misuse(
                "“\(text)” is not a record: write a URI x-coredata://…, Entity/p12 or Entity:VALUE")
        }
        let entity = try session.entity(named: String(text[..<colon]))
        let key = JSONValue.string(String(text[text.index(after: colon)...]))
        do {
            return try ReferenceResolver(context: context).object(named: key, of: entity)
        } catch let problem as ValueProblem {
            throw CommandError.failure(
                text: FieldProblem(key: entity.name ?? "", value: key, reason: problem.reason).sentence)
        }
    }

    /// True if `text` has the form Entity/p12 with the number of a missing record.
    static func isMisnumbered(_ text: String, in context: NSManagedObjectContext) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let entities = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName,
            entities[String(parts[0])] != nil, parts[1].wholeMatch(of: /p[-+]?[0-9]+/) != nil
        else { return false }
        return (Int64(parts[1].dropFirst()) ?? 0) <= 0
    }

    /// The message for such a text.
    static var misnumbered: String { tr("is not a record: use numbers from p1 to p9223372036854775807") }

    /// The URI that `text` is or is short for; `nil` for another form.
    static func uri(_ text: String, in context: NSManagedObjectContext) -> URL? {
        if text.hasPrefix("x-coredata:") { return URL(string: text) }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].first == "p", let number = Int64(parts[1].dropFirst()), number > 0,
            let coordinator = context.persistentStoreCoordinator,
            coordinator.managedObjectModel.entitiesByName[String(parts[0])] != nil,
            let store = coordinator.persistentStores.first, let identifier = store.identifier
        else { return nil }
        return URL(string: "x-coredata://\(identifier)/\(parts[0])/\(parts[1])")
    }
}
