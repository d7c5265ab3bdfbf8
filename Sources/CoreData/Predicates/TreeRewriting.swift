import PredicateSyntax

extension ExpressionTree {
    /// The tree with parts replaced. Calls `change` for each part, starting with the whole. If it returns `nil`, the
    /// part remains and its own parts are visited.
    func rewritten(_ change: (ExpressionTree) throws -> ExpressionTree?) rethrows -> ExpressionTree {
        if let changed = try change(self) { return changed }
        switch self {
        case .constant, .evaluatedObject, .keyPath, .opaque, .variable: return self
        case .keyPathOf(let base, let keys): return .keyPathOf(try base.rewritten(change), keys)
        case .function(let name, let arguments): return .function(name, try arguments.map { try $0.rewritten(change) })
        case .functionOn(let target, let selector, let arguments):
            return .functionOn(
                try target.rewritten(change), selector, try arguments.map { try $0.rewritten(change) })
        case .aggregate(let elements): return .aggregate(try elements.map { try $0.rewritten(change) })
        case .subquery(let collection, let variable, let predicate):
            return .subquery(
                try collection.rewritten(change), variable: variable, predicate: try predicate.rewritten(change))
        case .index(let collection, .value(let place)):
            return .index(try collection.rewritten(change), .value(try place.rewritten(change)))
        case .index(let collection, let position): return .index(try collection.rewritten(change), position)
        case .conditional(let condition, let first, let second):
            return .conditional(
                try condition.rewritten(change), try first.rewritten(change), try second.rewritten(change))
        case .set(let operation, let left, let right):
            return .set(operation, try left.rewritten(change), try right.rewritten(change))
        }
    }
}

extension PredicateTree {
    /// The tree with parts of its expressions replaced, as ``ExpressionTree/rewritten(_:)`` does.
    func rewritten(_ change: (ExpressionTree) throws -> ExpressionTree?) rethrows -> PredicateTree {
        switch self {
        case .constant, .opaque: return self
        case .comparison(var comparison):
            comparison.left = try comparison.left.rewritten(change)
            comparison.right = try comparison.right.rewritten(change)
            return .comparison(comparison)
        case .and(let parts): return .and(try parts.map { try $0.rewritten(change) })
        case .or(let parts): return .or(try parts.map { try $0.rewritten(change) })
        case .not(let part): return .not(try part.rewritten(change))
        }
    }
}
