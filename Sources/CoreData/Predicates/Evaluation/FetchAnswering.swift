import PredicateSyntax

/// A context that runs fetch expressions.
protocol FetchAnswering: AnyObject {
    /// The result of a fetch request: an array, or the count as an `NSNumber`; `nil` if the fetch fails.
    func answer(toFetch request: Any, countOnly: Bool) -> Any?
}

extension PredicateCompiler {
    /// `FETCH(request, context, countOnly)`. Runs at each evaluation, because the result may change.
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
