/// Splits a predicate format string into tokens.
///
/// Works on Unicode scalars, so that a combining mark after a quote or an operator does not hide it.
struct FormatScanner {
    let scalars: [Unicode.Scalar]
    private var position = 0

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    /// All tokens; the last one is `end`.
    static func tokens(of text: String) throws(FormatError) -> [FormatToken] {
        var scanner = FormatScanner(text)
        var tokens: [FormatToken] = []
        repeat { tokens.append(try scanner.next()) } while tokens.last?.kind != .end
        return tokens
    }

    // MARK: One token

    private mutating func next() throws(FormatError) -> FormatToken {
        while let scalar = peek(), scalar.properties.isWhitespace { position += 1 }
        let start = position
        let kind = try scanKind()
        return FormatToken(kind: kind, start: start, end: position)
    }

    private mutating func scanKind() throws(FormatError) -> FormatToken.Kind {
        guard let first = peek() else { return .end }
        if first == "\"" || first == "'" { return .text(try scanText(quote: first)) }
        if Self.isDigit(first) || (first == "." && Self.isDigit(peek(1)) && !followsOperand) {
            return .number(scanNumber())
        }
        if first == "#" {
            position += 1
            return .word(try scanName(expected: "a key after #"), keyword: nil)
        }
        if first == "$" {
            position += 1
            return .variable(try scanName(expected: "a variable's name after $"))
        }
        if first == "@" {
            position += 1
            return .operatorKey("@" + (try scanName(expected: "the name of a collection operator after @")))
        }
        if first == "%" { return .placeholder(try scanPlaceholder()) }
        if Self.startsName(first) {
            let word = scanWord(try scanName(expected: "a word"))
            let upper = word.utf8.count <= FormatWords.longest ? word.uppercased() : ""
            return .word(word, keyword: FormatWords.reserved.contains(upper) ? upper : nil)
        }
        if let length = signLength(first) {
            defer { position += length }
            return .sign(String(String.UnicodeScalarView(scalars[position..<position + length])))
        }
        throw error(at: position, expected: "a value, a key or an operator", found: "\"\(first)\"")
    }

    /// The length of the operator or bracket that begins with `first`; `nil` if there is none.
    private func signLength(_ first: Unicode.Scalar) -> Int? {
        switch (first, peek(1)) {
        case ("&", "&"), ("|", "|"), ("=", "="), ("=", "<"), ("=", ">"), ("!", "="), ("<", ">"), ("<", "="), ("<", "<"),
            (">", "="), (">", ">"), ("*", "*"):
            2
        case ("=", _), ("<", _), (">", _), ("!", _), ("(", _), (")", _), ("{", _), ("}", _), ("[", _), ("]", _),
            (",", _),
            (".", _), ("+", _), ("-", _), ("*", _), ("/", _), ("&", _), ("|", _), ("^", _), ("~", _):
            1
        default: nil
        }
    }

    /// True if the previous sign could end an operand, so that a dot continues a key path.
    private var followsOperand: Bool {
        guard position > 0 else { return false }
        let previous = scalars[position - 1]
        return Self.continuesName(previous) || previous == ")" || previous == "]"
    }

    // MARK: Names

    private static func startsName(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar == "\\" || scalar.properties.isAlphabetic || scalar.properties.isEmojiPresentation
    }

