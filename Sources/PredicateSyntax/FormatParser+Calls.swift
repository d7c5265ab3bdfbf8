import Foundation

/// `SUBQUERY`, `CAST`, `TERNARY`, `FUNCTION` and the functions by name.
extension FormatParser {
    /// Parses the call of `word`, which is followed by `(`; `nil` if the word cannot be called.
    mutating func parseCall(_ word: String, keyword: String?) throws(FormatError) -> ExpressionTree? {
        switch keyword {
        case "SUBQUERY": return try parseSubquery()
        case "CAST": return try parseCast()
        case "TERNARY": return try parseTernary()
        case "FUNCTION": return try parseFunctionOnTarget()
        case nil, "FETCH": break
        default: return nil
        }
        index += 2
        let arguments = try parseArguments()
        let hasColon = word.contains(":") || arguments.count != 1 || !FormatWords.unaryFunctions.contains(word)
        return .function(hasColon ? word : word + ":", arguments)
    }

    /// Parses expressions up to and including `)`.
    private mutating func parseArguments() throws(FormatError) -> [ExpressionTree] {
        var arguments: [ExpressionTree] = []
        if takeSign(")") { return arguments }
        repeat { arguments.append(try parseExpression()) } while takeSign(",")
        try expectSign(")", "or \",\" after the argument")
        return arguments
    }

    private mutating func parseSubquery() throws(FormatError) -> ExpressionTree {
        index += 2
        let collection = try parseExpression()
        try expectSign(",", "after the collection of SUBQUERY")
        guard case .variable(let name) = tokens[index].kind else { throw unexpected("a variable such as $x") }
        index += 1
        try expectSign(",", "after the variable of SUBQUERY")
        let predicate = try predicate(try parseOr())
        try expectSign(")", "after the predicate of SUBQUERY")
        return .subquery(collection, variable: name, predicate: predicate)
    }

    private mutating func parseTernary() throws(FormatError) -> ExpressionTree {
        index += 2
        let condition = try predicate(try parseOr())
        try expectSign(",", "after the condition of TERNARY")
        let first = try parseExpression()
        try expectSign(",", "after the first value of TERNARY")
        let second = try parseExpression()
        try expectSign(")", "after the second value of TERNARY")
        return .conditional(condition, first, second)
    }

    private mutating func parseFunctionOnTarget() throws(FormatError) -> ExpressionTree {
        index += 2
        let target = try parseExpression()
        try expectSign(",", "after the target of FUNCTION")
        let place = index
        guard case .constant(let value) = try parseExpression(), let selector = value as? String else {
            throw unexpected("the name of a selector in quotes", at: place)
        }
        let arguments: [ExpressionTree]
        if takeSign(",") {
            arguments = try parseArguments()
        } else {
            try expectSign(")", "or \",\" after the selector of FUNCTION")
            arguments = []
        }
        return .functionOn(target, selector, arguments)
    }

    private mutating func parseCast() throws(FormatError) -> ExpressionTree {
        index += 2
        let value = try parseExpression()
        try expectSign(",", "after the value of CAST")
        let place = index
        guard case .constant(let name) = try parseExpression(), let type = name as? String else {
            throw unexpected("the name of a type in quotes", at: place)
        }
        try expectSign(")", "after the type of CAST")
        if case .constant(let literal) = value, let folded = LiteralCast.fold(literal, to: type) {
            return .constant(folded)
        }
        return .function(FormatWords.cast, [value, .constant(type)])
    }
}

/// Converts constants without a literal to casts and back: `CAST(593229439.0, "NSDate")`.
enum LiteralCast {
    /// The constant for the cast of `literal`; `nil` for casts that are evaluated later.
    static func fold(_ literal: Any?, to type: String) -> Any? {
        switch (type, literal) {
        case ("NSDate", let seconds as Double): Date(timeIntervalSinceReferenceDate: seconds)
        case ("NSDate", let seconds as Int64): Date(timeIntervalSinceReferenceDate: Double(seconds))
        case ("NSUUID", let text as String): UUID(uuidString: text)
        case ("NSURL", let text as String): URL(string: text)
        case ("NSData", let text as String): Data(base64Encoded: text)
        case ("NSDecimalNumber", let text as String): decimal(text)
        default: nil
        }
    }

    private static func decimal(_ text: String) -> NSDecimalNumber? {
        guard let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) else { return nil }
        return NSDecimalNumber(decimal: value)
    }

    /// The `CAST(…)` text of `value`; `nil` if its type has a literal, or no cast.
    static func text(of value: Any) -> String? {
        switch value {
        case let date as Date: "CAST(\(FormatPrinter.real(date.timeIntervalSinceReferenceDate)), \"NSDate\")"
        case let uuid as UUID: "CAST(\"\(uuid.uuidString)\", \"NSUUID\")"
        case let url as URL: "CAST(\(FormatPrinter.quoted(url.absoluteString)), \"NSURL\")"
        case let data as Data: "CAST(\"\(data.base64EncodedString())\", \"NSData\")"
        case let decimal as NSDecimalNumber: "CAST(\"\(decimal.stringValue)\", \"NSDecimalNumber\")"
        case let decimal as Decimal: "CAST(\"\(NSDecimalNumber(decimal: decimal).stringValue)\", \"NSDecimalNumber\")"
        default: nil
        }
    }
}
