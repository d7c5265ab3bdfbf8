import CoreData
import Foundation

/// The records of one transaction of an import. Use it on the context's queue.
final class ImportBatch {
    private let entity: NSEntityDescription
    private let context: NSManagedObjectContext
    private let key: UniqueKey?
    private let applier: RecordApplier
    private var records: [(place: RecordPlace, fields: RecordFields)] = []

    init(entity: NSEntityDescription, context: NSManagedObjectContext) {
        self.entity = entity
        self.context = context
        key = UniqueKey(of: entity)
        applier = RecordApplier(context: context)
    }

    var count: Int { records.count }

    func add(_ fields: RecordFields, at place: RecordPlace) { records.append((place, fields)) }

    /// Writes the records as one transaction and begins anew. A dry run checks all that a save would, and drops it.
    ///
    /// Costs one fetch for the records that are there, and one for each relationship whose destinations were not met before.
    /// - Throws: ``CommandError`` with the place of the record that is wrong; then none of the batch is saved.
    func commit(isDryRun: Bool) throws -> ImportCommand.Counts {
        defer {
            records = []
            context.reset()
        }
        guard !records.isEmpty else { return ImportCommand.Counts() }
        try prefetchReferences()
        var present = try existing()
        var touched: [NSManagedObject] = []
        var inserted: Set<NSManagedObject> = []
        for (place, fields) in records {
            let text = keyText(of: fields)
            let found = text.flatMap { present[$0] }
            let object = found ?? NSManagedObject.make(entity, in: context)
            if found == nil { inserted.insert(object) }
            do {
                try applier.apply(fields, to: object)
                if object.isInserted { try object.validateForInsert() } else { try object.validateForUpdate() }
            } catch let problem as FieldProblem {
                throw place.failure(problem.sentence)
            } catch {
                throw place.failure(CommandError.line(for: error))
            }
            if let text { present[text] = object }
            touched.append(object)
        }
        return try finish(touched, inserted, isDryRun: isDryRun)
    }

    private func finish(
        _ touched: [NSManagedObject], _ inserted: Set<NSManagedObject>, isDryRun: Bool
    ) throws -> ImportCommand.Counts {
        var counts = ImportCommand.Counts()
        // A record that stands twice in a batch was new the first time and is changed the second.
        var seen: Set<NSManagedObject> = []
        for object in touched {
            let isFirst = seen.insert(object).inserted
            if inserted.contains(object), isFirst {
                counts.inserted += 1
            } else if inserted.contains(object) || object.hasPersistentChangedValues || ownsChanges(object) {
                counts.updated += 1
            } else {
                counts.unchanged += 1
            }
        }
        if isDryRun {
            try EditValidation.validate(context)
        } else if context.hasChanges {
            do {
                try context.save()
            } catch {
                throw records[0].place.failure(
                    "the transaction of \(records.count) records beginning here was refused: "
                        + CommandError.line(for: error))
            }
        }
        return counts
    }

    /// Whether a part of the record, such as its location, has changes.
    private func ownsChanges(_ object: NSManagedObject) -> Bool {
        entity.storedRelationships.contains { relationship in
            guard relationship.isOwnedPart, !object.hasFault(forRelationshipNamed: relationship.name) else {
                return false
            }
            return (object.value(forKey: relationship.name) as? NSManagedObject)?.hasChanges == true
        }
    }

    // MARK: What is there

    /// The records of the store that the batch's keys name, by the key's text.
    private func existing() throws -> [String: NSManagedObject] {
        guard let key else { return [:] }
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = entity
        let values = records.compactMap { keyValues(of: $0.fields) }
        guard !values.isEmpty else { return [:] }
        if key.single != nil {
            request.predicate = NSPredicate(format: "%K IN %@", key.attributes[0].name, values.map { $0[0] })
        } else {
            request.predicate = NSCompoundPredicate(
                orPredicateWithSubpredicates: values.map { values in
                    NSCompoundPredicate(
                        andPredicateWithSubpredicates: zip(key.attributes, values).map {
                            NSPredicate(format: "%K == %@", $0.name, $1)
                        })
                })
        }
        var result: [String: NSManagedObject] = [:]
        for object in try context.fetch(request) {
            if let text = key.text(of: object) { result[text] = object }
        }
        return result
    }

    /// The values of the unique key; `nil` where the record lacks one, or where it is not of the attribute's type.
    private func keyValues(of fields: RecordFields) -> [Any]? {
        guard let key else { return nil }
        var values: [Any] = []
        for attribute in key.attributes {
            guard let field = fields.last(where: { $0.key == attribute.name }),
                let value = (try? ValueParser.value(from: field.value, for: attribute)) ?? nil
            else { return nil }
            values.append(value)
        }
        return values
    }

    private func keyText(of fields: RecordFields) -> String? {
        keyValues(of: fields).flatMap { key?.text(of: $0) }
    }

    private func prefetchReferences() throws {
        for relationship in entity.storedRelationships where !relationship.isToMany {
            guard let destination = relationship.destinationEntity else { continue }
            let values = records.compactMap { record -> JSONValue? in
                guard let value = record.fields.last(where: { $0.key == relationship.name })?.value else { return nil }
                switch value {
                case .string, .number: return value
                default: return nil
                }
            }
            if !values.isEmpty { try applier.references.prefetch(values, of: destination) }
        }
    }
}
