/// A file of Swift source, divided into tokens.
struct SwiftSource {
    let bytes: [UInt8]
    let tokens: [SourceToken]
    private let partners: [Int]
    private let parents: [Int]
    /// For each token, true if it belongs to a line such as `#if os(iOS)`, or to code that is excluded on Linux.
    let isExcluded: [Bool]
    /// Offsets at which lines begin.
    private let lineStarts: [Int]

    /// - Throws: ``ScanProblem`` if a literal, a comment, a bracket or an `#if` is not closed.
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

    /// Number of a byte's line, counted from 1.
    func line(at offset: Int) -> Int {
        var (low, high) = (0, lineStarts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return low + 1
    }

    /// The file's line break: that of its first line.
    var lineBreak: String {
        guard lineStarts.count > 1, lineStarts[1] > 1, bytes[lineStarts[1] - 2] == .carriageReturn else { return "\n" }
        return "\r\n"
    }

    // MARK: Tokens

    func text(_ index: Int) -> String {
        guard tokens.indices.contains(index) else { return "" }
        return String(decoding: bytes[tokens[index].range], as: UTF8.self)
    }

    /// True if there is a token with this text at `index`. Texts in string literals do not count.
    func isToken(_ index: Int, _ text: String) -> Bool {
        guard tokens.indices.contains(index), tokens[index].range.count == text.utf8.count else { return false }
        switch tokens[index].kind {
        case .stringText, .stringOpening, .stringClosing, .regex: return false
        default: return bytes[tokens[index].range].elementsEqual(text.utf8)
        }
    }

    /// True if the tokens from `index` on have these texts.
    func areTokens(from index: Int, _ texts: [String]) -> Bool {
        texts.enumerated().allSatisfy { isToken(index + $0.offset, $0.element) }
    }

    func kind(_ index: Int) -> SourceToken.Kind? { tokens.indices.contains(index) ? tokens[index].kind : nil }

    func isWord(_ index: Int) -> Bool { kind(index) == .word }

    func startsLine(_ index: Int) -> Bool { tokens.indices.contains(index) ? tokens[index].startsLine : true }

    /// The token that closes the bracket or quote at `index`, or opens it.
    func partner(_ index: Int) -> Int? {
        guard partners.indices.contains(index), partners[index] >= 0 else { return nil }
        return partners[index]
    }

    /// The innermost bracket or quote that contains a token.
    func parent(_ index: Int) -> Int? {
        guard parents.indices.contains(index), parents[index] >= 0 else { return nil }
        return parents[index]
    }

    /// The next token. After an opening bracket or quote, the token after its partner.
    func next(after index: Int) -> Int {
        if let partner = partner(index), partner > index { return partner + 1 }
        return index + 1
    }

    /// The bytes between a token and the next one.
    func gap(after index: Int) -> ArraySlice<UInt8> {
        let end = index + 1 < tokens.count ? tokens[index + 1].range.lowerBound : bytes.count
        return bytes[tokens[index].range.upperBound..<end]
    }

    /// True if there is nothing between a token and the next one.
    func touchesNext(_ index: Int) -> Bool {
        tokens.indices.contains(index + 1) && tokens[index].range.upperBound == tokens[index + 1].range.lowerBound
    }

    /// True if a bracket or a dot begins an expression, as in `[1]` and `.module`, but not in `list[1].count`.
    func beginsExpression(_ index: Int) -> Bool {
        !touches(index - 1, index) || ["(", "[", "{", ",", ":"].contains(text(index - 1))
    }

    /// True if there are only spaces and line breaks between the tokens from `first` to `last`, and no comments.
    func hasOnlyBlanks(between first: Int, and last: Int) -> Bool {
        (first..<last).allSatisfy { gap(after: $0).allSatisfy { $0.isBlank || $0.isLineBreak } }
    }

    // MARK: Lines

    /// Offset at which the line of `offset` begins, after a byte order mark.
    func lineStart(at offset: Int) -> Int {
        let line = line(at: offset)
        return line == 1 && bytes.starts(with: Self.encodingMark) ? Self.encodingMark.count : lineStarts[line - 1]
    }

    /// Offset at which the line comments directly above a token's line begin; without comments, the line itself.
    func lineStart(ofCommentsAbove token: Int) -> Int {
        var start = lineStart(at: tokens[token].range.lowerBound)
        let limit = token > 0 ? nextLineStart(at: tokens[token - 1].range.upperBound - 1) : 0
        while start > limit {
            let line = bytes[lineStart(at: start - 1)..<start].drop { $0.isBlank }
            // Only `//` comments: the beginning of a block comment is not known here.
            guard line.starts(with: Array("//".utf8)) else { break }
            start = lineStart(at: start - 1)
        }
        return start
    }

    static let encodingMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Offset at which the line after that of `offset` begins, or the end of the file.
    func nextLineStart(at offset: Int) -> Int {
        let line = line(at: offset)
        return line < lineStarts.count ? lineStarts[line] : bytes.count
    }

    /// The blanks at the beginning of the line of `offset`.
    func indentation(at offset: Int) -> String {
        String(decoding: bytes[lineStart(at: offset)...].prefix { $0.isBlank }, as: UTF8.self)
    }
}
