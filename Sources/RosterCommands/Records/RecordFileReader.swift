import Foundation
import Translation

/// Position of a record in a file.
struct RecordPlace {
    let file: String
    let line: Int
    /// The number of the record in the file, counted from 1.
    let number: Int

    /// An error of this record: `teams.json:13: record 12: wins: “abc” is not a whole number`.
    func failure(_ reason: String) -> CommandError {
        .failure("\(file):\(line): record \(number): \(reason)")
    }
}

/// Reads records from a file, one by one: JSON as an array of objects or as consecutive objects, CSV and TSV with a
/// line of keys.
final class RecordFileReader {
    private enum Source {
        case jsonArray(JSONParser)
        case jsonObjects(JSONParser)
        case delimited(DelimitedReader, keys: [String])
    }

    private let bytes: ByteReader
    private let source: Source
    private var number = 0
    private var isAtEnd = false
    /// True if the last line was read to its end.
    private var isAtLineStart = false
    /// The only field of a first line that is a record, until it is returned.
    private var first: String?

    /// - Parameters:
    ///   - path: `-` is standard input.
    ///   - format: `nil` to detect it by the file's name, or else by its first byte. A table cannot be read.
    ///   - key: the key of the only field of each line if the first line is a single number; `nil` if the first line
    ///     always contains the keys.
    ///   - delimiter: one ASCII character between the fields of CSV or TSV; `nil` to guess that of CSV.
    ///   - encoding: that of a file without a byte order mark; `nil` for UTF-8.
    ///   - escapes: true if backslashes in TSV begin escapes. A file with a backslash that begins none has no escapes.
    ///   - interruption: ends the records with an error when it is raised.
    /// - Throws: ``CommandError`` if the file cannot be read or has another format.
    init(
        path: String, format: OutputFormat?, delimiter: Character? = nil, encoding: TextEncoding? = nil,
        escapes: Bool = true, keyOfNumbers key: String? = nil, interruption: (any Interruption)? = nil
    ) throws {
        let separator = try delimiter.map(Self.separator)
        let bytes = try ByteReader(path: path, interruption: interruption)
        try bytes.skipByteOrderMark(orElse: encoding)
        let parser = JSONParser(bytes)
        self.bytes = bytes
        let named = OutputFormat(pathExtension: URL(fileURLWithPath: path).pathExtension)
        switch format ?? (separator == nil ? named ?? Self.sniffed(parser) : named == .tsv ? .tsv : .csv) {
        case .json: source = parser.take("[") ? .jsonArray(parser) : .jsonObjects(parser)
        case .csv:
            let reader = DelimitedReader(
                bytes, kind: .csv, separator: separator ?? DelimiterGuess.separator(of: bytes.beginning))
            (source, first) = try Self.delimited(reader, bytes, key)
        case .tsv:
            let reader = DelimitedReader(
                bytes, kind: .tsv, separator: separator,
                escapes: {
                    // A pipe cannot be scanned in advance.
                    guard escapes, path != "-", bytes.length != nil else { return escapes }
                    return try RecordFileReader.hasEscapesOnly(path, encoding, interruption)
                })
            (source, first) = try Self.delimited(reader, bytes, key)
        case .table: throw CommandError.misuse("cannot read the format table: use json, csv or tsv")
        }
        if case .delimited = source { hasLineOfKeys = first == nil } else { hasLineOfKeys = false }
        if case .jsonArray(let parser) = source, parser.take("]") {
            isAtEnd = true
            try checkEnd(parser)
        }
        try bytes.throwIfFailed()
    }

    /// True if each backslash in a file begins an escape: other programs write those of Windows paths unescaped. A file
    /// with `\N` has escapes, and an invalid one in it is an error, so the scan ends at the first `\N`.
    private static func hasEscapesOnly(
        _ path: String, _ encoding: TextEncoding?, _ interruption: (any Interruption)?
    ) throws -> Bool {
        let bytes = try ByteReader(path: path, interruption: interruption, greatestRecord: .max)
        try bytes.skipByteOrderMark(orElse: encoding)
        var (hasOthers, isFirst, mayBeNothing) = (false, true, false)
        while let byte = bytes.next() {
            let isEnd = byte == 0x09 || byte == 0x0A || byte == 0x0D
            if mayBeNothing && isEnd { return true }
            mayBeNothing = false
            if byte == 0x5C {
                let escaped = bytes.next()
                hasOthers = hasOthers || escaped.map(DelimitedReader.endsEscape) != true
                mayBeNothing = isFirst && escaped == 0x4E
            }
            isFirst = isEnd
        }
        try bytes.throwIfFailed()
        return mayBeNothing || !hasOthers
    }

    /// Fraction of the file read so far, from 0 to 1; `nil` for a pipe.
    var fraction: Double? { bytes.fraction }

    /// True if the first line contains the keys.
    let hasLineOfKeys: Bool

