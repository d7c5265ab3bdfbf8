/// Parses predicate format strings.
///
/// A recursive-descent parser of the tokens. At a `(` it is not yet known whether a predicate or an expression follows,
/// so every level returns a ``Term`` that is one or the other, and a caller that needs one of them converts it: there
/// is no backtracking, and the cost depends on the length of the text only. The nesting depth is limited, so that no
/// text can exhaust the stack.
///
/// From loosest to tightest: `OR`, `AND`, `NOT`, comparisons, `|`, `^`, `&`, shifts, sums, products, powers, signs,
/// `UNION` and the other set operators, operands with their key paths and indexes.
package struct FormatParser {
    /// The maximum depth of a tree.
    static let depthLimit = 200

    let tokens: [FormatToken]
    let scalars: [Unicode.Scalar]
    private let arguments: [FormatArgument]
    private var nextArgument = 0
    var index = 0
    var depth = 0

    private init(_ text: String, arguments: [FormatArgument]) throws(FormatError) {
        scalars = Array(text.unicodeScalars)
        tokens = try FormatScanner.tokens(of: text)
        self.arguments = arguments
    }

    /// Parses `text` as a predicate.
    ///
    /// - Parameters:
    ///   - text: a predicate format string.
    ///   - arguments: the arguments for the placeholders, in order; surplus ones are ignored.
    /// - Returns: the tree. Nested junctions of the same kind are flattened.
    /// - Throws: if the text is not a predicate, or there are too few arguments or one of a wrong type.
    package static func predicate(
        _ text: String, arguments: [FormatArgument] = []
    ) throws(FormatError) -> PredicateTree {
        var parser = try FormatParser(text, arguments: arguments)
        let term = try parser.parseOr()
        let predicate = try parser.predicate(term)
        try parser.expectEnd()
        return predicate
    }

    /// Parses `text` as an expression, like `NSExpression(format:)`.
    package static func expression(
        _ text: String, arguments: [FormatArgument] = []
    ) throws(FormatError) -> ExpressionTree {
        var parser = try FormatParser(text, arguments: arguments)
        let expression = try parser.parseExpression()
        try parser.expectEnd()
        return expression
    }

    // MARK: Logic

    mutating func parseOr() throws(FormatError) -> Term {
        var left = try parseAnd()
        var parts: [PredicateTree] = []
        while takeWord("OR") || takeSign("||") {
            if parts.isEmpty { parts.append(try predicate(left)) }
            parts.append(try predicate(try parseAnd()))
        }
        if !parts.isEmpty {
            let flat = parts.flatMap { if case .or(let inner) = $0 { inner } else { [$0] } }
            left = Term(.predicate(.or(flat)), at: left.start)
        }
        return left
    }

    private mutating func parseAnd() throws(FormatError) -> Term {
        var left = try parseNot()
        var parts: [PredicateTree] = []
        while takeWord("AND") || takeSign("&&") {
            if parts.isEmpty { parts.append(try predicate(left)) }
            parts.append(try predicate(try parseNot()))
        }
        if !parts.isEmpty {
            let flat = parts.flatMap { if case .and(let inner) = $0 { inner } else { [$0] } }
            left = Term(.predicate(.and(flat)), at: left.start)
        }
        return left
    }

    private mutating func parseNot() throws(FormatError) -> Term {
        let start = index
        guard takeWord("NOT") || takeSign("!") else { return try parseComparison() }
        try enter()
        defer { depth -= 1 }
        return Term(.predicate(.not(try predicate(try parseNot()))), at: start)
    }

    // MARK: Comparisons

    private mutating func parseComparison() throws(FormatError) -> Term {
        let start = index
        if let (modifier, isNegated) = takeModifier() {
            let left = try parseExpression()
            guard let comparison = takeComparison() else { throw unexpected("a comparison after the key path") }
            let tree = PredicateTree.comparison(try parseRight(of: comparison, left: left, modifier: modifier))
            return Term(.predicate(isNegated ? .not(tree) : tree), at: start)
        }
        let left = try parseBinary(level: 0)
        let isNegated = isWord("NOT", at: index) && isWord("IN", at: index + 1)
        if isNegated { index += 1 }
        guard let comparison = takeComparison() else { return left }
        let tree = PredicateTree.comparison(
            try parseRight(of: comparison, left: try expression(left), modifier: .direct))
        return Term(.predicate(isNegated ? .not(tree) : tree), at: start)
    }

    private mutating func takeModifier() -> (modifier: ComparisonModifier, isNegated: Bool)? {
        if takeWord("ANY") || takeWord("SOME") { return (.any, false) }
        if takeWord("ALL") { return (.all, false) }
        if takeWord("NONE") { return (.any, true) }
        return nil
    }

    private mutating func takeComparison() -> ComparisonOperator? {
        let name: String
        switch tokens[index].kind {
        case .sign(let sign): name = sign
        case .word(_, let keyword?): name = keyword
        default: return nil
        }
        guard let comparison = FormatWords.comparisons[name] else { return nil }
        index += 1
        return comparison
    }

    private mutating func parseRight(
        of comparison: ComparisonOperator, left: ExpressionTree, modifier: ComparisonModifier
    ) throws(FormatError) -> ComparisonTree {
        let options = try takeOptions()
        let right = try parseExpression()
        return ComparisonTree(left: left, right: right, comparison: comparison, modifier: modifier, options: options)
    }

    /// Parses `[cd]` after an operator.
    private mutating func takeOptions() throws(FormatError) -> ComparisonOptions {
        guard takeSign("[") else { return [] }
        guard case .word(let letters, _) = tokens[index].kind else {
            throw unexpected("comparison options such as [cd]")
        }
        var options: ComparisonOptions = []
        for letter in letters.lowercased() {
            switch letter {
            case "c": options.insert(.caseInsensitive)
            case "d": options.insert(.diacriticInsensitive)
            case "n": options.insert(.normalized)
            case "l": options.insert(.localeSensitive)
            default: throw unexpected("comparison options from c, d, n, l")
            }
        }
        index += 1
        try expectSign("]", "after the comparison options")
        return options
    }

    // MARK: Arithmetic

    mutating func parseExpression() throws(FormatError) -> ExpressionTree {
        try expression(try parseBinary(level: 0))
    }

    private mutating func parseBinary(level: Int) throws(FormatError) -> Term {
        guard level < FormatWords.binaryOperators.count else { return try parsePower() }
        var left = try parseBinary(level: level + 1)
        let entered = depth
        defer { depth = entered }
        while case .sign(let sign) = tokens[index].kind, let function = FormatWords.binaryOperators[level][sign] {
            try enter()
            index += 1
            let right = try expression(try parseBinary(level: level + 1))
            left = Term(.expression(.function(function, [try expression(left), right])), at: left.start)
        }
        return left
    }

    private mutating func parsePower() throws(FormatError) -> Term {
        let base = try parseSign()
        guard takeSign("**") else { return base }
        try enter()
        defer { depth -= 1 }
        let exponent = try expression(try parsePower())
        return Term(.expression(.function(FormatWords.power, [try expression(base), exponent])), at: base.start)
    }

    private mutating func parseSign() throws(FormatError) -> Term {
        let start = index
        if takeSign("-") {
            if case .number(let digits) = tokens[index].kind {
                let value = try number(digits, isNegative: true)
                index += 1
                return try parseSetOperations(Term(.expression(try parseSteps(behind: .constant(value))), at: start))
            }
            try enter()
            defer { depth -= 1 }
            let operand = try expression(try parseSign())
            return Term(.expression(.function("from:subtract:", [.constant(Int64(0)), operand])), at: start)
        }
        if takeSign("+") {
            try enter()
            defer { depth -= 1 }
            return try parseSign()
        }
        if takeSign("~") {
            try enter()
            defer { depth -= 1 }
            return Term(.expression(.function("onesComplement:", [try expression(try parseSign())])), at: start)
        }
        return try parseSetOperations(try parseOperand())
    }

    /// Parses `a UNION b` and the other set operations.
    private mutating func parseSetOperations(_ first: Term) throws(FormatError) -> Term {
        var left = first
        let entered = depth
        defer { depth = entered }
        while let operation = takeSetOperation() {
            try enter()
            let right = try expression(try parseOperand())
            left = Term(.expression(.set(operation, try expression(left), right)), at: left.start)
        }
        return left
    }

    private mutating func takeSetOperation() -> SetOperation? {
        if takeWord("UNION") { return .union }
        if takeWord("INTERSECT") { return .intersect }
        if takeWord("MINUS") { return .minus }
        return nil
    }

    // MARK: Arguments

    /// The next argument, for the placeholder at `index`.
    mutating func argument() throws(FormatError) -> FormatArgument {
        guard nextArgument < arguments.count else {
            throw unexpected(
                "an argument for placeholder number \(nextArgument + 1), \(found(at: index))",
                found: arguments.isEmpty ? "no arguments" : "\(arguments.count)")
        }
        defer { nextArgument += 1 }
        return arguments[nextArgument]
    }

    // MARK: Depth

    /// Enters one level of nesting. The caller resets the depth.
    mutating func enter() throws(FormatError) {
        depth += 1
        if depth > Self.depthLimit {
            throw unexpected("at most \(Self.depthLimit) levels of nesting", found: "more")
        }
    }
}
