import Foundation

/// Operands: literals, key paths, placeholders, calls, and the steps appended to them with dots and brackets.
extension FormatParser {
    mutating func parseOperand() throws(FormatError) -> Term {
        try enter()
        defer { depth -= 1 }
        let start = index
        switch tokens[index].kind {
        case .number(let digits):
            let value = try number(digits, isNegative: false)
            index += 1
            return Term(.expression(try parseSteps(behind: .constant(value))), at: start)
        case .text(let text):
            index += 1
            return Term(.expression(try parseSteps(behind: .constant(text))), at: start)
        case .variable(let name):
            index += 1
            return Term(.expression(try parseSteps(behind: .variable(name))), at: start)
        case .operatorKey:
            return Term(.expression(try parseSteps(behind: .keyPath(try parseKey()))), at: start)
        case .placeholder(let conversion):
            return Term(.expression(try parseSteps(behind: try parsePlaceholder(conversion))), at: start)
        case .sign("("): return try parseParentheses()
        case .sign("{"):
            index += 1
            let list = try parseList(until: "}")
            return Term(.expression(try parseSteps(behind: .aggregate(list))), at: start)
        case .word(let word, let keyword): return try parseWord(word, keyword: keyword)
        default: throw unexpected("a key, a value or a predicate")
        }
    }

    /// Parses `(…)`: a predicate, an expression, or a list with commas.
    private mutating func parseParentheses() throws(FormatError) -> Term {
        let start = index
        index += 1
        let inner = try parseOr()
        if tokens[index].kind == .sign(",") {
            index += 1
            let list = [try expression(inner)] + (try parseList(until: ")"))
            return Term(.expression(.aggregate(list)), at: start)
        }
        try expectSign(")", "or an operator")
        guard case .expression(let tree) = inner.content else { return Term(inner.content, at: start) }
        return Term(.expression(try parseSteps(behind: tree)), at: start)
    }

    /// Parses expressions separated by commas, up to and including the closing sign.
    private mutating func parseList(until closing: String) throws(FormatError) -> [ExpressionTree] {
        var list: [ExpressionTree] = []
        if takeSign(closing) { return list }
        repeat { list.append(try parseExpression()) } while takeSign(",")
        try expectSign(closing, "or \",\" in the list")
        return list
    }

    // MARK: Words

    private mutating func parseWord(_ word: String, keyword: String?) throws(FormatError) -> Term {
        let start = index
        if tokens[index + 1].kind == .sign("("), let call = try parseCall(word, keyword: keyword) {
            return Term(.expression(try parseSteps(behind: call)), at: start)
        }
        switch keyword {
        case "TRUEPREDICATE", "FALSEPREDICATE":
            index += 1
            return Term(.predicate(.constant(keyword == "TRUEPREDICATE")), at: start)
        case "TRUE", "YES": return try literal(true)
        case "FALSE", "NO": return try literal(false)
        case "NULL", "NIL": return try literal(nil)
        case "SELF":
            index += 1
            return Term(.expression(try parseSteps(behind: .evaluatedObject)), at: start)
        case let keyword? where !FormatWords.usableAsKeys.contains(keyword):
            throw unexpected("a key, a value or a predicate")
        default: return Term(.expression(try parseSteps(behind: .keyPath(try parseKey()))), at: start)
        }
    }

    private mutating func literal(_ value: Bool?) throws(FormatError) -> Term {
        let start = index
        index += 1
        return Term(.expression(try parseSteps(behind: .constant(value))), at: start)
    }

    // MARK: Key paths and indexes

    /// Parses one component, or several for `%K`.
    private mutating func parseKey() throws(FormatError) -> [String] {
        switch tokens[index].kind {
        case .word(let word, _):
            if word.contains(":") { throw unexpected("\"(\" after the function \(word)", at: index + 1) }
            index += 1
            return [word]
        case .operatorKey(let name):
            index += 1
            return [name]
        case .placeholder("K"): return try parseKeyPlaceholder()
        default: throw unexpected("a key")
        }
    }

    /// Parses any number of `.key`, `.@operator` and `[index]`.
    mutating func parseSteps(behind operand: ExpressionTree) throws(FormatError) -> ExpressionTree {
        var result = operand
        let entered = depth
        defer { depth = entered }
        while true {
            if takeSign(".") {
                let keys = try parseKey()
                switch result {
                case .keyPath(let path): result = .keyPath(path + keys)
                case .keyPathOf(let base, let path): result = .keyPathOf(base, path + keys)
                default: result = .keyPathOf(result, keys)
                }
            } else if takeSign("[") {
                try enter()
                let position = try parseIndex()
                try expectSign("]", "after the index")
                result = .index(result, position)
            } else {
                return result
            }
        }
    }

    private mutating func parseIndex() throws(FormatError) -> CollectionIndex {
        // After the last token, `.end`, there is no token at `index + 1`.
        if tokens[index].kind != .end, tokens[index + 1].kind == .sign("]") {
            if takeWord("FIRST") { return .first }
            if takeWord("LAST") { return .last }
            if takeWord("SIZE") { return .size }
        }
        return .value(try parseExpression())
    }

    // MARK: Placeholders

    private mutating func parsePlaceholder(_ conversion: String) throws(FormatError) -> ExpressionTree {
        if conversion == "K" { return .keyPath(try parseKeyPlaceholder()) }
        let given = try argument()
        let place = index
        index += 1
        switch given {
        case .expression(let tree):
            if conversion == "@" { return tree }
            throw unexpected("a number for %\(conversion)", found: "an expression", at: place)
        case .value(let value):
            if conversion == "@" { return .constant(value is NSNull ? nil : value) }
            if "cCsS".contains(conversion.last ?? "d"), let text = value as? String { return .constant(text) }
            guard let value, value is NSNumber || value is any BinaryInteger || value is any BinaryFloatingPoint else {
                throw unexpected(
                    "a number as argument for %\(conversion)", found: value.map { "\(type(of: $0))" } ?? "nil",
                    at: place)
            }
            return .constant(value)
        }
    }

    /// The key path for `%K`.
    private mutating func parseKeyPlaceholder() throws(FormatError) -> [String] {
        let place = index
        guard case .value(let value) = try argument(), let path = value as? String, !path.isEmpty else {
            throw unexpected("a key path as argument for %K", found: "another value", at: place)
        }
        let keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        if keys.contains("") {
            throw unexpected("a key path as argument for %K", found: "\"\(path)\"", at: place)
        }
        index += 1
        return keys
    }

    // MARK: Numbers

    /// The value of a number in the text: `Int64` if it fits, otherwise `Double`.
    func number(_ digits: String, isNegative: Bool) throws(FormatError) -> Any {
        let prefixes: [String: Int] = ["0x": 16, "0o": 8, "0b": 2]
        if let radix = prefixes[digits.prefix(2).lowercased()] {
            guard let value = Int64((isNegative ? "-" : "") + digits.dropFirst(2), radix: radix) else {
                throw unexpected("a number of at most 64 bits in base \(radix)")
            }
            return value
        }
        let text = (isNegative ? "-" : "") + digits
        if let value = Int64(text) { return value }
        if let value = Double(text) { return value }
        throw unexpected("a number")
    }
}
