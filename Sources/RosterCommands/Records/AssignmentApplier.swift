import CoreData
import CoreDataImport
import Foundation

/// Sets properties from assignments of the command line.
struct AssignmentApplier {
    private let importer: RecordImporter

    init(context: NSManagedObjectContext) {
        importer = RecordImporting.importer(into: context, usesMappedNames: false)
    }

    /// - Throws: ``CommandError``: misuse for an unknown key or invalid value, failure for a missing record.
    func apply(_ assignments: [Assignment], to object: NSManagedObject) throws {
        var keys: Set<String> = []
        if let twice = assignments.first(where: { !keys.insert($0.key).inserted }) {
            throw CommandError.misuse("“\(twice.key)” is assigned twice: give it one value")
        }
        do {
            let fields = assignments.map(\.field)
            try importer.update(object, from: RecordImporting.record(fields, of: object.entity, by: importer))
        } catch let error as RecordImportError {
            throw refusal(FieldProblem(error), of: object)
        } catch let problem as FieldProblem {
            throw refusal(problem, of: object)
        }
    }

    private func refusal(_ problem: FieldProblem, of object: NSManagedObject) -> CommandError {
        let relationship = try? EntityKeys.property(at: problem.key, of: object.entity) is NSRelationshipDescription
        let isMissing = relationship == true && !problem.isMalformed
        return isMissing ? CommandError.failure(text: problem.sentence) : CommandError.misuse(text: problem.sentence)
    }
}

/// Validation of edits that will not be saved.
enum EditValidation {
    /// Validates all inserted, changed and deleted objects.
    /// - Throws: the framework's first validation error.
    static func validate(_ context: NSManagedObjectContext) throws {
        context.processPendingChanges()
        for object in context.insertedObjects { try object.validateForInsert() }
        for object in context.updatedObjects { try object.validateForUpdate() }
        for object in context.deletedObjects { try object.validateForDelete() }
    }

    /// - Throws: ``CommandError`` if another record has the unique key of `object`.
    static func checkUniqueness(of object: NSManagedObject, in context: NSManagedObjectContext) throws {
        guard let key = UniqueKey(of: object.entity), key.text(of: object) != nil else { return }
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = object.entity
        request.predicate = NSCompoundPredicate(
            andPredicateWithSubpredicates: key.attributes.compactMap { attribute in
                object.value(forKey: attribute.name).map { NSPredicate(format: "%K == %@", attribute.name, $0) }
            })
        guard try context.fetch(request).contains(where: { $0 !== object }) else { return }
        throw CommandError.failure("\(object.entity.name ?? "record") \(RecordLabel.shown(object)) already exists")
    }
}
