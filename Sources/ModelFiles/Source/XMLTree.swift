import Foundation

/// An element of an XML file with the line of its start. Text between elements, which models do not have, is skipped.
struct XMLTree {
    let name: String
    let attributes: [String: String]
    /// The names of the attributes in the order of the file.
    let attributeOrder: [String]
    let line: Int
    /// The bytes of the element in the file, from its `<` to its last `>`.
    var range: Range<Int>
    var children: [XMLTree] = []

    /// Parses a whole file. Cost: linear in the size.
    ///
    /// - Throws: ``ModelFileError`` with the line of the first XML error.
    static func parse(_ data: Data, file: String) throws -> XMLTree {
        do throws(XMLTreeParser.Failure) {
            var parser = try XMLTreeParser([UInt8](data))
            return try parser.parse()
        } catch {
            throw ModelFileError(
                .malformed, file: file, line: error.line, "this is not well-formed XML: \(error.reason)")
        }
    }

}

/// Reads XML into a tree.
///
/// Our own parser, because Foundation's on Linux crashes on some damaged files. It reads the parts that model files
/// have (elements, attributes, the predefined entities and character references, comments, CDATA, processing
/// instructions) in UTF-8, skips a document type, and resolves no other entity.
private struct XMLTreeParser {
    struct Failure: Error {
        let line: Int
        let reason: String
    }

    private let bytes: [UInt8]
    private var position = 0
    private var line = 1

    /// The maximum nesting. The deepest elements of models are entries of a user info.
    private let greatestDepth = 32

