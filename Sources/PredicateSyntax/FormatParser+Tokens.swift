/// What the levels of the parser hand to each other, and how they take tokens.
extension FormatParser {
    /// A predicate or an expression, and the token where it starts.
    struct Term {
        enum Content {
            case predicate(PredicateTree)
            case expression(ExpressionTree)
        }

        var content: Content
        var start: Int

        init(_ content: Content, at start: Int) {
            self.content = content
            self.start = start
        }
    }

    /// The term as a predicate. A key path, variable or call alone stands for `… == TRUE`.
    func predicate(_ term: Term) throws(FormatError) -> PredicateTree {
        switch term.content {
        case .predicate(let tree): return tree
        case .expression(let tree):
            switch tree {
            case .keyPath, .keyPathOf, .variable, .function, .functionOn, .conditional:
                return .comparison(ComparisonTree(left: tree, right: .constant(true), comparison: .equalTo))
            default: throw unexpected("a comparison such as == or CONTAINS")
            }
        }
    }

    /// The term as an expression.
    func expression(_ term: Term) throws(FormatError) -> ExpressionTree {
        switch term.content {
        case .expression(let tree): return tree
        case .predicate: throw unexpected("a value", found: "a whole predicate", at: term.start)
        }
    }

    // MARK: Tokens

    /// Whether the reserved `word`, whatever its case, is the token at `place`. The last token is the end, which is no word.
    func isWord(_ word: String, at place: Int) -> Bool {
        guard case .word(_, let keyword?) = tokens[min(place, tokens.count - 1)].kind else { return false }
        return keyword == word
    }

    /// Steps over the word, whatever its case, if it stands here.
    mutating func takeWord(_ word: String) -> Bool {
        guard isWord(word, at: index) else { return false }
        index += 1
        return true
    }

    mutating func takeSign(_ sign: String) -> Bool {
        guard tokens[index].kind == .sign(sign) else { return false }
        index += 1
        return true
    }

    mutating func expectSign(_ sign: String, _ place: String) throws(FormatError) {
        guard takeSign(sign) else { throw unexpected("\"\(sign)\" \(place)") }
    }

    func expectEnd() throws(FormatError) {
        guard tokens[index].kind == .end else {
            throw unexpected("AND, OR or the end")
        }
    }

    // MARK: Errors

    /// The error that `expected` could stand at the token `place`, which is the current one if not given.
    func unexpected(_ expected: String, found: String? = nil, at place: Int? = nil) -> FormatError {
        let token = tokens[place ?? index]
        return FormatError(
            offset: FormatScanner.characters(before: token.start, in: scalars), expected: expected,
            found: found ?? self.found(at: place ?? index))
    }

    /// The token as it stands in the text.
    func found(at index: Int) -> String {
        let token = tokens[index]
        if token.kind == .end { return "the end" }
        let text = String(String.UnicodeScalarView(scalars[token.start..<token.end]))
        return text.count > 40 ? "\"\(text.prefix(40))…\"" : "\"\(text)\""
    }
}
