import PredicateSyntax

/// A context, for expressions that fetch.
protocol FetchAnswering: AnyObject {
    /// What a fetch request finds: an array, or the count as an `NSNumber`; `nil` where the fetch fails.
    func answer(toFetch request: Any, countOnly: Bool) -> Any?
}

extension PredicateCompiler {
    /// `FETCH(request, context, countOnly)`: evaluated each time, as the answer may differ.
    mutating func fetch(_ arguments: [ExpressionTree]) throws -> CompiledExpression {
        let (request, context, count) = (
            try expression(arguments[0]), try expression(arguments[1]), try expression(arguments[2])
        )
        return CompiledExpression { frame in
            guard let request = request.evaluate(frame).foundationValue,
                let context = context.evaluate(frame).foundationValue as? any FetchAnswering
            else { return .null }
            let isCount = NumberCoercion.integer(count.evaluate(frame).foundationValue ?? 0) ?? 0
            return PredicateValue(context.answer(toFetch: request, countOnly: isCount != 0))
        }
    }
}