    /// Receives the errors of lines that ``next()`` skips; `nil` if it throws them.
    var onSkip: ((CommandError) -> Void)?

    /// The next record, or `nil` after the last.
    /// - Throws: ``CommandError`` with place and reason.
    func next() throws -> (place: RecordPlace, fields: RecordFields)? {
        while true {
            guard !isAtEnd else { return nil }
            number += 1
            do {
                return try readNext()
            } catch let error as DelimitedReader.SyntaxError {
                try bytes.throwIfFailed()
                let failure = RecordPlace(file: bytes.name, line: error.line, number: number).failure(error.reason)
                guard let onSkip, !error.isFatal, case .delimited(let reader, _) = source else { throw failure }
                onSkip(failure)
                if !isAtLineStart { reader.skipLine() }
            }
        }
    }

    private func readNext() throws -> (place: RecordPlace, fields: RecordFields)? {
        isAtLineStart = false
        bytes.beginRecord()
        do {
            guard let (line, fields) = try read() else {
                isAtEnd = true
                try bytes.throwIfFailed()
                return nil
            }
            return (RecordPlace(file: bytes.name, line: line, number: number), fields)
        } catch let error as JSONParser.SyntaxError {
            try bytes.throwIfFailed()
            throw RecordPlace(file: bytes.name, line: error.line, number: number).failure(error.reason)
        }
    }

    private func read() throws -> (line: Int, fields: RecordFields)? {
        switch source {
        case .jsonArray(let parser):
            guard parser.nextMark() != nil else { throw parser.error("the text ends inside the array") }
            let record = try object(parser)
            if parser.take("]") {
                isAtEnd = true
                try checkEnd(parser)
            } else if !parser.take(",") {
                if parser.nextMark() == nil { throw parser.error("the text ends inside the array") }
                throw parser.error("expected “,” or “]”")
            }
            return record
        case .jsonObjects(let parser):
            guard parser.nextMark() != nil else { return nil }
            return try object(parser)
        case .delimited(_, let keys) where first != nil:
            defer { first = nil }
            return (1, zip(keys, [first]).map { ($0, $1.map(JSONValue.string) ?? .null) })
        case .delimited(let reader, let keys):
            let line = bytes.line
            // With one key a line may be empty: NULL in CSV, the empty text in TSV.
            guard let values = try reader.next(skipsEmptyLines: keys.count != 1) else { return nil }
            guard values.count == keys.count else {
                isAtLineStart = true
                throw DelimitedReader.SyntaxError(
                    line: line,
                    reason: values.count == 1
                        ? sentence("has 1 field, but the first line has \(keys.count)")
                        : sentence("has \(values.count) fields, but the first line has \(keys.count)"))
            }
            return (line, zip(keys, values).map { ($0, $1.map(JSONValue.string) ?? .null) })
        }
    }

    private func object(_ parser: JSONParser) throws -> (line: Int, fields: RecordFields) {
        _ = parser.nextMark()
        let line = bytes.line
        guard case .object(let fields) = try parser.value() else { throw parser.error("a record must be an object") }
        return (line, fields)
    }

    private func checkEnd(_ parser: JSONParser) throws {
        guard parser.nextMark() == nil else {
            throw CommandError.failure("\(bytes.name):\(bytes.line): unexpected text after the end of the array")
        }
    }

    private static func sniffed(_ parser: JSONParser) -> OutputFormat {
        switch parser.nextMark() {
        case UInt8(ascii: "{"), UInt8(ascii: "["): .json
        default: .csv
        }
    }

    private static func separator(_ delimiter: Character) throws -> UInt8 {
        guard let byte = delimiter.asciiValue, ![0x0A, 0x0D, 0x22, 0x5C].contains(byte) else {
            throw CommandError.misuse(
                "--delimiter must be an ASCII character other than a line break, quotation mark or backslash")
        }
        return byte
    }

    /// - Returns: also the only field of the first line if that is a record.
    private static func delimited(
        _ reader: DelimitedReader, _ bytes: ByteReader, _ key: String?
    ) throws -> (source: Source, first: String?) {
        do {
            guard let names = try reader.next() else { return (.delimited(reader, keys: []), nil) }
            let keys = names.compactMap { $0 }.filter { !$0.isEmpty }
            guard keys.count == names.count else {
                throw CommandError.failure("\(bytes.name):1: empty key: the first line must name the keys")
            }
            var known: Set<String> = []
            if let twice = keys.first(where: { !known.insert($0).inserted }) {
                throw CommandError.failure("\(bytes.name):1: duplicate key “\(twice)”")
            }
            if let key, keys.count == 1, Double(keys[0])?.isFinite == true {
                return (.delimited(reader, keys: [key]), keys[0])
            }
            return (.delimited(reader, keys: keys), nil)
        } catch let error as DelimitedReader.SyntaxError {
            try bytes.throwIfFailed()
            throw CommandError.failure("\(bytes.name):\(error.line): \(error.reason)")
        }
    }
}