    init(_ bytes: [UInt8]) throws(Failure) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) {
            throw Failure(line: 1, reason: "it is UTF-16; save it as UTF-8")
        }
        if String(validating: bytes, as: UTF8.self) == nil {
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let broken = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
            throw Failure(line: broken + 1, reason: "it has bytes that are not UTF-8")
        }
    }

    mutating func parse() throws(Failure) -> XMLTree {
        try skipMiscellany()
        guard peek() == UInt8(ascii: "<") else { throw failure("it has no element") }
        let root = try element(depth: 0)
        try skipMiscellany()
        guard position == bytes.count else { throw failure("unexpected text after the root element") }
        return root
    }

    private func failure(_ reason: String) -> Failure { Failure(line: line, reason: reason) }

    // MARK: Elements

    /// Reads an element, beginning with its `<`.
    private mutating func element(depth: Int) throws(Failure) -> XMLTree {
        guard depth < greatestDepth else { throw failure("elements are nested too deeply for a model") }
        let (start, offset) = (line, position)
        advance()
        let name = try self.name()
        var attributes: [String: String] = [:]
        var order: [String] = []
        func tree(_ children: [XMLTree]) -> XMLTree {
            XMLTree(
                name: name, attributes: attributes, attributeOrder: order, line: start, range: offset..<position,
                children: children)
        }
        while true {
            let hadSpace = skipSpace()
            if take("/>") { return tree([]) }
            if take(">") { break }
            guard hadSpace else { throw failure("the tag '\(name)' is not closed") }
            let (key, value) = try attribute(of: name)
            guard attributes.updateValue(value, forKey: key) == nil else {
                throw failure("duplicate attribute '\(key)' of the element '\(name)'")
            }
            order.append(key)
        }
        return tree(try content(of: name, depth: depth))
    }

    /// Reads the children of an element, and its end tag.
    private mutating func content(of name: String, depth: Int) throws(Failure) -> [XMLTree] {
        var children: [XMLTree] = []
        while position < bytes.count {
            if peek() != UInt8(ascii: "<") {
                advance()
            } else if take("</") {
                let end = try self.name()
                guard end == name else { throw failure("the element '\(name)' is closed by '\(end)'") }
                _ = skipSpace()
                guard take(">") else { throw failure("the end tag '\(end)' is not closed") }
                return children
            } else if take("<![CDATA[") {
                try skip(past: "]]>", of: "CDATA section")
            } else if !(try skipCommentOrInstruction()) {
                children.append(try element(depth: depth + 1))
            }
        }
        throw failure("the element '\(name)' has no end tag")
    }

    private mutating func attribute(of element: String) throws(Failure) -> (key: String, value: String) {
        let key = try name()
        _ = skipSpace()
        guard take("=") else { throw failure("the attribute '\(key)' of '\(element)' has no value") }
        _ = skipSpace()
        guard let quote = peek(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw failure("the value of '\(key)' of '\(element)' is not quoted")
        }
        advance()
        var value: [UInt8] = []
        while let byte = peek(), byte != quote {
            switch byte {
            case UInt8(ascii: "<"): throw failure("the value of '\(key)' of '\(element)' contains '<'")
            case UInt8(ascii: "&"): value += try reference()
            case UInt8(ascii: "\n"), UInt8(ascii: "\t"), UInt8(ascii: "\r"):
                value.append(UInt8(ascii: " "))
                advance()
            case 0..<0x20: throw failure("the value of '\(key)' of '\(element)' contains a control character")
            default:
                value.append(byte)
                advance()
            }
        }
        guard peek() == quote else { throw failure("the value of '\(key)' of '\(element)' has no closing quote") }
        advance()
        return (key, String(decoding: value, as: UTF8.self))
    }

    /// Reads `&name;` or `&#number;` and returns its bytes.
    private mutating func reference() throws(Failure) -> [UInt8] {
        let start = position + 1
        guard let end = bytes[start...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else {
            throw failure("a '&' is not part of a reference")
        }
        let text = String(decoding: bytes[start..<end], as: UTF8.self)
        position = end + 1
        switch text {
        case "lt": return [UInt8(ascii: "<")]
        case "gt": return [UInt8(ascii: ">")]
        case "amp": return [UInt8(ascii: "&")]
        case "quot": return [UInt8(ascii: "\"")]
        case "apos": return [UInt8(ascii: "'")]
        default:
            let number = text.hasPrefix("#x") ? UInt32(text.dropFirst(2), radix: 16) : UInt32(text.dropFirst(1))
            guard text.hasPrefix("#"), let number, let scalar = Unicode.Scalar(number),
                number >= 0x20 || [0x9, 0xA, 0xD].contains(number)
            else { throw failure("unknown reference '&\(text);'") }
            return Array(String(Character(scalar)).utf8)
        }
    }

    private mutating func name() throws(Failure) -> String {
        let start = position
        while let byte = peek(), Self.isNameByte(byte, first: position == start) { advance() }
        guard position > start else { throw failure("a name is missing") }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private static func isNameByte(_ byte: UInt8, first: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: ":"), 0x80...:
            true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): !first
        default: false
        }
    }

    // MARK: Skipped parts

    /// Skips space, comments, instructions and a document type.
    private mutating func skipMiscellany() throws(Failure) {
        while true {
            _ = skipSpace()
            if take("<!DOCTYPE") {
                var depth = 1
                while depth > 0 {
                    guard let byte = peek() else { throw failure("the document type is not closed") }
                    if byte == UInt8(ascii: "<") { depth += 1 }
                    if byte == UInt8(ascii: ">") { depth -= 1 }
                    advance()
                }
            } else if !(try skipCommentOrInstruction()) {
                return
            }
        }
    }

    private mutating func skipCommentOrInstruction() throws(Failure) -> Bool {
        if take("<!--") {
            try skip(past: "-->", of: "comment")
            return true
        }
        if take("<?") {
            try skip(past: "?>", of: "instruction")
            return true
        }
        return false
    }

    private mutating func skip(past end: StaticString, of what: String) throws(Failure) {
        let start = line
        while position < bytes.count {
            if take(end) { return }
            advance()
        }
        throw Failure(line: start, reason: "the \(what) is not closed")
    }

    private mutating func skipSpace() -> Bool {
        let start = position
        while let byte = peek(), byte == 0x20 || byte == 0x9 || byte == 0xA || byte == 0xD { advance() }
        return position > start
    }

    // MARK: Bytes

    private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func advance() {
        if bytes[position] == UInt8(ascii: "\n") { line += 1 }
        position += 1
    }

    /// Consumes `text`, which must not contain a line break, if it is next.
    private mutating func take(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard position + count <= bytes.count else { return false }
        let isNext = text.withUTF8Buffer { bytes[position..<position + count].elementsEqual($0) }
        if isNext { position += count }
        return isNext
    }
}
