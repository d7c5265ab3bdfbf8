import CoreData
import Foundation
import Translation

/// `export`: records as text that `import` reads back.
public struct ExportCommand {
    /// The store, and where its model is.
    public var store: StoreLocation
    /// The name of the entity.
    public var entity: String
    /// `nil` or `-` is standard output. A file is written beside its place and put there when it is whole.
    public var file: String?
    /// Which records, in which order, in which sections.
    public var query: RecordQuery
    /// The columns in their order; `nil` for all.
    public var columns: [String]?
    /// `nil` to tell it by the file's name; JSON where that says nothing.
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
        /// Which values are missing in them, in one line: those in files that cannot be read, and those of another type than
        /// their attribute or of unknown classes.
        public let missing: String?
    }

    /// - Returns: what was written.
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
            // One state of the store, where it has states that can be kept: rows are read in batches.
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
        // A row is read as a whole: notes on other columns do not matter.
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
                "the order of \(name).\(relationship) is not in it; --columns with \(relationship) and the key writes it"
            )
        }
        if ofSubentities > 0 {
            let them = ofSubentities == 1 ? tr("1 record is") : sentence("\(ofSubentities) records are")
            texts.append(
                sentence(
                    "\(them) of entities below \(name): what only these have is not in it, and an import makes them records of \(name); export each by its name"
                ))
        }
        return texts
    }
}
