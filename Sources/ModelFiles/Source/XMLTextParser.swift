import Foundation

/// An element of an XML file with its text: stores and mapping models keep values there.
package struct XMLTextElement {
    package let name: String
    package let line: Int
    package var attributes: [String: String] = [:]
    package var text = ""
    package var children: [XMLTextElement] = []

    package func first(_ name: String) -> XMLTextElement? { children.first { $0.name == name } }
}

/// Reads UTF-8 XML with text content. A document type is skipped, and only the predefined entities are resolved.
/// Foundation's parser crashes on some damaged files.
package struct XMLTextParser {
    package struct Failure: Error {
        package let line: Int
        package let reason: String

        package init(line: Int, reason: String) {
            self.line = line
            self.reason = reason
        }
    }

    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private static let greatestDepth = 64

    package static func parse(_ data: Data) throws(Failure) -> XMLTextElement {
        guard String(validating: data, as: UTF8.self) != nil else {
            throw Failure(line: 1, reason: "it has bytes that are not UTF-8")
        }
        var parser = XMLTextParser(bytes: [UInt8](data))
        try parser.skipMiscellany()
        guard parser.take("<") else { throw parser.failure("it has no element") }
        let root = try parser.element(0)
        try parser.skipMiscellany()
        guard parser.position == parser.bytes.count else {
            throw parser.failure("unexpected text after the root element")
        }
        return root
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private func failure(_ reason: String) -> Failure { Failure(line: line, reason: reason) }

    // MARK: Elements

    /// Reads an element whose `<` was read.
    private mutating func element(_ depth: Int) throws(Failure) -> XMLTextElement {
        guard depth < Self.greatestDepth else { throw failure("elements are nested too deeply") }
        var element = XMLTextElement(name: try name(), line: line)
        while true {
            skipSpace()
            if take("/>") { return element }
            if take(">") { break }
            let key = try name()
            skipSpace()
            guard take("=") else { throw failure("the attribute '\(key)' has no value") }
            skipSpace()
            guard let quote = peek, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
                throw failure("the value of '\(key)' is not quoted")
            }
            advance()
            element.attributes[key] = try text(until: quote)
            guard peek == quote else { throw failure("the value of '\(key)' has no closing quote") }
            advance()
        }
        var content: [String] = []
        while true {
            content.append(try text(until: UInt8(ascii: "<")))
            guard peek != nil else { throw failure("the element '\(element.name)' has no end tag") }
            if take("</") {
                let end = try name()
                skipSpace()
                guard end == element.name, take(">") else {
                    throw failure("the element '\(element.name)' is not closed")
                }
                element.text = content.joined()
                return element
            }
            if take("<![CDATA[") {
                let start = position
                try skip(past: "]]>")
                content.append(String(decoding: bytes[start..<position - 3], as: UTF8.self))
            } else if try !skipCommentOrInstruction() {
                advance()
                element.children.append(try self.element(depth + 1))
            }
        }
    }

    private mutating func text(until end: UInt8) throws(Failure) -> String {
        var result: [UInt8] = []
        while let byte = peek, byte != end {
            if byte == UInt8(ascii: "&") {
                result += try reference()
            } else {
                // Line ends are normalised to one character.
                if byte != 0xD { result.append(byte) } else if !isNext(0xD, 0xA) { result.append(0xA) }
                advance()
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private func isNext(_ first: UInt8, _ second: UInt8) -> Bool {
        position + 1 < bytes.count && bytes[position] == first && bytes[position + 1] == second
    }

    private mutating func reference() throws(Failure) -> [UInt8] {
        let start = position + 1
        guard let end = bytes[start...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else {
            throw failure("a '&' is not part of a reference")
        }
        let name = String(decoding: bytes[start..<end], as: UTF8.self)
        position = end + 1
        if let known = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"][name] { return Array(known.utf8) }
        let number = name.hasPrefix("#x") ? UInt32(name.dropFirst(2), radix: 16) : UInt32(name.dropFirst())
        guard name.hasPrefix("#"), let number, let scalar = Unicode.Scalar(number) else {
            throw failure("unknown reference '&\(name);'")
        }
        return Array(String(Character(scalar)).utf8)
    }

    private mutating func name() throws(Failure) -> String {
        let start = position
        while let byte = peek, !" \t\r\n=/<>\"'&!?".utf8.contains(byte) { advance() }
        guard position > start else { throw failure("a name is missing") }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    // MARK: Skipped parts

    private mutating func skipMiscellany() throws(Failure) {
        while true {
            skipSpace()
            if take("<!DOCTYPE") {
                var depth = 1
                while depth > 0 {
                    guard let byte = peek else { throw failure("the document type is not closed") }
                    if byte == UInt8(ascii: "<") { depth += 1 }
                    if byte == UInt8(ascii: ">") { depth -= 1 }
                    advance()
                }
            } else if try !skipCommentOrInstruction() {
                return
            }
        }
    }

    private mutating func skipCommentOrInstruction() throws(Failure) -> Bool {
        if take("<!--") {
            try skip(past: "-->")
            return true
        }
        guard take("<?") else { return false }
        try skip(past: "?>")
        return true
    }

    private mutating func skip(past end: String) throws(Failure) {
        while position < bytes.count {
            if take(end) { return }
            advance()
        }
        throw failure("'\(end)' is missing")
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || (0x9...0xD).contains(byte) { advance() }
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func advance() {
        guard position < bytes.count else { return }
        if bytes[position] == 0xA { line += 1 }
        position += 1
    }

    private mutating func take(_ text: String) -> Bool {
        guard bytes[position...].starts(with: text.utf8) else { return false }
        position += text.utf8.count
        return true
    }
}
