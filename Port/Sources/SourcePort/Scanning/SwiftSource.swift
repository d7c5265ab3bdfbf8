/// A file of Swift source, taken apart.
struct SwiftSource {
    let bytes: [UInt8]
    let tokens: [SourceToken]
    private let partners: [Int]
    private let parents: [Int]
    /// Whether each token belongs to a line such as `#if os(iOS)`, or to lines that the conditions around them exclude on Linux.
    let isExcluded: [Bool]
    /// The offsets at which lines begin.
    private let lineStarts: [Int]

    /// - Throws: ``ScanProblem`` where a literal, a comment or a bracket does not end.
    init(_ bytes: [UInt8]) throws(ScanProblem) {
        var scanner = TokenScanner(bytes)
        try scanner.scan()
        self.bytes = bytes
        tokens = scanner.tokens
        partners = scanner.partners
        parents = scanner.parents
        lineStarts = Self.lineStarts(of: bytes)
        isExcluded = try ConditionReader(bytes: bytes, tokens: scanner.tokens).excluded()
    }

    static func lineStarts(of bytes: [UInt8]) -> [Int] {
        var starts = [0]
        for (offset, byte) in bytes.enumerated() where byte == .newline { starts.append(offset + 1) }
        return starts
    }

    /// The line, counted from 1, in which a byte stands.
    func line(at offset: Int) -> Int {
        var (low, high) = (0, lineStarts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return low + 1
    }

    /// The line break that the file uses.
    var lineBreak: String {
        guard lineStarts.count > 1, lineStarts[1] > 1, bytes[lineStarts[1] - 2] == .carriageReturn else { return "\n" }
        return "\r\n"
    }

    // MARK: Tokens

    func text(_ index: Int) -> String {
        guard tokens.indices.contains(index) else { return "" }
        return String(decoding: bytes[tokens[index].range], as: UTF8.self)
    }

    /// Whether a token is there and reads `text`, outside string literals.
    func isToken(_ index: Int, _ text: String) -> Bool {
        guard tokens.indices.contains(index), tokens[index].range.count == text.utf8.count else { return false }
        switch tokens[index].kind {
        case .stringText, .stringOpening, .stringClosing, .regex: return false
        default: return bytes[tokens[index].range].elementsEqual(text.utf8)
        }
    }

    /// Whether the tokens from `index` on read so.
    func areTokens(from index: Int, _ texts: [String]) -> Bool {
        texts.enumerated().allSatisfy { isToken(index + $0.offset, $0.element) }
    }

    func kind(_ index: Int) -> SourceToken.Kind? { tokens.indices.contains(index) ? tokens[index].kind : nil }

    func isWord(_ index: Int) -> Bool { kind(index) == .word }

    func startsLine(_ index: Int) -> Bool { tokens.indices.contains(index) ? tokens[index].startsLine : true }

    /// The token that closes what `index` opens, or opens what it closes.
    func partner(_ index: Int) -> Int? {
        guard partners.indices.contains(index), partners[index] >= 0 else { return nil }
        return partners[index]
    }

    /// The bracket or quote in which a token stands.
    func parent(_ index: Int) -> Int? {
        guard parents.indices.contains(index), parents[index] >= 0 else { return nil }
        return parents[index]
    }

    /// The token after `index`, past what it opens.
    func next(after index: Int) -> Int {
        if let partner = partner(index), partner > index { return partner + 1 }
        return index + 1
    }

    /// The bytes between two tokens.
    func gap(after index: Int) -> ArraySlice<UInt8> {
        let end = index + 1 < tokens.count ? tokens[index + 1].range.lowerBound : bytes.count
        return bytes[tokens[index].range.upperBound..<end]
    }

    /// Whether nothing at all stands between a token and the next.
    func touchesNext(_ index: Int) -> Bool {
        tokens.indices.contains(index + 1) && tokens[index].range.upperBound == tokens[index + 1].range.lowerBound
    }

    /// True if a bracket or a point begins an expression: `[1]`, `.module`, but neither of `list[1].count`.
    func beginsExpression(_ index: Int) -> Bool {
        !touches(index - 1, index) || ["(", "[", "{", ",", ":"].contains(text(index - 1))
    }

    /// Whether nothing but blanks stands between two tokens, such as a comment.
    func hasOnlyBlanks(between first: Int, and last: Int) -> Bool {
        (first..<last).allSatisfy { gap(after: $0).allSatisfy { $0.isBlank || $0.isLineBreak } }
    }

    // MARK: Lines

    /// The byte at which the line of `offset` begins, after the mark of the text's encoding.
    func lineStart(at offset: Int) -> Int {
        let line = line(at: offset)
        return line == 1 && bytes.starts(with: Self.encodingMark) ? Self.encodingMark.count : lineStarts[line - 1]
    }

    /// The byte at which the comments begin that are right above the line of a token, or that line.
    func lineStart(ofCommentsAbove token: Int) -> Int {
        var start = lineStart(at: tokens[token].range.lowerBound)
        let limit = token > 0 ? nextLineStart(at: tokens[token - 1].range.upperBound - 1) : 0
        while start > limit {
            let line = bytes[lineStart(at: start - 1)..<start].drop { $0.isBlank }
            // Comments of one line; of others it is not known here where they begin.
            guard line.starts(with: Array("//".utf8)) else { break }
            start = lineStart(at: start - 1)
        }
        return start
    }

    static let encodingMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The byte at which the line after that of `offset` begins, or the end of the file.
    func nextLineStart(at offset: Int) -> Int {
        let line = line(at: offset)
        return line < lineStarts.count ? lineStarts[line] : bytes.count
    }

    /// The blanks with which the line of `offset` begins.
    func indentation(at offset: Int) -> String {
        String(decoding: bytes[lineStart(at: offset)...].prefix { $0.isBlank }, as: UTF8.self)
    }
}
