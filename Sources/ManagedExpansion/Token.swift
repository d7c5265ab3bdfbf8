/// A token of Swift source. Comments and white space are not tokens.
struct Token: Equatable {
    enum Kind: Equatable {
        /// A name or a keyword; `text` does not include backticks around a name.
        case word
        /// A name in backticks, which is never a keyword.
        case quotedWord
        /// A string or number literal.
        case literal
        /// `->`, or one character of punctuation.
        case mark
    }

    let kind: Kind
    let text: String
    /// The position, in bytes from the beginning of the text.
    let offset: Int

    func isMark(_ text: String) -> Bool { kind == .mark && self.text == text }
    func isWord(_ text: String) -> Bool { kind == .word && self.text == text }
    var isName: Bool { kind == .word || kind == .quotedWord }
}

/// Splits Swift source into tokens. Supports nested comments and all forms of string literals; a missing end (such as a
/// closing quote) is ignored.
struct Scanner {
    private let bytes: [UInt8]
    private var position = 0

    static func tokens(of text: String) -> [Token] {
        var scanner = Scanner(bytes: Array(text.utf8))
        var tokens: [Token] = []
        while let token = scanner.next() { tokens.append(token) }
        return tokens
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func next() -> Token? {
        skipSpaceAndComments()
        guard position < bytes.count else { return nil }
        let start = position
        let byte = bytes[position]
        if byte == UInt8(ascii: "`") {
            position += 1
            while position < bytes.count, bytes[position] != UInt8(ascii: "`") { position += 1 }
            let name = text(start + 1, position)
            position = min(position + 1, bytes.count)
            return Token(kind: .quotedWord, text: name, offset: start)
        }
        if isDigit(byte) {
            while position < bytes.count, isPartOfWord(bytes[position]) || bytes[position] == UInt8(ascii: ".") {
                position += 1
            }
            return Token(kind: .literal, text: text(start, position), offset: start)
        }
        if isPartOfWord(byte) {
            while position < bytes.count, isPartOfWord(bytes[position]) { position += 1 }
            return Token(kind: .word, text: text(start, position), offset: start)
        }
        if skipTextLiteral() { return Token(kind: .literal, text: text(start, position), offset: start) }
        position += starts("->") ? 2 : 1
        return Token(kind: .mark, text: text(start, position), offset: start)
    }

    private func text(_ start: Int, _ end: Int) -> String { String(decoding: bytes[start..<end], as: UTF8.self) }

    private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private func isPartOfWord(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & ~0x20) && byte < 0x80
            || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte >= 0x80
    }

    private func starts(_ mark: StaticString) -> Bool {
        guard position + mark.utf8CodeUnitCount <= bytes.count else { return false }
        return (0..<mark.utf8CodeUnitCount).allSatisfy { bytes[position + $0] == mark.utf8Start[$0] }
    }

    // MARK: Comments

    private mutating func skipSpaceAndComments() {
        while position < bytes.count {
            if bytes[position] <= 0x20 {
                position += 1
            } else if starts("//") {
                while position < bytes.count, bytes[position] != UInt8(ascii: "\n"), bytes[position] != 13 {
                    position += 1
                }
            } else if starts("/*") {
                skipComment()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() {
        var depth = 0
        repeat {
            if starts("/*") {
                depth += 1
                position += 2
            } else if starts("*/") {
                depth -= 1
                position += 2
            } else {
                position += 1
            }
        } while depth > 0 && position < bytes.count
    }

    // MARK: Texts

    /// Skips a string literal with any number of `#` around it; `false` if none begins here.
    private mutating func skipTextLiteral() -> Bool {
        let start = position
        while position < bytes.count, bytes[position] == UInt8(ascii: "#") { position += 1 }
        let pounds = position - start
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
            position = start
            return false
        }
        let quotes = starts("\"\"\"") ? 3 : 1
        position += quotes
        while position < bytes.count {
            if closes(quotes, pounds) {
                position += quotes + pounds
                return true
            }
            guard bytes[position] == UInt8(ascii: "\\"), hasPounds(pounds, at: position + 1) else {
                position += 1
                continue
            }
            position += 1 + pounds
            if position < bytes.count, bytes[position] == UInt8(ascii: "(") {
                skipInterpolation()
            } else {
                position += 1
            }
        }
        position = bytes.count
        return true
    }

    private func hasPounds(_ count: Int, at start: Int) -> Bool {
        start + count <= bytes.count && bytes[start..<start + count].allSatisfy { $0 == UInt8(ascii: "#") }
    }

    private func closes(_ quotes: Int, _ pounds: Int) -> Bool {
        guard position + quotes <= bytes.count else { return false }
        return bytes[position..<position + quotes].allSatisfy { $0 == UInt8(ascii: "\"") }
            && hasPounds(pounds, at: position + quotes)
    }

    /// Skips `(…)` in a string literal: code, which may contain string literals.
    private mutating func skipInterpolation() {
        var depth = 0
        repeat {
            skipSpaceAndComments()
            guard position < bytes.count, !skipTextLiteral() else { continue }
            if bytes[position] == UInt8(ascii: "(") { depth += 1 }
            if bytes[position] == UInt8(ascii: ")") { depth -= 1 }
            position += 1
        } while depth > 0 && position < bytes.count
    }
}
