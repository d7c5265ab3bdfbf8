import Translation

/// The two kinds of delimited text.
///
/// In CSV (RFC 4180) an empty field without quotation marks is NULL and `""` is the empty text. In TSV nothing is quoted:
/// `\N` is NULL, and `\t`, `\n`, `\r` and `\\` stand for the characters.
enum DelimitedText {
    case csv
    case tsv

    private var separator: String { self == .csv ? "," : "\t" }

    /// One line including its end. `nil` is written as NULL.
    func line(_ fields: [String?]) -> String {
        fields.map(field).joined(separator: separator) + (self == .csv ? "\r\n" : "\n")
    }

    private func field(_ value: String?) -> String {
        switch self {
        case .csv:
            guard let value else { return "" }
            let needsQuotes =
                value.isEmpty || value.utf8.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }
            return needsQuotes ? "\"" + escaped(value) { $0 == "\"" ? "\"\"" : nil } + "\"" : value
        case .tsv:
            guard let value else { return "\\N" }
            guard value.utf8.contains(where: { $0 == 0x5C || $0 < 0x20 }) else { return value }
            return escaped(value) { scalar in
                switch scalar {
                case "\\": "\\\\"
                case "\t": "\\t"
                case "\n": "\\n"
                case "\r": "\\r"
                default: nil
                }
            }
        }
    }

    /// Works on scalars: a combining mark after a quotation mark forms one character with it.
    private func escaped(_ value: String, _ escape: (Unicode.Scalar) -> String?) -> String {
        var result = String.UnicodeScalarView()
        for scalar in value.unicodeScalars {
            if let text = escape(scalar) {
                result.append(contentsOf: text.unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }
}

/// Reads the lines of delimited text as fields.
final class DelimitedReader {
    struct SyntaxError: Error {
        let line: Int
        let reason: String
        /// True if nothing after the error can be read: it is not known where the next line begins.
        var isFatal = false
    }

    let kind: DelimitedText
    private let bytes: ByteReader
    private let separator: UInt8
    private let escapes: () throws -> Bool
    private var knownEscapes: Bool?

    /// - Parameters:
    ///   - separator: the byte between fields; `nil` for the kind's own.
    ///   - escapes: returns true if backslashes in TSV begin escapes; else they are plain characters. Called once, at
    ///     the first one.
    init(
        _ bytes: ByteReader, kind: DelimitedText, separator: UInt8? = nil,
        escapes: @escaping () throws -> Bool = { true }
    ) {
        self.bytes = bytes
        self.kind = kind
        self.separator = separator ?? (kind == .csv ? UInt8(ascii: ",") : 0x09)
        self.escapes = escapes
    }

    /// True if a backslash and this byte are an escape of TSV.
    static func endsEscape(_ byte: UInt8) -> Bool { Array("tnrN\\".utf8).contains(byte) }

    /// The fields of the next line, or `nil` at the end.
    ///
    /// - Parameter skipsEmptyLines: true to return the next line that is not empty.
    func next(skipsEmptyLines: Bool = true) throws -> [String?]? {
        while skipsEmptyLines, let byte = bytes.peek(), byte == 0x0A || byte == 0x0D { _ = bytes.next() }
        guard bytes.peek() != nil else { return nil }
        var fields: [String?] = []
        while true {
            bytes.noteValue()
            fields.append(try kind == .csv ? commaField() : tabField())
            switch bytes.next() {
            case separator: continue
            case 0x0D:
                if bytes.peek() == 0x0A { _ = bytes.next() }
                return fields
            default: return fields
            }
        }
    }

    /// Takes the rest of the line after an error.
    func skipLine() {
        while let byte = bytes.next(), byte != 0x0A {
            // A carriage return may end a line by itself.
            if byte == 0x0D, bytes.peek() != 0x0A { return }
        }
    }

    private func commaField() throws -> String? {
        var content: [UInt8] = []
        guard bytes.peek() == 0x22 else {
            while let byte = bytes.peek(), byte != separator, byte != 0x0A, byte != 0x0D {
                if byte == 0x22 {
                    throw error("unexpected quotation mark: quote the whole field and double quotation marks in it")
                }
                content.append(byte)
                _ = bytes.next()
            }
            return content.isEmpty ? nil : try text(content)
        }
        let start = bytes.line
        _ = bytes.next()
        while let byte = bytes.next() {
            guard byte == 0x22 else {
                content.append(byte)
                continue
            }
            guard bytes.peek() == 0x22 else {
                switch bytes.peek() {
                case nil, separator, 0x0A, 0x0D: return try text(content)
                default: throw error("unexpected text after the closing quotation mark of a field")
                }
            }
            content.append(0x22)
            _ = bytes.next()
        }
        throw SyntaxError(
            line: start, reason: sentence("missing closing quotation mark for the field that begins in this line"),
            isFatal: true
        )
    }

    private func tabField() throws -> String? {
        var content: [UInt8] = []
        while let byte = bytes.peek(), byte != separator, byte != 0x0A, byte != 0x0D {
            _ = bytes.next()
            guard byte == 0x5C, try hasEscapes() else {
                content.append(byte)
                continue
            }
            switch bytes.next() {
            case UInt8(ascii: "t"): content.append(0x09)
            case UInt8(ascii: "n"): content.append(0x0A)
            case UInt8(ascii: "r"): content.append(0x0D)
            case 0x5C: content.append(0x5C)
            case UInt8(ascii: "N") where content.isEmpty:
                switch bytes.peek() {
                case nil, separator, 0x0A, 0x0D: return nil
                default: throw error("unexpected text after \\N, which means NULL; write \\\\N for a backslash and N")
                }
            default: throw error("unknown escape; write \\\\ for a backslash")
            }
        }
        return try text(content)
    }

    private func hasEscapes() throws -> Bool {
        let answer = try knownEscapes ?? escapes()
        knownEscapes = answer
        return answer
    }

    private func text(_ content: [UInt8]) throws -> String {
        guard let text = String(validating: content, as: UTF8.self) else {
            throw error("text is not UTF-8; --encoding latin-1 reads that of older programs")
        }
        return text
    }

    private func error(_ reason: Sentence) -> SyntaxError {
        SyntaxError(line: bytes.line, reason: sentence(reason))
    }
}
