import CoreData
import Foundation

/// `delete`: deletes all matching records, and those that the delete rules include, in one transaction.
public struct DeleteCommand {
    /// Location of the store and its model.
    public var store: StoreLocation
    /// The name of the entity.
    public var entity: String
    /// Predicate format text.
    public var predicate: String
    /// True to print the changes without saving them.
    public var isDryRun: Bool
    /// Format of the output.
    public var format: OutputFormat

    /// Creates the command; see the properties.
    public init(
        store: StoreLocation, entity: String, predicate: String, isDryRun: Bool = false, format: OutputFormat = .table
    ) {
        self.store = store
        self.entity = entity
        self.predicate = predicate
        self.isDryRun = isDryRun
        self.format = format
    }

    /// Prints each deleted record, including those deleted by the delete rules, then their number.
    /// - Throws: ``CommandError``, or an error of the framework; then nothing was deleted.
    public func run(in surroundings: CommandSurroundings) throws {
        let session = try StoreSession(store, for: isDryRun ? .reading : .writing, in: surroundings)
        try session.perform {
            let entity = try session.entity(named: entity)
            let request = try RecordQuery(predicate: predicate).preferablyOrdered(for: entity).request(for: entity)
            let objects = try RecordQuery.asking { try session.context.fetch(request) }
            // The report is made before the save: a deleted record has no label.
            let recorder = ChangeRecorder(format: format, surroundings: surroundings)
            for object in objects { session.context.delete(object) }
            session.context.processPendingChanges()
            let matching = Set(objects)
            let others = session.context.deletedObjects.subtracting(matching)
                .sorted { RecordLabel.uri(of: $0) < RecordLabel.uri(of: $1) }
            let type = isDryRun ? "would delete" : "deleted"
            for object in objects + others { try recorder.report.changed(object, type, []) }
            if isDryRun { try EditValidation.validate(session.context) } else { try session.context.save() }
            try SavedReport.telling(!isDryRun) {
                try recorder.release()
                if format == .table {
                    let taken = others.isEmpty ? "" : ", and \(others.count) related ones by delete rules"
                    try surroundings.output.write("\(type) \(objects.count)\(taken)\n")
                }
                try surroundings.output.flush()
            }
        }
    }
}

/// Buffers a report until the deletion is saved.
private final class ChangeRecorder: TextOutput {
    private var held = ""
    private let surroundings: CommandSurroundings
    private let format: OutputFormat

    init(format: OutputFormat, surroundings: CommandSurroundings) {
        self.format = format
        self.surroundings = surroundings
    }

    var report: ChangeReport {
        ChangeReport(
            format: format,
            surroundings: CommandSurroundings(
                output: self, progress: surroundings.progress, interruption: surroundings.interruption,
                textStyle: surroundings.textStyle, note: surroundings.note))
    }

    func write(_ text: String) throws { held += text }
    func flush() throws {}

    func release() throws {
        try ChangeReport(format: format, surroundings: surroundings).begin()
        try surroundings.output.write(held)
    }
}
