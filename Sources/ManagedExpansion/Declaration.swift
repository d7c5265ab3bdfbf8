/// The parts of a declaration that the macros need: its head, and the parts after its name.
struct Declaration {
    struct Parameter: Equatable {
        /// The argument label; `nil` for `_`.
        let label: String?
        /// The name in the body; `nil` for `_`.
        let name: String?
    }

    /// `private`, `static`, `weak` and others, without attributes.
    private(set) var modifiers: [Token] = []
    /// `var`, `func`, `class`; `nil` if the text is not a known declaration.
    private(set) var keyword: Token?
    /// The declared name; `nil` if the declaration has a pattern or nothing in its place.
    private(set) var name: Token?
    /// True for a variable with an explicit type.
    private(set) var hasType = false
    /// The `=` before an initial value.
    private(set) var equals: Token?
    /// The `{` of accessors, observers or a body.
    private(set) var brace: Token?
    /// The first word in the braces.
    private(set) var firstInBraces: Token?
    /// The parameters of a function.
    private(set) var parameters: [Parameter] = []
    /// `async`, `throws` or `rethrows`.
    private(set) var effect: Token?
    /// The `->` before the type of a result.
    private(set) var arrow: Token?

    init(_ text: String) {
        var reader = TokenReader(Scanner.tokens(of: text))
        readHead(&reader)
        switch keyword?.text {
        case "var", "let": readVariable(&reader)
        case "func": readFunction(&reader)
        default: name = reader.peek?.isName == true ? reader.next() : nil
        }
    }

    func modifier(_ texts: String...) -> Token? { modifiers.first { texts.contains($0.text) } }

    private static let keywords: Set<String> = [
        "var", "let", "func", "init", "deinit", "subscript", "class", "struct", "enum", "extension", "actor",
        "protocol",
        "macro", "import", "typealias", "case",
    ]

    private mutating func readHead(_ reader: inout TokenReader) {
        while let token = reader.next() {
            if token.isMark("@") {
                reader.skipAttribute()
            } else if token.kind == .word, Self.keywords.contains(token.text), !isModifier(token, before: reader.peek) {
                keyword = token
                return
            } else if token.kind == .word {
                modifiers.append(token)
                if reader.peek?.isMark("(") == true { reader.skipBalanced() }
            } else {
                return
            }
        }
    }

    /// True for modifiers; `class` is one if it precedes a member declaration.
    private func isModifier(_ token: Token, before next: Token?) -> Bool {
        token.text == "class"
            && ["var", "let", "func", "subscript", "final", "private", "public", "override"].contains {
                next?.isWord($0) == true
            }
    }

    private mutating func readVariable(_ reader: inout TokenReader) {
        guard reader.peek?.isName == true else { return }
        name = reader.next()
        if reader.peek?.isMark(":") == true {
            reader.skip()
            hasType = true
            reader.skipType(endingAt: ["=", "{", ","])
        }
        if reader.peek?.isMark("=") == true { equals = reader.next() }
        // The text after an initial value is not read: an initial value is already an error.
        if equals == nil { readBrace(&reader) }
    }

    private mutating func readFunction(_ reader: inout TokenReader) {
        name = reader.next()
        if reader.peek?.isMark("<") == true { reader.skipType(endingAt: ["("]) }
        guard reader.peek?.isMark("(") == true else { return }
        readParameters(&reader)
        while let token = reader.peek, !token.isMark("{") {
            if token.isMark("->"), arrow == nil { arrow = token }
            if ["async", "throws", "rethrows", "reasync"].contains(token.text), token.kind == .word, effect == nil {
                effect = token
            }
            if token.isMark("(") { reader.skipBalanced() } else { reader.skip() }
        }
        readBrace(&reader)
    }

    private mutating func readParameters(_ reader: inout TokenReader) {
        reader.skip()
        while let token = reader.peek, !token.isMark(")") {
            if token.isMark("@") {
                reader.skip()
                reader.skipAttribute()
                continue
            }
            guard token.isName else { return }
            let label = reader.next()
            let name = reader.peek?.isName == true ? reader.next() : label
            parameters.append(Parameter(label: Self.written(label), name: Self.written(name)))
            reader.skipType(endingAt: [",", ")"])
            if reader.peek?.isMark(",") == true { reader.skip() }
        }
        reader.skip()
    }

    private static func written(_ token: Token?) -> String? {
        guard let token, !token.isWord("_") else { return nil }
        return token.kind == .quotedWord ? "`\(token.text)`" : token.text
    }

    private mutating func readBrace(_ reader: inout TokenReader) {
        guard reader.peek?.isMark("{") == true else { return }
        brace = reader.next()
        firstInBraces = reader.peek
    }
}

/// Iterates over tokens.
struct TokenReader {
    private let tokens: [Token]
    private var index = 0

    init(_ tokens: [Token]) { self.tokens = tokens }

    var peek: Token? { index < tokens.count ? tokens[index] : nil }

    mutating func next() -> Token? {
        defer { index += 1 }
        return peek
    }

    mutating func skip() { index += 1 }

    /// Skips from the next opening bracket to its closing one.
    mutating func skipBalanced() {
        var depth = 0
        repeat {
            guard let token = next() else { return }
            if token.isMark("(") || token.isMark("[") || token.isMark("{") { depth += 1 }
            if token.isMark(")") || token.isMark("]") || token.isMark("}") { depth -= 1 }
        } while depth > 0
    }

    /// Skips an attribute whose `@` was consumed.
    mutating func skipAttribute() {
        skip()
        while let token = peek {
            if token.isMark(".") {
                skip()
                skip()
            } else if token.isMark("<") {
                skipAngles()
            } else if token.isMark("(") {
                return skipBalanced()
            } else {
                return
            }
        }
    }

    /// Skips to one of the marks outside of brackets, or to the end.
    mutating func skipType(endingAt ends: Set<String>) {
        while let token = peek {
            if token.kind == .mark, ends.contains(token.text) { return }
            if token.isMark("(") || token.isMark("[") || token.isMark("{") {
                skipBalanced()
            } else if token.isMark("<") {
                skipAngles()
            } else {
                skip()
            }
        }
    }

    private mutating func skipAngles() {
        var depth = 0
        repeat {
            guard let token = peek else { return }
            if token.isMark("(") || token.isMark("[") {
                skipBalanced()
                continue
            }
            if token.isMark("<") { depth += 1 }
            if token.isMark(">") { depth -= 1 }
            skip()
        } while depth > 0
    }
}
