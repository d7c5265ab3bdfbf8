import CoreData
import Foundation

/// Records of a pipe or a file in a temporary store whose model is inferred from them, for showing records without a
/// store.
public struct TemporaryStore: Sendable {
    /// The input has no records.
    public struct Empty: Error {}

    /// The name of the entity.
    public static let entity = "Record"
    /// Name of the only column of a file whose first line is a number and therefore not a heading.
    public static let numberKey = "value"
    /// The attribute with the number of the record in its file, from 1.
    public static let rowKey = "row"

    /// Folder of the store. The caller removes it.
    public let folder: URL
    /// The store in the folder.
    public let store: URL
    /// The keys as written in the input, in order, without ``rowKey``.
    public let keys: [String]
    /// Number of records read.
    public let count: Int
    /// True if the first line contained the keys.
    public let hasLineOfKeys: Bool

    /// Reads all records and creates the store in a new folder, which the caller removes.
    ///
    /// The values of a column decide its type: integers, numbers, Booleans, dates, else text. JSON arrays and objects
    /// become their text.
    ///
    /// - Parameters:
    ///   - path: `-` is standard input.
    ///   - format: `nil` to detect it by the name, or else by the first line.
    ///   - delimiter: the character between the fields of CSV or TSV; `nil` for a comma or a tab.
    /// - Throws: ``Empty``, or ``CommandError`` with file, line and reason; then the folder is removed.
    public init(
        reading path: String, format: OutputFormat? = nil, delimiter: Character? = nil, below parent: URL,
        in surroundings: CommandSurroundings
    ) throws {
        folder = parent.appendingPathComponent("roster-\(UUID().uuidString)")
        store = folder.appendingPathComponent("Records.sqlite")
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            // Records are read twice: for the types and for the values.
            let file = path == "-" ? try Self.spool(to: folder) : path
            defer { if path == "-" { unlink(file) } }
            let format =
                try format ?? OutputFormat(pathExtension: URL(fileURLWithPath: path).pathExtension)
                ?? (delimiter == nil ? Self.sniffed(file) : nil)
            let name = path == "-" ? "standard input" : path
            let escapes = try format != .tsv || !Self.hasForeignBackslashes(file)
            let reader = {
                try RecordFileReader(
                    path: file, format: format, delimiter: delimiter, escapes: escapes, keyOfNumbers: Self.numberKey,
                    interruption: surroundings.interruption)
            }
            let (columns, hasLineOfKeys) = try Self.naming(name, insteadOf: file) {
                let reader = try reader()
                return (try InferredColumns(reader), reader.hasLineOfKeys)
            }
            guard !columns.list.isEmpty else { throw Empty() }
            keys = columns.list.map(\.attribute)
            count = columns.recordCount
            self.hasLineOfKeys = hasLineOfKeys
            let session = try StoreSession(creating: StorePlace(url: store), model: columns.model)
            try Self.naming(name, insteadOf: file) {
                let reader = try reader()
                try Self.fill(session, with: reader, columns, surroundings)
            }
            try session.close()
        } catch {
            try? FileManager.default.removeItem(at: folder)
            throw error
        }
    }

    /// True for a file whose name, or the format that the user names, is that of records, and which is not a store.
    public static func isFileOfRecords(_ path: String, format: OutputFormat?) -> Bool {
        guard StorePlace.isPlainFile(path),
            format ?? OutputFormat(pathExtension: (path as NSString).pathExtension) != nil
        else { return false }
        let start = StoreHeader.start(of: path) ?? []
        return ![Array("SQLite format 3".utf8), Array("bplist".utf8), Array("RosterBinary1".utf8)].contains {
            start.starts(with: $0)
        }
    }

    /// Replaces the temporary file's name in errors by the name of the input.
    private static func naming<Result>(_ name: String, insteadOf file: String, _ body: () throws -> Result) throws
        -> Result
    {
        do { return try body() } catch let error as CommandError {
            throw CommandError(kind: error.kind, message: error.message.replacing(file, with: name))
        }
    }

    private static func spool(to folder: URL) throws -> String {
        let path = folder.appendingPathComponent("input").path
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]),
            let file = FileHandle(forWritingAtPath: path)
        else { throw CommandError.failure("cannot write to \(folder.path)") }
        defer { try? file.close() }
        while let data = try FileHandle.standardInput.read(upToCount: 1 << 18), !data.isEmpty {
            try file.write(contentsOf: data)
        }
        return path
    }

    /// True if a backslash begins an escape that TSV does not have, as in `C:\Users`. Then another program wrote the
    /// text, and backslashes are plain characters.
    private static func hasForeignBackslashes(_ path: String) throws -> Bool {
        let bytes = try ByteReader(path: path)
        while let byte = bytes.next() {
            guard byte == 0x5C else { continue }
            guard let next = bytes.next(), "tnrN\\".utf8.contains(next) else { return true }
        }
        return false
    }

    /// Detects the format of a file by its beginning: TSV if the first line contains tabs; JSON if the text begins with
    /// a brace or bracket.
    private static func sniffed(_ path: String) throws -> OutputFormat? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        let beginning = try file.read(upToCount: 1 << 16) ?? Data()
        let line = beginning.prefix { $0 != 0x0A }
        return line.contains(0x09) && !line.contains(UInt8(ascii: "{")) ? .tsv : nil
    }

    // SAFETY: the handler runs on the queue on which the request is executed, while this thread waits for it.
    private static func fill(
        _ session: StoreSession, with reader: RecordFileReader, _ columns: InferredColumns,
        _ surroundings: CommandSurroundings
    ) throws {
        defer { surroundings.progress.end() }
        guard let entity = session.model.entitiesByName[Self.entity] else { return }
        nonisolated(unsafe) var failure: (any Error)?
        nonisolated(unsafe) var row = 0
        let request = NSBatchInsertRequest(entity: entity) { (values: NSMutableDictionary) in
            do {
                if surroundings.interruption.isRaised { throw CommandError.interrupted }
                guard let (_, fields) = try reader.next() else { return true }
                row += 1
                values[Self.rowKey] = row
                for (key, value) in columns.values(of: fields) { values[key] = value }
                if row.isMultiple(of: 1000) {
                    surroundings.progress.report(fraction: reader.fraction, "\(row) records")
                }
                return false
            } catch {
                failure = error
                return true
            }
        }
        _ = try session.perform { try session.context.execute(request) }
        if let failure { throw failure }
    }
}
