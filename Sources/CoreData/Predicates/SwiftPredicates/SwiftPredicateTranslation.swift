import Foundation
import PredicateSyntax

/// A `#Predicate` node with an equivalent in Core Data's predicates.
protocol TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode
}

/// The translation of a node: a condition for Swift's Boolean operators, otherwise a value.
enum TranslatedNode {
    /// A condition. `isNilWhere` is true if the condition, an optional Boolean in Swift, is `nil`.
    case condition(PredicateTree, isNilWhere: PredicateTree?)
    case value(ExpressionTree)
    /// The order of two texts. It becomes a condition in a comparison with a `ComparisonResult`.
    case order(ExpressionTree, ExpressionTree, ComparisonOptions)

    static func condition(_ tree: PredicateTree) -> TranslatedNode { .condition(tree, isNilWhere: nil) }
}

/// Translates the nodes of one `#Predicate` to a tree, and keeps the meanings of its variables.
final class SwiftPredicateTranslation {
    private var meanings: [PredicateExpressions.VariableID: ExpressionTree]
    private var variableCount = 0

    /// - Parameter input: the variable for the evaluated object.
    init(input: PredicateExpressions.VariableID) { meanings = [input: .evaluatedObject] }

    func translate(_ node: Any) throws -> TranslatedNode {
        guard let node = node as? any TranslatablePredicateExpression else { throw Self.unsupported(Self.name(node)) }
        return try node.translated(self)
    }

    /// `node` as a condition; a value is compared with `true`.
    func predicate(_ node: Any) throws -> PredicateTree {
        switch try translate(node) {
        case .condition(let tree, _): tree
        case .value(.constant(let value as Bool)): .constant(value)
        case .value(let value): .equal(value, .constant(true))
        case .order: throw Self.unsupported("a text comparison used as a condition")
        }
    }

    /// `node` as a value; a condition becomes `true` or `false`.
    func value(_ node: Any) throws -> ExpressionTree {
        switch try translate(node) {
        case .condition(let tree, nil): .conditional(tree, .constant(true), .constant(false))
        case .condition(let tree, let isNil?):
            .conditional(isNil, .constant(nil), .conditional(tree, .constant(true), .constant(false)))
        case .value(let value): value
        case .order: throw Self.unsupported("a text comparison result not compared with a constant")
        }
    }

    /// The expression that a variable of the predicate represents.
    func meaning(of variable: PredicateExpressions.VariableID) throws -> ExpressionTree {
        guard let meaning = meanings[variable] else { throw Self.unsupported("a variable of another predicate") }
        return meaning
    }

    /// Runs `body` with `variable` representing `meaning`.
    func with<Result>(
        _ variable: PredicateExpressions.VariableID, as meaning: ExpressionTree, _ body: () throws -> Result
    ) rethrows -> Result {
        let before = meanings.updateValue(meaning, forKey: variable)
        defer { meanings[variable] = before }
        return try body()
    }

    /// The elements of `sequence` that satisfy `test`, as a `SUBQUERY`.
    func subquery(
        _ sequence: Any, _ variable: PredicateExpressions.VariableID, _ test: Any, negated: Bool = false
    ) throws -> ExpressionTree {
        let collection = try value(sequence)
        variableCount += 1
        let name = "x\(variableCount)"
        let condition = try with(variable, as: .variable(name)) { try predicate(test) }
        return .subquery(collection, variable: name, predicate: negated ? .not(condition) : condition)
    }

    static func unsupported(_ what: String) -> CocoaError {
        CocoaError(
            CocoaError.Code(rawValue: 2048),
            userInfo: [
                NSLocalizedDescriptionKey:
                    "Cannot translate the predicate for a store: it contains \(what). Use a format string."
            ])
    }

    /// The name of a node's type without module and generic parameters.
    private static func name(_ node: Any) -> String {
        let type = String(reflecting: type(of: node))
        let bare = type.prefix { $0 != "<" }
        return bare.split(separator: ".").last.map(String.init) ?? type
    }
}

extension PredicateTree {
    static func compare(
        _ left: ExpressionTree, _ comparison: ComparisonOperator, _ right: ExpressionTree,
        _ options: ComparisonOptions = []
    ) -> PredicateTree {
        .comparison(ComparisonTree(left: left, right: right, comparison: comparison, options: options))
    }

    static func equal(_ left: ExpressionTree, _ right: ExpressionTree) -> PredicateTree {
        compare(left, .equalTo, right)
    }
}

extension ExpressionTree {
    /// The value at `keys` of this expression.
    func appending(_ keys: [String]) -> ExpressionTree {
        switch self {
        case .evaluatedObject: .keyPath(keys)
        case .keyPath(let own): .keyPath(own + keys)
        case .keyPathOf(let root, let own): .keyPathOf(root, own + keys)
        default: .keyPathOf(self, keys)
        }
    }

    /// The number of elements of this collection.
    var elementCount: ExpressionTree { appending(["@count"]) }
}
