import Translation

/// Reads JSON values (RFC 8259) from bytes, one after the other.
///
/// Throws ``SyntaxError`` with the line. Nesting is limited, so that no input can exhaust the stack.
struct JSONParser {
    struct SyntaxError: Error {
        let line: Int
        let reason: String
    }

    private let bytes: ByteReader
    private static let deepestNesting = 256

    init(_ bytes: ByteReader) { self.bytes = bytes }

    /// The single value that `text` contains.
    /// - Throws: ``SyntaxError``.
    static func value(of text: String) throws -> JSONValue {
        let parser = JSONParser(ByteReader(Array(text.utf8), name: "the text"))
        let value = try parser.value()
        guard parser.nextMark() == nil else { throw parser.error("unexpected text after the value") }
        return value
    }

    /// Takes white space and returns the next byte without taking it.
    func nextMark() -> UInt8? {
        while let byte = bytes.peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { _ = bytes.next() }
        return bytes.peek()
    }

    /// Takes `mark` if it is the next byte after white space.
    func take(_ mark: Unicode.Scalar) -> Bool {
        guard nextMark() == UInt8(ascii: mark) else { return false }
        _ = bytes.next()
        return true
    }

    /// Takes the next value.
    func value(depth: Int = 0) throws -> JSONValue {
        guard depth < Self.deepestNesting else { throw error("nested deeper than \(Self.deepestNesting) levels") }
        bytes.noteValue()
        switch nextMark() {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case let byte? where byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte): return .number(try number())
        case nil: throw error("expected a value, found the end of the text")
        case let byte?: throw error("expected a value, found \(Self.quoted(byte))")
        }
    }

    /// An error at the next byte, or at the last one if the text has ended.
    func error(_ reason: Sentence) -> SyntaxError {
        SyntaxError(line: bytes.peek() == nil ? bytes.lastLine : bytes.line, reason: sentence(reason))
    }

    /// An error at the byte taken last.
    private func errorBefore(_ reason: Sentence) -> SyntaxError {
        SyntaxError(line: bytes.lastLine, reason: sentence(reason))
    }

    private func object(depth: Int) throws -> JSONValue {
        _ = bytes.next()
        var members: [(key: String, value: JSONValue)] = []
        var known: Set<String> = []
        if take("}") { return .object(members) }
        repeat {
            guard nextMark() == UInt8(ascii: "\"") else { throw unexpected("a key in quotation marks") }
            let key = try string()
            guard known.insert(key).inserted else { throw errorBefore("duplicate key “\(key)”") }
            guard take(":") else { throw unexpected("“:” after the key “\(key)”") }
            members.append((key, try value(depth: depth + 1)))
        } while take(",")
        guard take("}") else { throw unexpected("“,” or “}”") }
        return .object(members)
    }

    private func array(depth: Int) throws -> JSONValue {
        _ = bytes.next()
        var values: [JSONValue] = []
        if take("]") { return .array(values) }
        repeat { values.append(try value(depth: depth + 1)) } while take(",")
        guard take("]") else { throw unexpected("“,” or “]”") }
        return .array(values)
    }

    private func word(_ word: StaticString, _ value: JSONValue) throws -> JSONValue {
        for expected in String(describing: word).utf8 {
            guard bytes.next() == expected else { throw error("expected “\(word)”") }
        }
        return value
    }

    private func number() throws -> String {
        var digits: [UInt8] = []
        if bytes.peek() == UInt8(ascii: "-") { digits.append(bytes.next() ?? 0) }
        let first = digits.count
        takeDigits(into: &digits)
        guard digits.count > first, digits[first] != 0x30 || digits.count == first + 1 else {
            throw error("malformed number")
        }
        if bytes.peek() == UInt8(ascii: ".") {
            digits.append(bytes.next() ?? 0)
            guard takeDigits(into: &digits) else { throw error("malformed number") }
        }
        if bytes.peek() == UInt8(ascii: "e") || bytes.peek() == UInt8(ascii: "E") {
            digits.append(bytes.next() ?? 0)
            if bytes.peek() == UInt8(ascii: "+") || bytes.peek() == UInt8(ascii: "-") {
                digits.append(bytes.next() ?? 0)
            }
            guard takeDigits(into: &digits) else { throw error("malformed number") }
        }
        return String(decoding: digits, as: UTF8.self)
    }

    @discardableResult
    private func takeDigits(into digits: inout [UInt8]) -> Bool {
        let before = digits.count
        while let byte = bytes.peek(), (0x30...0x39).contains(byte) {
            digits.append(byte)
            _ = bytes.next()
        }
        return digits.count > before
    }

    private func string() throws -> String {
        _ = bytes.next()
        var content: [UInt8] = []
        while let byte = bytes.next() {
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: content, as: UTF8.self) else { throw error("text is not UTF-8") }
                return text
            case UInt8(ascii: "\\"): content += try escape()
            case 0..<0x20: throw errorBefore("control character in a text: write it as \\u00XX")
            default: content.append(byte)
            }
        }
        throw error("the text ends inside a string")
    }

    private func escape() throws -> [UInt8] {
        switch bytes.next() {
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "\""): return [0x22]
        case UInt8(ascii: "\\"): return [0x5C]
        case UInt8(ascii: "/"): return [0x2F]
        case UInt8(ascii: "u"): return Array(String(Character(try scalarEscape())).utf8)
        default: throw error("unknown escape in a text")
        }
    }

    private func scalarEscape() throws -> Unicode.Scalar {
        var code = try hexadecimal()
        if (0xD800..<0xDC00).contains(code) {
            guard bytes.next() == UInt8(ascii: "\\"), bytes.next() == UInt8(ascii: "u") else {
                throw error("incomplete surrogate pair in a text")
            }
            let low = try hexadecimal()
            guard (0xDC00..<0xE000).contains(low) else { throw error("incomplete surrogate pair in a text") }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw error("incomplete surrogate pair in a text") }
        return scalar
    }

    private func hexadecimal() throws -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = bytes.next(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw error("\\u needs four hexadecimal digits")
            }
            code = code << 4 | UInt32(digit)
        }
        return code
    }

    private func unexpected(_ what: Sentence) -> SyntaxError {
        let wanted = sentence(what)
        guard let byte = nextMark() else { return error("expected \(wanted), found the end of the text") }
        return error("expected \(wanted), found \(Self.quoted(byte))")
    }

    private static func quoted(_ byte: UInt8) -> String {
        (0x21..<0x7F).contains(byte) ? "“\(Character(Unicode.Scalar(byte)))”" : "byte \(byte)"
    }
}
