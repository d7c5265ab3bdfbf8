import PredicateSyntax

/// Translates `==` and `!=`.
extension PredicateToSQL {
    mutating func equal(
        _ left: SQLOperand, _ right: SQLOperand, _ options: ComparisonOptions
    ) throws -> SQLFragment {
        switch (left, right) {
        case (.expression(let left), .expression(let right)): return try equal(left, right, options)
        case (.expression(let expression), .constant(let value)), (.constant(let value), .expression(let expression)):
            return try equal(expression, value, options)
        default: throw NeedsMemory("collections are compared in memory")
        }
    }

    /// A comparison with a constant is `ZCOL = ?`, for which an index can be used.
    private func equal(
        _ expression: SQLExpression, _ value: PredicateValue, _ options: ComparisonOptions
    ) throws -> SQLFragment {
        if value.isNull { return expression.fragment + " IS NULL" }
        if case .collection = value {
            // A list equals no single value, but an empty list equals nil.
            guard let single = try single(value, for: expression.kind) else { return truth(false) }
            return try equal(expression, single, options)
        }
        if TextFolding.isNeeded(options), expression.kind == .text {
            guard case .text(let text) = value else { return truth(false) }
            return try schema.dialect.functions(for: "comparing folded texts").search(
                .equal, expression.fragment, .argument(.text(text)), options)
        }
        guard let bound = try bound(value, for: expression.kind) else { return expression.fragment + " IS NULL" }
        return expression.fragment + " = " + .argument(bound)
    }

    private func equal(
        _ left: SQLExpression, _ right: SQLExpression, _ options: ComparisonOptions
    ) throws -> SQLFragment {
        guard isComparable(left, right) else { throw NeedsMemory("values of different kinds") }
        if TextFolding.isNeeded(options), left.kind == .text {
            let search = try schema.dialect.functions(for: "comparing folded texts").search(
                .equal, left.fragment, right.fragment, options)
            let none = left.fragment + " IS NULL AND " + right.fragment + " IS NULL"
            return (search + " OR " + none.parenthesized).parenthesized
        }
        return left.fragment + " \(schema.dialect.isSame) " + right.fragment
    }

    /// Returns a constant as a single value: null for an empty collection, `nil` for any other collection.
    func single(_ value: PredicateValue, for kind: SQLExpression.Kind) throws -> PredicateValue? {
        guard case .collection(let elements) = value else { return value }
        if kind == .opaque { throw NeedsMemory("collections are compared in memory") }
        return elements.isEmpty ? .null : nil
    }

    mutating func notEqual(
        _ left: SQLOperand, _ right: SQLOperand, _ options: ComparisonOptions
    ) throws -> SQLFragment {
        let expression: SQLExpression
        let value: PredicateValue
        switch (left, right) {
        case (.expression(let left), .constant(let right)): (expression, value) = (left, right)
        case (.constant(let left), .expression(let right)): (expression, value) = (right, left)
        default: return try equal(left, right, options).isNotTrue
        }
        if value.isNull { return expression.fragment + " IS NOT NULL" }
        if case .collection = value { return try equal(left, right, options).isNotTrue }
        if TextFolding.isNeeded(options) { return try equal(left, right, options).isNotTrue }
        guard let bound = try bound(value, for: expression.kind) else { return expression.fragment + " IS NOT NULL" }
        return expression.fragment + " \(schema.dialect.isNotSame) " + .argument(bound)
    }
}
