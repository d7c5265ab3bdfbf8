/// Divides Swift source into tokens. Reads nested comments, all kinds of string literals with interpolations, and
/// regular expressions. It does not parse the grammar.
///
/// It does not recurse, so any depth of nesting can be read.
struct TokenScanner {
    let bytes: [UInt8]
    var position = 0
    private(set) var tokens: [SourceToken] = []
    /// For each bracket or quote, the token that closes or opens it; −1 for other tokens.
    private(set) var partners: [Int] = []
    /// For each token, the innermost bracket or quote that contains it; −1 at the top level.
    private(set) var parents: [Int] = []
    /// Brackets and quotes that are not closed yet.
    private var open: [Int] = []
    /// Delimiters of string literals that are not closed yet.
    private var literals: [StringDelimiter] = []
    private var isFirstOfLine = true

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Scans the whole text.
    ///
    /// - Throws: ``ScanProblem`` if a literal, a comment or a bracket is not closed.
    mutating func scan() throws(ScanProblem) {
        if bytes.starts(with: SwiftSource.encodingMark) { position = SwiftSource.encodingMark.count }
        if at("#!") { skipLine() }
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case .newline, .carriageReturn:
                position += 1
                isFirstOfLine = true
            case 0x20, 0x09, 0x0B, 0x0C, 0x00: position += 1
            default: try scanToken(byte)
            }
        }
        if let last = open.last { throw problem("\(text(of: last)) is not closed", at: tokens[last].range.lowerBound) }
    }

    private mutating func scanToken(_ byte: UInt8) throws(ScanProblem) {
        switch byte {
        case UInt8(ascii: "/"):
            if at("//") { return skipLine() }
            if at("/*") { return try skipComment() }
            if let end = regexEnd() { add(.regex, to: end) } else { add(.sign, to: position + 1) }
        case UInt8(ascii: "\""): try openString(pounds: 0)
        case UInt8(ascii: "#"): try scanPound()
        case UInt8(ascii: "`"):
            guard let end = bytes[(position + 1)...].firstIndex(where: { $0 == byte || $0.isLineBreak }),
                bytes[end] == byte
            else { throw problem("` is not closed", at: position) }
            add(.word, to: end + 1)
        case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): openBracket(.mark, to: position + 1)
        case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): try closeBracket(byte)
        case UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ":"), UInt8(ascii: "."), UInt8(ascii: "@"),
            UInt8(ascii: "\\"):
            add(.mark, to: position + 1)
        case _ where byte.isDigit: add(.number, to: numberEnd())
        case _ where byte.isWordByte: add(.word, to: end(of: \.isWordByte))
        default: add(.sign, to: position + 1)
        }
    }

    // MARK: Tokens

    private mutating func add(_ kind: SourceToken.Kind, to end: Int) {
        tokens.append(SourceToken(kind: kind, range: position..<end, startsLine: isFirstOfLine))
        partners.append(-1)
        parents.append(open.last ?? -1)
        isFirstOfLine = false
        position = end
    }

    private mutating func openBracket(_ kind: SourceToken.Kind, to end: Int) {
        add(kind, to: end)
        open.append(tokens.count - 1)
    }

    private mutating func close(_ kind: SourceToken.Kind, to end: Int) {
        guard let opening = open.popLast() else { return }
        add(kind, to: end)
        partners[opening] = tokens.count - 1
        partners[tokens.count - 1] = opening
    }

    private mutating func closeBracket(_ byte: UInt8) throws(ScanProblem) {
        guard let opening = open.last else {
            throw problem("unexpected \(Character(Unicode.Scalar(byte)))", at: position)
        }
        let token = tokens[opening]
        if token.kind == .interpolationOpening, byte == UInt8(ascii: ")") {
            close(.interpolationClosing, to: position + 1)
            return try scanStringText()
        }
        let expected: UInt8 =
            switch bytes[token.range.upperBound - 1] {
            case UInt8(ascii: "("): UInt8(ascii: ")")
            case UInt8(ascii: "["): UInt8(ascii: "]")
            default: UInt8(ascii: "}")
            }
        guard expected == byte else {
            throw problem("\(Character(Unicode.Scalar(byte))) does not close \(text(of: opening))", at: position)
        }
        close(.mark, to: position + 1)
    }

    private mutating func scanPound() throws(ScanProblem) {
        var end = position
        while end < bytes.count, bytes[end] == UInt8(ascii: "#") { end += 1 }
        let pounds = end - position
        if end < bytes.count, bytes[end] == UInt8(ascii: "\"") { return try openString(pounds: pounds) }
        if end < bytes.count, bytes[end] == UInt8(ascii: "/") { return try scanRegex(pounds: pounds) }
        if pounds == 1, end < bytes.count, bytes[end].isWordByte, !bytes[end].isDigit {
            let start = position
            position = end
            end = self.end(of: \.isWordByte)
            position = start
            return add(.directive, to: end)
        }
        add(.sign, to: position + 1)
    }

    // MARK: Strings

    private mutating func openString(pounds: Int) throws(ScanProblem) {
        let start = position + pounds
        let isMultiline = start + 2 < bytes.count && bytes[start + 1] == .quote && bytes[start + 2] == .quote
        let delimiter = StringDelimiter(pounds: pounds, isMultiline: isMultiline)
        if isMultiline, pounds > 0, delimiter.isOneLine(in: bytes, at: start) {
            literals.append(StringDelimiter(pounds: pounds, isMultiline: false))
            openBracket(.stringOpening, to: start + 1)
        } else {
            literals.append(delimiter)
            openBracket(.stringOpening, to: start + delimiter.quotes)
        }
        try scanStringText()
    }

    /// Scans the innermost literal up to its end or its next interpolation.
    private mutating func scanStringText() throws(ScanProblem) {
        guard let delimiter = literals.last else { return }
        var end = position
        scanning: while true {
            guard end < bytes.count, delimiter.isMultiline || !bytes[end].isLineBreak else {
                let opening = open.last.map { tokens[$0].range.lowerBound } ?? position
                throw problem("this string is not closed", at: opening)
            }
            switch bytes[end] {
            case .quote where delimiter.closes(in: bytes, at: end): break scanning
            case .backslash where delimiter.hasPounds(in: bytes, at: end + 1):
                let next = end + 1 + delimiter.pounds
                if next < bytes.count, bytes[next] == UInt8(ascii: "(") {
                    if end > position { add(.stringText, to: end) }
                    return openBracket(.interpolationOpening, to: next + 1)
                }
                // Only literals of several lines may contain a backslash followed by a line break.
                let skipsNext = next < bytes.count && (delimiter.isMultiline || !bytes[next].isLineBreak)
                end = skipsNext ? next + 1 : next
            default: end += 1
            }
        }
        if end > position { add(.stringText, to: end) }
        literals.removeLast()
        close(.stringClosing, to: end + delimiter.quotes + delimiter.pounds)
    }

    // MARK: Regular expressions

    private mutating func scanRegex(pounds: Int) throws(ScanProblem) {
        var end = position + pounds + 1
        let isMultiline = end < bytes.count && bytes[end].isLineBreak
        while end < bytes.count, isMultiline || !bytes[end].isLineBreak {
            if bytes[end] == .backslash {
                end += 2
            } else if bytes[end] == UInt8(ascii: "/"),
                StringDelimiter(pounds: pounds, isMultiline: false).hasPounds(in: bytes, at: end + 1)
            {
                return add(.regex, to: end + 1 + pounds)
            } else {
                end += 1
            }
        }
        throw problem("this regular expression is not closed", at: position)
    }

    private static let wordsBeforeValues: Set<String> = [
        "return", "in", "case", "where", "if", "guard", "while", "try", "await", "throw", "else", "switch", "do",
        "repeat",
    ]

    /// End of the regular expression that begins with the slash at `position`; nil if the slash is an operator.
    private func regexEnd() -> Int? {
        if let last = tokens.last, !isFirstOfLine {
            switch last.kind {
            case .sign: break
            case .mark where "([{,;:".utf8.contains(bytes[last.range.lowerBound]): break
            case .interpolationOpening: break
            case .word where Self.wordsBeforeValues.contains(text(of: tokens.count - 1)): break
            default: return nil
            }
        }
        var end = position + 1
        // A regular expression does not begin with a blank, and `/` may be an argument: `reduce(1, /)`.
        guard end < bytes.count, !" \t/*,)".utf8.contains(bytes[end]) else { return nil }
        var depth = 0
        while end < bytes.count, !bytes[end].isLineBreak {
            switch bytes[end] {
            case .backslash: end += 1
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"):
                depth -= 1
                if depth < 0 { return nil }
            case UInt8(ascii: "/"): return depth == 0 && !bytes[end - 1].isBlank ? end + 1 : nil
            default: break
            }
            end += 1
        }
        return nil
    }

    // MARK: Comments

    private mutating func skipLine() {
        while position < bytes.count, !bytes[position].isLineBreak { position += 1 }
    }

    private mutating func skipComment() throws(ScanProblem) {
        let start = position
        var depth = 0
        repeat {
            guard position < bytes.count else { throw problem("this comment is not closed", at: start) }
            if at("/*") {
                depth += 1
                position += 2
            } else if at("*/") {
                depth -= 1
                position += 2
            } else {
                if bytes[position].isLineBreak { isFirstOfLine = true }
                position += 1
            }
        } while depth > 0
    }

    // MARK: Characters

    private func at(_ text: StaticString) -> Bool {
        guard position + text.utf8CodeUnitCount <= bytes.count else { return false }
        return (0..<text.utf8CodeUnitCount).allSatisfy { bytes[position + $0] == text.utf8Start[$0] }
    }

    private func end(of belongs: (UInt8) -> Bool) -> Int {
        bytes[position...].firstIndex { !belongs($0) } ?? bytes.count
    }

    private func numberEnd() -> Int {
        var end = position
        while end < bytes.count {
            let isPoint = bytes[end] == UInt8(ascii: ".") && end + 1 < bytes.count && bytes[end + 1].isDigit
            guard bytes[end].isWordByte || isPoint else { break }
            end += 1
        }
        return end
    }

    private func text(of token: Int) -> String { String(decoding: bytes[tokens[token].range], as: UTF8.self) }

    private func problem(_ message: String, at offset: Int) -> ScanProblem {
        ScanProblem(offset: offset, message: message)
    }
}
