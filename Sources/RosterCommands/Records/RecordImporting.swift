import CoreData
import CoreDataImport
import Foundation
import Translation

/// Strict import for verbs. References may be keys, URIs or `Entity/p12`.
enum RecordImporting {
    /// - Parameter usesMappedNames: true if keys are those in the model's user info, as in files of other programs.
    static func importer(into context: NSManagedObjectContext, usesMappedNames: Bool) -> RecordImporter {
        let importer = RecordImporter(context: context, usesMappedNames: usesMappedNames)
        importer.refusesUnknownKeys = true
        importer.findDestination = { [unowned context] value, entity in
            guard case .string(let text) = value else { return nil }
            guard !ObjectReference.isMisnumbered(text, in: context) else {
                throw ImportProblem(reason: ObjectReference.misnumbered, isMalformed: true)
            }
            guard let uri = ObjectReference.uri(text, in: context) else { return nil }
            do {
                return try ReferenceResolver(context: context).object(at: uri, of: entity)
            } catch let problem as ValueProblem {
                // The importer adds the key to the reason.
                throw ImportProblem(reason: problem.reason)
            }
        }
        return importer
    }

    /// The fields as the importer expects them: dotted keys as nested records, and lists written as text (on the
    /// command line and in CSV) as lists.
    /// - Throws: ``FieldProblem`` for text that is not a list if a list is expected.
    static func record(
        _ fields: RecordFields, of entity: NSEntityDescription, by importer: RecordImporter
    ) throws -> ImportValue {
        var fields = try FieldGrouping.grouped(fields)
        for (index, field) in fields.enumerated() {
            guard case .string(let text) = field.value,
                let relationship = importer.property(forKey: field.key, of: entity) as? NSRelationshipDescription,
                relationship.isToMany
            else { continue }
            do {
                fields[index].value = try JSONParser.value(of: text)
            } catch let error as JSONParser.SyntaxError {
                throw FieldProblem(
                    key: field.key, value: field.value, reason: Self.listWanted + ": \(error.reason)", isMalformed: true
                )
            }
            guard case .array = fields[index].value else {
                throw FieldProblem(key: field.key, value: field.value, reason: Self.listWanted, isMalformed: true)
            }
        }
        return .object(fields)
    }

    private static var listWanted: String { tr("is not a list: a to-many relationship needs [\"…\",\"…\"]") }
}

extension FieldProblem {
    init(_ error: RecordImportError) {
        self.init(key: error.keyPath, value: error.value, reason: tr(error.reason), isMalformed: error.isMalformed)
    }
}

extension NSManagedObject {
    /// A new object of the entity's class.
    static func make(_ entity: NSEntityDescription, in context: NSManagedObjectContext) -> NSManagedObject {
        NSEntityDescription.insertNewObject(forEntityName: entity.name ?? "", into: context)
    }
}
