import CoreData
import Foundation
import Translation

/// `import`: imports records from a file. Records with an existing unique key are updated.
///
/// Each batch is one transaction: after an error, an interruption or a crash, the store contains complete batches.
public struct ImportCommand: Sendable {
    /// Location of the store and its model.
    public var store: StoreLocation
    /// The name of the entity.
    public var entity: String
    /// Path of the file; `-` for standard input.
    public var file: String
    /// `nil` to detect it by the file.
    public var format: OutputFormat?
    /// The character between the fields of CSV or TSV; `nil` to guess that of CSV.
    public var delimiter: Character?
    /// Encoding of a file without a byte order mark; `nil` for UTF-8.
    public var encoding: TextEncoding?
    /// True to leave out invalid records and lines, with a note for each.
    public var skipsBad: Bool
    /// Number of records in one transaction.
    public var batchSize: Int
    /// True to print the changes without saving them.
    public var isDryRun: Bool

    /// Creates the command; see the properties.
    public init(
        store: StoreLocation, entity: String, file: String, format: OutputFormat? = nil, delimiter: Character? = nil,
        encoding: TextEncoding? = nil, skipsBad: Bool = false, batchSize: Int = 1000, isDryRun: Bool = false
    ) {
        self.store = store
        self.entity = entity
        self.file = file
        self.format = format
        self.delimiter = delimiter
        self.encoding = encoding
        self.skipsBad = skipsBad
        self.batchSize = batchSize
        self.isDryRun = isDryRun
    }

    /// Prints the numbers of inserted, changed and unchanged records.
    /// - Throws: ``CommandError`` with file, line, record, key and value of the error, and the number of imported
    ///   records.
    @discardableResult
    public func run(in surroundings: CommandSurroundings) throws -> Counts {
        guard batchSize > 0 else { throw CommandError.misuse("--batch must be at least 1") }
        let session = try StoreSession(store, for: isDryRun ? .reading : .writing, in: surroundings)
        let counts = try session.perform {
            let entity = try session.entity(named: entity)
            if entity.isAbstract {
                throw CommandError.misuse("\(entity.name ?? "") is abstract; name one of its subentities")
            }
            let reader = try RecordFileReader(
                path: file, format: format, delimiter: delimiter, encoding: encoding,
                interruption: surroundings.interruption)
            return try Self.importRecords(
                from: reader, into: entity, of: session, batchSize: batchSize, skipsBad: skipsBad, isDryRun: isDryRun,
                surroundings)
        }
        if !isDryRun { try session.close() }
        try SavedReport.telling(!isDryRun) {
            try surroundings.output.write(counts.report(isDryRun: isDryRun) + "\n")
            try surroundings.output.flush()
        }
        return counts
    }

    /// Results for the records of committed batches.
    public struct Counts: Sendable {
        var inserted = 0
        var updated = 0
        var unchanged = 0
        /// Number of invalid records that were left out.
        public internal(set) var skipped = 0

        var total: Int { inserted + updated + unchanged }

        /// The counts in one sentence.
        public func report(isDryRun: Bool) -> String {
            (isDryRun ? "would import " : "imported ")
                + "\(RecordCount.text(total)): \(inserted) new, \(updated) changed, \(unchanged) unchanged"
                + (skipped == 0 ? "" : "; \(skipped) skipped")
        }

        mutating func add(_ other: Counts) {
            inserted += other.inserted
            updated += other.updated
            unchanged += other.unchanged
        }
    }

    /// Imports all records of `reader`. Call on the queue of the session's context.
    static func importRecords(
        from reader: RecordFileReader, into entity: NSEntityDescription, of session: StoreSession, batchSize: Int,
        skipsBad: Bool, isDryRun: Bool, _ surroundings: CommandSurroundings
    ) throws -> Counts {
        var counts = Counts()
        let batch = ImportBatch(entity: entity, context: session.context)
        var skipped = 0
        if skipsBad {
            let skip = { (error: CommandError) in
                skipped += 1
                if skipped <= notedSkips { surroundings.note(error.message) }
            }
            (reader.onSkip, batch.onSkip) = (skip, skip)
        }
        defer { surroundings.progress.end() }
        do {
            var isAtEnd = false
            while !isAtEnd {
                if surroundings.interruption.isRaised { throw CommandError.failure("interrupted") }
                while batch.count < batchSize {
                    guard let (place, fields) = try reader.next() else {
                        isAtEnd = true
                        break
                    }
                    try batch.add(fields, at: place)
                }
                counts.add(try batch.commit(isDryRun: isDryRun))
                surroundings.progress.report(fraction: reader.fraction, RecordCount.text(counts.total))
            }
        } catch {
            let outcome =
                isDryRun || counts.total == 0
                ? tr("nothing was imported")
                : counts.total == 1
                    ? tr("1 record was already imported")
                    : sentence("\(counts.total) records were already imported")
            let kind = (error as? CommandError)?.kind ?? .failure
            let line = CommandError.line(for: error)
            throw CommandError(
                kind: kind, message: (line.hasSuffix(".") ? line.dropLast() : line[...]) + "; " + outcome)
        }
        counts.skipped = skipped
        if skipped > notedSkips { surroundings.note(sentence("\(skipped - notedSkips) more records were skipped")) }
        return counts
    }

    /// Greatest number of skipped records that are reported one by one.
    private static let notedSkips = 20
}
