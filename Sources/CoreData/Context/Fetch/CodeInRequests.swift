import PredicateSyntax

// Code of the program's that is in a request (a predicate that is a block, a comparator) may fetch through the same coordinator, or
// wait for a queue that does: it never runs under the coordinator's lock.

extension FetchPlan {
    /// Whether finding the objects calls code of the program's.
    var runsCode: Bool {
        query.predicate?.hasCode ?? false || query.sortKeys.contains { $0.comparison == .custom }
    }
}

extension PredicateTree {
    fileprivate var hasCode: Bool {
        switch self {
        case .constant: false
        case .opaque: true
        case .comparison(let comparison): comparison.left.hasCode || comparison.right.hasCode
        case .and(let parts), .or(let parts): parts.contains(where: \.hasCode)
        case .not(let part): part.hasCode
        }
    }
}

extension ExpressionTree {
    fileprivate var hasCode: Bool {
        switch self {
        case .evaluatedObject, .keyPath, .constant, .variable: false
        case .opaque, .functionOn: true
        case .keyPathOf(let target, _): target.hasCode
        case .function(_, let arguments): arguments.contains(where: \.hasCode)
        case .aggregate(let elements): elements.contains(where: \.hasCode)
        case .subquery(let collection, _, let predicate): collection.hasCode || predicate.hasCode
        case .index(let collection, _): collection.hasCode
        case .conditional(let predicate, let yes, let no): predicate.hasCode || yes.hasCode || no.hasCode
        case .set(_, let left, let right): left.hasCode || right.hasCode
        }
    }
}