    private static func continuesName(_ scalar: Unicode.Scalar) -> Bool {
        if startsName(scalar) || isDigit(scalar) { return true }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .connectorPunctuation, .format: return true
        default: return false
        }
    }

    private mutating func scanName(expected: String) throws(FormatError) -> String {
        guard let first = peek(), Self.startsName(first) else { throw unexpected(expected) }
        var name = String.UnicodeScalarView()
        while let scalar = peek(), Self.continuesName(scalar) {
            if scalar == "\\" {
                name.append(try scanEscape())
            } else {
                name.append(scalar)
                position += 1
            }
        }
        return String(name)
    }

    /// Scans the rest of a word after its first name: the colons of a function, the dashes of `UTI-EQUALS`.
    private mutating func scanWord(_ first: String) -> String {
        if first.uppercased() == "UTI" {
            for ending in ["-CONFORMS-TO", "-EQUALS"] {
                let wanted = Array(ending.unicodeScalars)
                let found = scalars[position..<min(position + wanted.count, scalars.count)]
                if String(String.UnicodeScalarView(found)).uppercased() == ending {
                    position += wanted.count
                    return "UTI" + ending
                }
            }
        }
        guard peek() == ":" else { return first }
        var name = first
        while let scalar = peek(), scalar == ":" || (name.hasSuffix(":") && Self.startsName(scalar) && scalar != "\\") {
            if scalar == ":" {
                name.append(":")
                position += 1
            } else {
                while let part = peek(), Self.continuesName(part), part != "\\" {
                    name.unicodeScalars.append(part)
                    position += 1
                }
            }
        }
        return name
    }

    // MARK: Numbers and placeholders

    private static func isDigit(_ scalar: Unicode.Scalar?) -> Bool { scalar.map { "0"..."9" ~= $0 } ?? false }

    private mutating func scanNumber() -> String {
        var digits = ""
        func isPrefix(_ scalar: Unicode.Scalar?) -> Bool {
            scalar.map { "xXoObB".unicodeScalars.contains($0) } ?? false
        }
        if peek() == "0", isPrefix(peek(1)), let third = peek(2), third.properties.isASCIIHexDigit {
            take(into: &digits)
            take(into: &digits)
            while let scalar = peek(), scalar.properties.isASCIIHexDigit { take(into: &digits) }
            return digits
        }
        while Self.isDigit(peek()) { take(into: &digits) }
        if peek() == ".", Self.isDigit(peek(1)) {
            take(into: &digits)
            while Self.isDigit(peek()) { take(into: &digits) }
        } else if peek() == ".", peek(1).map({ !Self.startsName($0) && $0 != "@" && $0 != "%" }) ?? true {
            position += 1
        }
        if peek() == "e" || peek() == "E" {
            let signed = peek(1) == "+" || peek(1) == "-"
            if Self.isDigit(peek(signed ? 2 : 1)) {
                take(into: &digits)
                if signed { take(into: &digits) }
                while Self.isDigit(peek()) { take(into: &digits) }
            }
        }
        return digits
    }

    private mutating func scanPlaceholder() throws(FormatError) -> String {
        let start = position
        position += 1
        var conversion = ""
        while let scalar = peek(), "hlqLzjt0123456789.-+".unicodeScalars.contains(scalar) { take(into: &conversion) }
        guard let last = peek(), "@KdDiuUxXoOcCsSfFeEgGaAp".unicodeScalars.contains(last) else {
            let end = min(position + 1, scalars.count)
            let found = String(String.UnicodeScalarView(scalars[start..<end]))
            throw error(at: start, expected: "a placeholder such as %@, %K or %d", found: "\"\(found)\"")
        }
        take(into: &conversion)
        return conversion
    }

    // MARK: Texts

    private mutating func scanText(quote: Unicode.Scalar) throws(FormatError) -> String {
        let start = position
        position += 1
        var text = String.UnicodeScalarView()
        while let scalar = peek() {
            if scalar == quote {
                position += 1
                return String(text)
            }
            if scalar == "\\" {
                text.append(try scanEscape())
            } else {
                text.append(scalar)
                position += 1
            }
        }
        throw error(at: start, expected: "a closing \(quote) for this text", found: "the end")
    }

    private mutating func scanEscape() throws(FormatError) -> Unicode.Scalar {
        let start = position
        position += 1
        guard let scalar = peek() else { throw error(at: start, expected: "a character after \\", found: "the end") }
        position += 1
        switch scalar {
        case "n": return "\n"
        case "t": return "\t"
        case "r": return "\r"
        case "b": return "\u{8}"
        case "f": return "\u{c}"
        case "v": return "\u{b}"
        case "a": return "\u{7}"
        case "x": return try scanCode(digits: 1...2, radix: 16, start: start)
        case "u": return try scanUnicode(start: start)
        case "U": return try scanCode(digits: 8...8, radix: 16, start: start)
        case "0"..."7":
            position -= 1
            return try scanCode(digits: 1...3, radix: 8, start: start)
        default: return scalar
        }
    }

    /// Scans `\uXXXX`, twice if the first is the upper half of a surrogate pair.
    private mutating func scanUnicode(start: Int) throws(FormatError) -> Unicode.Scalar {
        let high = try scanNumberOfCode(digits: 4...4, radix: 16, start: start)
        if 0xD800..<0xDC00 ~= high, peek() == "\\", peek(1) == "u" {
            position += 2
            let low = try scanNumberOfCode(digits: 4...4, radix: 16, start: start)
            if 0xDC00..<0xE000 ~= low, let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)) {
                return scalar
            }
        }
        guard let scalar = Unicode.Scalar(high) else {
            throw error(at: start, expected: "the code of a character", found: "half of a surrogate pair")
        }
        return scalar
    }

    private mutating func scanCode(
        digits: ClosedRange<Int>, radix: UInt32, start: Int
    ) throws(FormatError) -> Unicode.Scalar {
        let code = try scanNumberOfCode(digits: digits, radix: radix, start: start)
        guard let scalar = Unicode.Scalar(code) else {
            throw error(at: start, expected: "the code of a character", found: "an invalid character code")
        }
        return scalar
    }

    private mutating func scanNumberOfCode(
        digits: ClosedRange<Int>, radix: UInt32, start: Int
    ) throws(FormatError) -> UInt32 {
        var code: UInt32 = 0
        var count = 0
        while count < digits.upperBound, let scalar = peek(), let digit = Self.digit(scalar), digit < radix {
            code = code * radix + digit
            position += 1
            count += 1
        }
        guard count >= digits.lowerBound else {
            throw error(at: start, expected: "\(digits.lowerBound) digits after the escape", found: "\(count)")
        }
        return code
    }

    private static func digit(_ scalar: Unicode.Scalar) -> UInt32? {
        switch scalar {
        case "0"..."9": scalar.value - 48
        case "a"..."f": scalar.value - 87
        case "A"..."F": scalar.value - 55
        default: nil
        }
    }

    // MARK: Helpers

    private func peek(_ ahead: Int = 0) -> Unicode.Scalar? {
        position + ahead < scalars.count ? scalars[position + ahead] : nil
    }

    private mutating func take(into text: inout String) {
        text.unicodeScalars.append(scalars[position])
        position += 1
    }

    private func unexpected(_ expected: String) -> FormatError {
        error(at: position, expected: expected, found: peek().map { "\"\($0)\"" } ?? "the end")
    }

    private func error(at position: Int, expected: String, found: String) -> FormatError {
        FormatError(offset: Self.characters(before: position, in: scalars), expected: expected, found: found)
    }

    /// The number of characters in `scalars` before `position`.
    static func characters(before position: Int, in scalars: [Unicode.Scalar]) -> Int {
        String(String.UnicodeScalarView(scalars[..<position])).count
    }
}
