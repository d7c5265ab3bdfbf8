import CoreData
import Foundation

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

    /// The command with what it is asked for; see the properties.
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

    /// - Returns: how many records were written.
    /// - Throws: ``CommandError``, or an error of the framework; then no file was written.
    @discardableResult
    public func run(in surroundings: CommandSurroundings) throws -> Int {
        let session = try StoreSession(store, for: .reading, in: surroundings)
        guard let file, file != "-" else { return try write(session, surroundings) }
        let output = try FileOutput(path: file)
        let count = try write(
            session,
            CommandSurroundings(
                output: output, progress: surroundings.progress, interruption: surroundings.interruption,
                textStyle: TextStyle(columns: nil, isEmphasized: false, width: surroundings.textStyle.width),
                note: surroundings.note))
        try output.finish()
        return count
    }

    private func write(_ session: StoreSession, _ surroundings: CommandSurroundings) throws -> Int {
        let format =
            format ?? file.flatMap { OutputFormat(pathExtension: URL(fileURLWithPath: $0).pathExtension) } ?? .json
        let count = try session.perform {
            let entity = try session.entity(named: entity)
            let request = try query.preferablyOrdered(for: entity).request(for: entity)
            request.fetchBatchSize = 500
            let chosen = try columns.map { try ColumnChoice.named($0, of: entity) }
            var writer = format.writer(
                try chosen ?? ColumnChoice.export(of: entity, nests: format == .json), in: surroundings)
            let objects = try RecordQuery.asking { try session.context.fetch(request) }
            defer { surroundings.progress.end() }
            for (index, object) in objects.enumerated() {
                if surroundings.interruption.isRaised { throw CommandError.interrupted }
                try writer.record(object)
                if index.isMultiple(of: 500) {
                    surroundings.progress.report(fraction: Double(index) / Double(objects.count), "\(index) records")
                }
            }
            try writer.end()
            return objects.count
        }
        session.tellNotes(in: surroundings)
        try surroundings.output.flush()
        return count
    }
}
