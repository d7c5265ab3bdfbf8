import Foundation
import PredicateSyntax

/// The whole tree as text, to compare two trees: kinds, types of constants, and nesting.
///
/// A list given as one argument is equal to the aggregate `{…}` of its elements. A Boolean is equal to the number 1 or
/// 0 and printed as such, as Apple's predicates print it.
enum TreeText {
    static func text(_ predicate: PredicateTree) -> String {
        switch predicate {
        case .constant(let value): "\(value)"
        case .comparison(let tree):
            "(\(tree.modifier) \(tree.comparison) \(tree.options.rawValue) \(text(tree.left)) \(text(tree.right)))"
        case .and(let parts): "(and \(parts.map(text).joined(separator: " ")))"
        case .or(let parts): "(or \(parts.map(text).joined(separator: " ")))"
        case .not(let inner): "(not \(text(inner)))"
        case .opaque: "code"
        }
    }

    static func text(_ expression: ExpressionTree) -> String {
        switch expression {
        case .constant(let value): constant(value)
        case .evaluatedObject: "self"
        case .variable(let name): "(variable \(name))"
        case .keyPath(let keys): "(keys \(keys))"
        case .keyPathOf(let base, let keys): "(keys of \(text(base)) \(keys))"
        case .function(let name, let arguments): "(call \(name) \(arguments.map(text).joined(separator: " ")))"
        case .functionOn(let target, let name, let arguments):
            "(call on \(text(target)) \(name) \(arguments.map(text).joined(separator: " ")))"
        case .aggregate(let elements): "(list \(elements.map(text).joined(separator: " ")))"
        case .subquery(let collection, let variable, let predicate):
            "(subquery \(text(collection)) \(variable) \(text(predicate)))"
        case .index(let collection, .value(let index)): "(index \(text(collection)) \(text(index)))"
        case .index(let collection, let index): "(index \(text(collection)) \(index))"
        case .conditional(let condition, let first, let second):
            "(if \(text(condition)) \(text(first)) \(text(second)))"
        case .set(let operation, let left, let right): "(\(operation) \(text(left)) \(text(right)))"
        case .opaque: "code"
        }
    }

    private static func constant(_ value: Any?) -> String {
        switch value {
        case nil, is NSNull: "nil"
        case let text as String: "(text \(text.unicodeScalars.map { String($0.value, radix: 16) }))"
        case let list as [Any]: "(list \(list.map { constant($0) }.joined(separator: " ")))"
        case let number as NSNumber where !(number is NSDecimalNumber):
            ["d", "f"].contains(String(cString: number.objCType)) ? "(real \(number.doubleValue))" : "(whole \(number))"
        case let value?: "(\(type(of: value)) \(value))"
        }
    }
}
