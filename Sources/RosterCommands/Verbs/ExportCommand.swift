import CoreData
import Foundation
import Translation

/// `export`: writes records as text that `import` reads back.
public struct ExportCommand: Sendable {
    /// Location of the store and its model.
    public var store: StoreLocation
    /// The name of the entity.
    public var entity: String
    /// `nil` or `-` for standard output. A file is replaced only after it was written completely.
    public var file: String?
    /// The records, their order and sections.
    public var query: RecordQuery
    /// The columns in their order; `nil` for all.
    public var columns: [String]?
    /// `nil` to detect it by the file's name; JSON if the name has no known extension.
    public var format: OutputFormat?

    /// Creates the command; see the properties.
    public init(
        store: StoreLocation, entity: String, file: String? = nil, query: RecordQuery = RecordQuery(),
        columns: [String]? = nil, format: OutputFormat? = nil
    ) {
        self.store = store
        self.entity = entity
        self.file = file
        self.query = query
        self.columns = columns
        self.format = format
    }

    /// Result of an export.
    public struct Outcome: Sendable {
        /// Number of records.
        public let count: Int
        /// One line about missing values: those in unreadable files, and those of unknown classes or of another type
        /// than their attribute.
        public let missing: String?
    }

    /// - Returns: a summary of the written records.
    /// - Throws: ``CommandError``, or an error of the framework; then no file was written.
    @discardableResult
    public func run(in surroundings: CommandSurroundings) throws -> Outcome {
        let session = try StoreSession(store, for: .reading, in: surroundings)
        guard let file, file != "-" else { return try write(session, surroundings) }
        let output = try FileOutput(OutputPlace(file, readingFrom: store.store))
        let outcome = try write(
            session,
            CommandSurroundings(
                output: output, progress: surroundings.progress, interruption: surroundings.interruption,
                textStyle: TextStyle(columns: nil, isEmphasized: false, width: surroundings.textStyle.width),
                note: surroundings.note))
        try output.finish()
        return outcome
    }

    private func write(_ session: StoreSession, _ surroundings: CommandSurroundings) throws -> Outcome {
        let format =
            format ?? file.flatMap { OutputFormat(pathExtension: URL(fileURLWithPath: $0).pathExtension) } ?? .json
        var shown: [NSPropertyDescription] = []
        let outcome = try session.perform {
            // Rows are read in batches, from one state of the store if its type supports that.
            try? session.context.setQueryGenerationFrom(.current)
            let entity = try session.entity(named: entity)
            let request = try query.preferablyOrdered(for: entity).request(for: entity)
            request.fetchBatchSize = 500
            let chosen = try self.columns.map { try ColumnChoice.named($0, of: entity) }
            let columns = try chosen ?? ColumnChoice.export(of: entity, nests: format == .json)
            shown = columns.flatMap(\.properties)
            var writer = format.writer(columns, in: surroundings)
            var missing = UnreadableValues(session.coordinator, countingUncoded: true)
            let objects = try RecordQuery.asking { try session.context.fetch(request) }
            defer { surroundings.progress.end() }
            var ofSubentities = 0
            var index = 0
            try RecordBatches.forEach(objects, of: entity, showing: columns) { object in
                if object.entity !== entity { ofSubentities += 1 }
                if surroundings.interruption.isRaised { throw CommandError.interrupted }
                try writer.record(object)
                for column in columns { try column.look(for: &missing, of: object) }
                if index.isMultiple(of: 500) {
                    surroundings.progress.report(fraction: Double(index) / Double(objects.count), "\(index) records")
                }
                index += 1
            }
            try writer.end()
            let outcome = Outcome(count: objects.count, missing: try missing.line())
            guard chosen == nil, !objects.isEmpty else { return outcome }
            for text in Self.leftOut(entity, ofSubentities) { surroundings.note(text) }
            return outcome
        }
        session.tellNotes(in: surroundings)
        try surroundings.output.flush()
        // Rows are read completely, so notes on columns that are not exported are skipped.
        guard outcome.missing == nil, let first = session.coordinator.readingNotes(of: shown).first else {
            return outcome
        }
        return Outcome(count: outcome.count, missing: sentence("some values are missing: \(first)"))
    }

    /// Values that an import of the file would not restore.
    private static func leftOut(_ entity: NSEntityDescription, _ ofSubentities: Int) -> [String] {
        let name = entity.name ?? ""
        var texts = ColumnChoice.orders(leftOutOf: entity).map { relationship in
            sentence(
                "the export lacks the order of \(name).\(relationship); add it with --columns, naming \(relationship) and the key"
            )
        }
        if ofSubentities > 0 {
            let them = ofSubentities == 1 ? tr("1 record is") : sentence("\(ofSubentities) records are")
            texts.append(
                sentence(
                    "\(them) of subentities of \(name): the export lacks properties that only these have. Export each subentity by its name"
                ))
        }
        return texts
    }
}
