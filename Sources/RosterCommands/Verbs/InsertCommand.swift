import CoreData
import Foundation

/// `insert`: inserts a record.
public struct InsertCommand {
    /// Location of the store and its model.
    public var store: StoreLocation
    /// The name of the entity.
    public var entity: String
    /// The values to set.
    public var assignments: [Assignment]
    /// True to print the changes without saving them.
    public var isDryRun: Bool
    /// Format of the output.
    public var format: OutputFormat

    /// Creates the command; see the properties.
    public init(
        store: StoreLocation, entity: String, assignments: [Assignment], isDryRun: Bool = false,
        format: OutputFormat = .table
    ) {
        self.store = store
        self.entity = entity
        self.assignments = assignments
        self.isDryRun = isDryRun
        self.format = format
    }

    /// Prints the new record.
    /// - Throws: ``CommandError``, or an error of the framework; then nothing was saved.
    public func run(in surroundings: CommandSurroundings) throws {
        let session = try StoreSession(store, for: isDryRun ? .reading : .writing, in: surroundings)
        try session.perform {
            let entity = try session.entity(named: entity)
            if entity.isAbstract {
                throw CommandError.misuse("\(entity.name ?? "") is abstract; name one of its subentities")
            }
            let object = NSManagedObject.make(entity, in: session.context)
            try AssignmentApplier(context: session.context).apply(assignments, to: object)
            let differences = ChangeReport.differences(of: object)
            if isDryRun {
                try EditValidation.validate(session.context)
                try EditValidation.checkUniqueness(of: object, in: session.context)
            } else {
                try session.context.save()
            }
            try SavedReport.telling(!isDryRun) {
                let report = ChangeReport(format: format, surroundings: surroundings)
                try report.begin()
                try report.changed(object, isDryRun ? "would insert" : "inserted", differences)
                try surroundings.output.flush()
            }
        }
    }
}
