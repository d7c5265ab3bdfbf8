/// The results of the parser's levels, and the consumption of tokens.
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

    /// The term as a predicate. A key path, variable or call alone means `… == TRUE`.
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

    /// True if the token at `place` is the reserved `word`, ignoring case. The last token is the end, which never
    /// matches.
    func isWord(_ word: String, at place: Int) -> Bool {
        guard case .word(_, let keyword?) = tokens[min(place, tokens.count - 1)].kind else { return false }
        return keyword == word
    }

    /// Consumes the word, ignoring case, if it is the current token.
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

    /// The error that `expected` was missing at the token `place`, by default the current one.
    func unexpected(_ expected: String, found: String? = nil, at place: Int? = nil) -> FormatError {
        let token = tokens[place ?? index]
        return FormatError(
            offset: FormatScanner.characters(before: token.start, in: scalars), expected: expected,
            found: found ?? self.found(at: place ?? index))
    }

    /// The text of the token.
    func found(at index: Int) -> String {
        let token = tokens[index]
        if token.kind == .end { return "the end" }
        let text = String(String.UnicodeScalarView(scalars[token.start..<token.end]))
        return text.count > 40 ? "\"\(text.prefix(40))…\"" : "\"\(text)\""
    }
}
