import CoreData
import Foundation

/// `update`: sets properties of all matching records in one transaction.
public struct UpdateCommand {
    /// Location of the store and its model.
    public var store: StoreLocation
    /// The name of the entity.
    public var entity: String
    /// Predicate format text.
    public var predicate: String
    /// The values to set.
    public var assignments: [Assignment]
    /// True to print the changes without saving them.
    public var isDryRun: Bool
    /// Number of further attempts if other programs change the same records.
    public var retries: Int
    /// Format of the output.
    public var format: OutputFormat

    /// Creates the command; see the properties.
    public init(
        store: StoreLocation, entity: String, predicate: String, assignments: [Assignment], isDryRun: Bool = false,
        retries: Int = 0, format: OutputFormat = .table
    ) {
        self.store = store
        self.entity = entity
        self.predicate = predicate
        self.assignments = assignments
        self.isDryRun = isDryRun
        self.retries = retries
        self.format = format
    }

    /// Prints the changes of each changed record, then their number.
    /// - Throws: ``CommandError``, or an error of the framework; then nothing was saved.
    public func run(in surroundings: CommandSurroundings) throws {
        let session = try StoreSession(store, for: isDryRun ? .reading : .writing, in: surroundings)
        try session.perform {
            for left in (0...max(retries, 0)).reversed() {
                do { return try update(in: session, surroundings) } catch is DeletedRecords {
                    guard left > 0 else {
                        throw CommandError.failure(
                            "nothing was changed: another program deleted some of the records. Try again")
                    }
                } catch let error as CocoaError where left > 0 && error.code == .managedObjectMerge {}
                session.context.reset()
            }
        }
    }

    /// Another program deleted records after they were found.
    private struct DeletedRecords: Error {}

    private func update(in session: StoreSession, _ surroundings: CommandSurroundings) throws {
        let entity = try session.entity(named: entity)
        let request = try RecordQuery(predicate: predicate).preferablyOrdered(for: entity).request(for: entity)
        let applier = AssignmentApplier(context: session.context)
        let objects = try RecordQuery.asking { try session.context.fetch(request) }
        for object in objects {
            if surroundings.interruption.isRaised { throw CommandError.failure("interrupted; nothing was changed") }
            try applier.apply(assignments, to: object)
        }
        session.context.processPendingChanges()
        // An object whose row was deleted before its values were read counts as deleted.
        guard !objects.contains(where: \.isDeleted) else { throw DeletedRecords() }
        let changes = objects.map { ($0, ChangeReport.differences(of: $0)) }.filter { !$0.1.isEmpty }
        if isDryRun { try EditValidation.validate(session.context) } else { try session.context.save() }
        try SavedReport.telling(!isDryRun) {
            let report = ChangeReport(format: format, surroundings: surroundings)
            try report.begin()
            let type = isDryRun ? "would update" : "updated"
            for (object, differences) in changes { try report.changed(object, type, differences) }
            if format == .table {
                try surroundings.output.write("\(type) \(changes.count) of \(objects.count) that match\n")
            }
            try surroundings.output.flush()
        }
    }
}
