import Foundation
import PredicateSyntax

/// Translates `<`, `<=`, `>`, `>=` and BETWEEN. NULL on either side gives NULL, which counts as false.
extension PredicateToSQL {
    mutating func ordered(
        _ left: SQLOperand, _ sign: String, _ right: SQLOperand, _ options: ComparisonOptions
    ) throws -> SQLFragment {
        switch (left, right) {
        case (.expression(let left), .expression(let right)):
            guard isComparable(left, right) else { throw NeedsMemory("values of different kinds") }
            try check(left.kind)
            return try orderable(left, options) + " \(sign) " + orderable(right, options)
        case (.expression(let expression), .constant(let value)):
            guard let bound = try bound(value, expression.kind, options) else { return truth(false) }
            return try orderable(expression, options) + " \(sign) " + bound
        case (.constant(let value), .expression(let expression)):
            guard let bound = try bound(value, expression.kind, options) else { return truth(false) }
            return try bound + " \(sign) " + orderable(expression, options)
        default: throw NeedsMemory("collections have no order")
        }
    }

    mutating func between(
        _ left: SQLOperand, _ right: SQLOperand, _ options: ComparisonOptions
    ) throws -> SQLFragment {
        let bounds: [SQLOperand]
        switch right {
        case .constant(.collection(let values)): bounds = values.map { .constant($0) }
        case .list(let operands): bounds = operands
        case .constant: return truth(false)
        case .expression, .many: throw NeedsMemory("the bounds of BETWEEN are a list")
        }
        guard bounds.count == 2 else { return truth(false) }
        if case .constant = left, case .constant(.collection) = right { throw NeedsMemory("BETWEEN without a key") }
        let lower = try bound(left, ">=", bounds[0], options)
        let upper = try bound(left, "<=", bounds[1], options)
        return (lower + " AND " + upper).parenthesized
    }

    /// Translates one bound of BETWEEN. Both sides may be constants.
    private mutating func bound(
        _ left: SQLOperand, _ sign: String, _ right: SQLOperand, _ options: ComparisonOptions
    ) throws -> SQLFragment {
        guard case .constant(let left) = left, case .constant(let right) = right else {
            return try ordered(left, sign, right, options)
        }
        let result = ValueOrder.compare(left, right, options)
        return truth(
            sign == ">="
                ? result == .orderedDescending || result == .orderedSame : result != nil && result != .orderedDescending
        )
    }

    private func check(_ kind: SQLExpression.Kind) throws {
        switch kind {
        case .integer, .real, .date, .decimal, .text, .uuid, .data: return
        case .object, .entity, .opaque: throw NeedsMemory("objects have no order")
        }
    }

    /// Returns the SQL to compare: for texts with options, their folded bytes.
    private func orderable(_ expression: SQLExpression, _ options: ComparisonOptions) throws -> SQLFragment {
        guard TextFolding.isNeeded(options), expression.kind == .text else { return expression.fragment }
        return try schema.dialect.functions(for: "the order of folded texts").fold(expression.fragment, options)
    }

    private func bound(
        _ value: PredicateValue, _ kind: SQLExpression.Kind, _ options: ComparisonOptions
    ) throws -> SQLFragment? {
        try check(kind)
        if TextFolding.isNeeded(options), kind == .text {
            _ = try schema.dialect.functions(for: "the order of folded texts")
            guard case .text(let text) = value else { return nil }
            return .argument(.blob(Data(TextFolding.bytes(of: text, options))))
        }
        return try bound(value, for: kind).map { .argument($0) }
    }
}
