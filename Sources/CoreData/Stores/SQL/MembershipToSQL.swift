import Foundation
import PredicateSyntax

/// Translates IN.
extension PredicateToSQL {
    /// The longest list whose values are bound separately.
    private static let shortList = 30
    /// The maximum number of bound values of a list, which leaves room for the rest of the statement.
    private static let longestList = 30_000

    mutating func isIn(
        _ left: SQLOperand, _ right: SQLOperand, _ options: ComparisonOptions
    ) throws -> SQLFragment {
        switch (left, right) {
        case (.expression(let expression), .constant(.collection(let values))):
            return try isIn(expression, values, options)
        case (_, .list(let operands)):
            if operands.isEmpty { return truth(false) }
            var tests: [SQLFragment] = []
            for operand in operands { tests.append(try elementTest(left, operand, options)) }
            return tests.joined(separator: " OR ").parenthesized
        case (.expression, .constant(.null)): return truth(false)
        case (.expression(let part), .constant(.text)) where part.kind == .text,
            (.constant(.text), .expression(let part)) where part.kind == .text:
            return try textSearch(.contains, right, left, options)
        case (.expression(let part), .expression(let text)) where part.kind == .text && text.kind == .text:
            return try textSearch(.contains, right, left, options)
        default: throw NeedsMemory("the right side of IN is not a list")
        }
    }

    private mutating func elementTest(
        _ left: SQLOperand, _ right: SQLOperand, _ options: ComparisonOptions
    ) throws -> SQLFragment {
        guard case .constant(let left) = left, case .constant(let right) = right else {
            return try equal(left, right, options)
        }
        return truth(ValueOrder.areEqual(left, right, options))
    }

    private mutating func isIn(
        _ expression: SQLExpression, _ values: [PredicateValue], _ options: ComparisonOptions
    ) throws -> SQLFragment {
        var tests: [SQLFragment] = []
        let values = try values.compactMap { try single($0, for: expression.kind) }
        if values.contains(where: \.isNull) { tests.append(expression.fragment + " IS NULL") }
        if TextFolding.isNeeded(options), expression.kind == .text {
            let folded = values.compactMap { value -> SQLValue? in
                guard case .text(let text) = value else { return nil }
                return .blob(Data(TextFolding.bytes(of: text, options)))
            }
            if !folded.isEmpty {
                tests.append(
                    try list(
                        schema.dialect.functions(for: "a list of folded texts").fold(expression.fragment, options),
                        folded))
            }
        } else {
            let bound = try values.compactMap { try self.bound($0, for: expression.kind) }
            if !bound.isEmpty { tests.append(try list(expression.fragment, bound)) }
        }
        if tests.isEmpty { return truth(false) }
        return tests.count == 1 ? tests[0] : tests.joined(separator: " OR ").parenthesized
    }

    /// Returns `x IN (?, ?)`, or one JSON array for many integers or texts, so that the statement does not change.
    private func list(_ expression: SQLFragment, _ values: [SQLValue]) throws -> SQLFragment {
        if schema.dialect.bindsLists { return expression + " = ANY(" + .argument(.list(values)) + ")" }
        if values.count > Self.shortList, let json = Self.json(values) {
            return expression + " IN (SELECT value FROM json_each(" + .argument(.text(json)) + "))"
        }
        guard values.count <= Self.longestList else { throw NeedsMemory("the list has \(values.count) values") }
        return expression + " IN (" + values.map { .argument($0) }.joined(separator: ", ") + ")"
    }

    /// Returns `nil` if JSON cannot represent the values exactly: reals, data, texts with a zero character.
    private static func json(_ values: [SQLValue]) -> String? {
        var json = "["
        for value in values {
            if json.utf8.count > 1 { json += "," }
            switch value {
            case .integer(let number): json += String(number)
            case .text(let text):
                guard !text.unicodeScalars.contains("\0") else { return nil }
                json += quoted(text)
            default: return nil
            }
        }
        return json + "]"
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\u{1}"..."\u{1F}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
