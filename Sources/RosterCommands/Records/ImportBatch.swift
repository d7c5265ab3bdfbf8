import CoreData
import CoreDataImport
import Foundation
import Translation

/// The records of one transaction of an import. Use it on the context's queue.
final class ImportBatch {
    private let entity: NSEntityDescription
    private let context: NSManagedObjectContext
    private let importer: RecordImporter
    private var places: [RecordPlace] = []
    private var records: [ImportValue] = []

    init(entity: NSEntityDescription, context: NSManagedObjectContext) {
        self.entity = entity
        self.context = context
        importer = RecordImporting.importer(into: context, usesMappedNames: true)
    }

    var count: Int { records.count }

    /// - Throws: ``CommandError`` for a record that is not valid for the entity.
    func add(_ fields: RecordFields, at place: RecordPlace) throws {
        do {
            records.append(try RecordImporting.record(fields, of: entity, by: importer))
        } catch let problem as FieldProblem {
            let failure = place.failure(problem.sentence)
            guard let onSkip else { throw failure }
            return onSkip(failure)
        }
        places.append(place)
    }

    /// Receives the errors of records that are left out; `nil` if they are thrown.
    var onSkip: ((CommandError) -> Void)?

    /// An invalid record of the batch.
    private struct BadRecord: Error {
        let index: Int
        let error: CommandError
    }

    /// Saves the records as one transaction and starts a new batch. A dry run checks and discards them.
    ///
    /// Costs one fetch for existing records, and one for each other entity that they name; the same again for each record
    /// that is left out.
    /// - Throws: ``CommandError`` with the place of the invalid record; then none of the batch is saved.
    func commit(isDryRun: Bool) throws -> ImportCommand.Counts {
        defer {
            places.removeAll(keepingCapacity: true)
            records.removeAll(keepingCapacity: true)
            context.reset()
        }
        while !records.isEmpty {
            do {
                return try save(isDryRun: isDryRun)
            } catch let bad as BadRecord {
                guard let onSkip else { throw bad.error }
                onSkip(bad.error)
                records.remove(at: bad.index)
                places.remove(at: bad.index)
                context.reset()
            }
        }
        return ImportCommand.Counts()
    }

    private func save(isDryRun: Bool) throws -> ImportCommand.Counts {
        let result: ImportResult
        do {
            result = try importer.importRecords(records, into: entity.name ?? "")
        } catch let error as RecordImportError {
            throw BadRecord(
                index: error.record, error: places[error.record].failure(FieldProblem(error).sentence))
        }
        do {
            if isDryRun { try EditValidation.validate(context) } else { try context.save() }
        } catch {
            throw refusal(error as NSError, result)
        }
        return ImportCommand.Counts(
            inserted: result.count(.inserted), updated: result.count(.updated), unchanged: result.count(.unchanged))
    }

    /// The error of the invalid record, or else of the whole transaction.
    private func refusal(_ error: NSError, _ result: ImportResult) -> any Error {
        let several = (error.userInfo[NSDetailedErrorsKey] as? [any Error])?.map { $0 as NSError } ?? [error]
        let objects = several.map { $0.userInfo[NSValidationObjectErrorKey] as? NSManagedObject }
        for (index, object) in zip(places.indices, result.objects) {
            let own = zip(several, objects).filter { $1 != nil && $1 === object }.map(\.0)
            guard !own.isEmpty else { continue }
            let lines = own.map { CommandError.line(for: $0) }.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 }
            return BadRecord(
                index: index,
                error: places[index].failure(
                    own.count == 1 ? CommandError.line(for: own[0]) : lines.joined(separator: "; ")))
        }
        if records.count == 1 {
            return BadRecord(index: 0, error: places[0].failure(CommandError.line(for: error)))
        }
        return places[0].failure(
            sentence(
                "cannot save the \(records.count) records from this one on: \(CommandError.line(for: error))"
            ))
    }
}
