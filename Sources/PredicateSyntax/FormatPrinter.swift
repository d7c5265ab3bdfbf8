import Foundation

/// Converts predicates and expressions to format strings in Apple's style.
///
/// The text parses to the same tree, except for blocks and for constants that have no literal form: those are printed
/// by their description.
package enum FormatPrinter {
    // MARK: Predicates

    package static func string(_ predicate: PredicateTree) -> String {
        switch predicate {
        case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .comparison(let tree): comparison(tree)
        case .and(let parts): parts.isEmpty ? "TRUEPREDICATE" : junction(parts, word: " AND ")
        case .or(let parts): parts.isEmpty ? "FALSEPREDICATE" : junction(parts, word: " OR ")
        case .not(let inner): "NOT " + nested(inner)
        case .opaque: "BLOCKPREDICATE"
        }
    }

    private static func junction(_ parts: [PredicateTree], word: String) -> String {
        parts.count == 1 ? string(parts[0]) : parts.map(nested).joined(separator: word)
    }

    /// A part of a junction: junctions of several parts are put in parentheses.
    private static func nested(_ part: PredicateTree) -> String {
        switch part {
        case .and(let parts) where parts.count == 1, .or(let parts) where parts.count == 1: nested(parts[0])
        case .and(let parts) where parts.count > 1, .or(let parts) where parts.count > 1: "(\(string(part)))"
        default: string(part)
        }
    }

    private static func comparison(_ tree: ComparisonTree) -> String {
        let modifier =
            switch tree.modifier {
            case .direct: ""
            case .any: "ANY "
            case .all: "ALL "
            }
        return "\(modifier)\(string(tree.left)) \(name(tree.comparison))\(options(tree.options)) \(string(tree.right))"
    }

    private static func name(_ comparison: ComparisonOperator) -> String {
        switch comparison {
        case .lessThan: "<"
        case .lessThanOrEqualTo: "<="
        case .greaterThan: ">"
        case .greaterThanOrEqualTo: ">="
        case .equalTo: "=="
        case .notEqualTo: "!="
        case .matches: "MATCHES"
        case .like: "LIKE"
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .in: "IN"
        case .customSelector: "CUSTOMSELECTOR"
        case .contains: "CONTAINS"
        case .between: "BETWEEN"
        }
    }

    private static func options(_ options: ComparisonOptions) -> String {
        if options.isEmpty { return "" }
        let letters: [(ComparisonOptions, String)] = [
            (.caseInsensitive, "c"), (.diacriticInsensitive, "d"), (.normalized, "n"), (.localeSensitive, "l"),
        ]
        return "[" + letters.filter { options.contains($0.0) }.map(\.1).joined() + "]"
    }

    // MARK: Expressions

    package static func string(_ expression: ExpressionTree) -> String {
        switch expression {
        case .constant(let value): constant(value)
        case .evaluatedObject: "SELF"
        case .variable(let name): "$" + component(name)
        case .keyPath(let keys): keyPath(keys)
        case .keyPathOf(let base, let keys): operand(base) + "." + keys.map(component).joined(separator: ".")
        case .function(let name, let arguments): function(name, arguments)
        case .functionOn(let target, let selector, let arguments):
            "FUNCTION(\(([string(target), quoted(selector)] + arguments.map(string)).joined(separator: ", ")))"
        case .aggregate(let elements): "{\(elements.map(string).joined(separator: ", "))}"
        case .subquery(let collection, let variable, let predicate):
            "SUBQUERY(\(string(collection)), $\(component(variable)), \(string(predicate)))"
        case .index(let collection, let position): "\(operand(collection))[\(index(position))]"
        case .conditional(let condition, let first, let second):
            "TERNARY(\(string(condition)), \(string(first)), \(string(second)))"
        case .set(let operation, let left, let right): "\(operand(left)) \(name(operation)) \(operand(right))"
        case .opaque: "BLOCK(...)"
        }
    }

    /// An expression next to an operator, a dot or a bracket: in parentheses if it contains an operator.
    private static func operand(_ expression: ExpressionTree) -> String {
        switch expression {
        case .function(let name, let arguments) where arguments.count == 2 && FormatWords.signs[name] != nil:
            return "(\(string(expression)))"
        case .set: return "(\(string(expression)))"
        case .constant(let value as any Numeric) where constant(value).hasPrefix("-"): return "(\(string(expression)))"
        default: return string(expression)
        }
    }

    private static func function(_ name: String, _ arguments: [ExpressionTree]) -> String {
        if arguments.count == 2, let sign = FormatWords.signs[name] {
            return "\(operand(arguments[0])) \(sign) \(operand(arguments[1]))"
        }
        if name == FormatWords.cast, arguments.count == 2 {
            return "CAST(\(string(arguments[0])), \(string(arguments[1])))"
        }
        let words = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let escaped = ([component(words[0])] + words.dropFirst()).joined(separator: ":")
        return "\(escaped)(\(arguments.map(string).joined(separator: ", ")))"
    }

    private static func name(_ operation: SetOperation) -> String {
        switch operation {
        case .union: "UNION"
        case .intersect: "INTERSECT"
        case .minus: "MINUS"
        }
    }

    private static func index(_ index: CollectionIndex) -> String {
        switch index {
        case .first: "FIRST"
        case .last: "LAST"
        case .size: "SIZE"
        case .value(.keyPath(let keys))
        where keys.count == 1 && ["FIRST", "LAST", "SIZE"].contains(keys[0].uppercased()):
            "#" + keys[0]
        case .value(let expression): string(expression)
        }
    }

    // MARK: Keys

    private static func keyPath(_ keys: [String]) -> String {
        guard let first = keys.first else { return "SELF" }
        let isReserved = FormatWords.reserved.contains(first.uppercased())
        return ([isReserved ? "#" + component(first) : component(first)] + keys.dropFirst().map(component))
            .joined(separator: ".")
    }

    /// A key as a component of a path: characters that are not allowed in a key are escaped.
    private static func component(_ key: String) -> String {
        let isOperator = key.hasPrefix("@")
        let name = isOperator ? String(key.dropFirst()) : key
        var text = isOperator ? "@" : ""
        for (position, scalar) in name.unicodeScalars.enumerated() {
            let isPlain = scalar == "_" || scalar.properties.isAlphabetic || (position > 0 && "0"..."9" ~= scalar)
            text += isPlain ? String(scalar) : escape(scalar)
        }
        return text
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        "\\U" + hex(scalar.value, digits: 8)
    }

    private static func hex(_ value: UInt32, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    // MARK: Constants

    private static func constant(_ value: Any?) -> String {
        guard let value else { return "nil" }
        // Numbers are last, because a bridging cast to NSNumber accepts every Swift number and Boolean.
        if let cast = LiteralCast.text(of: value) { return cast }
        if let set = SetElements.of(value) { return "{\(set.map(constant).sorted().joined(separator: ", "))}" }
        switch value {
        case let text as String: return quoted(text)
        case let number as NSNumber: return self.number(number)
        case is NSNull: return "nil"
        case let list as [Any]: return "{\(list.map(constant).joined(separator: ", "))}"
        case let list as NSArray: return "{\(list.map(constant).joined(separator: ", "))}"
        case let set as NSOrderedSet: return "{\(set.map(constant).joined(separator: ", "))}"
        default: return "\(value)"
        }
    }

    private static func number(_ number: NSNumber) -> String {
        switch String(cString: number.objCType) {
        case "d", "f": real(number.doubleValue)
        default: number.stringValue
        }
    }

    /// A real number in a form that parses as a real number.
    static func real(_ value: Double) -> String { value.isFinite ? "\(value)" : "CAST(\"\(value)\", \"NSNumber\")" }

    /// A text in double quotes.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            case "\0"..."\u{1F}", "\u{7F}": result += "\\u" + hex(scalar.value, digits: 4)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
