import PredicateSyntax

// Tokens have no total order: each is a position in the history of every store it contains. "Before" and "after" a
// token depend on the transaction's store and number, as for `fetchHistory(after:)`.

extension PredicateTree {
    /// The predicate with comparisons such as `token > t` replaced by comparisons of the transaction's store and
    /// number.
    ///
    /// - Parameter check: called with each such token; throws to refuse it.
    func comparingTokens(_ check: (NSPersistentHistoryToken) throws -> Void) rethrows -> PredicateTree {
        switch self {
        case .constant, .opaque: return self
        case .and(let parts): return .and(try parts.map { try $0.comparingTokens(check) })
        case .or(let parts): return .or(try parts.map { try $0.comparingTokens(check) })
        case .not(let part): return .not(try part.comparingTokens(check))
        case .comparison(let tree):
            guard tree.modifier == .direct, let compared = try tree.comparingTokens(check) else { return self }
            return compared
        }
    }
}

extension ComparisonTree {
    /// The replacement; `nil` if this is not an order comparison of a transaction's token with another token.
    fileprivate func comparingTokens(_ check: (NSPersistentHistoryToken) throws -> Void) rethrows -> PredicateTree? {
        switch (left, right) {
        case (.keyPath(let keys), .constant(let token as NSPersistentHistoryToken)) where keys.last == "token":
            guard comparison.mirrored != nil else { return nil }
            try check(token)
            return token.comparison(comparison, of: Array(keys.dropLast()))
        case (.constant(let token as NSPersistentHistoryToken), .keyPath(let keys)) where keys.last == "token":
            guard let comparison = comparison.mirrored else { return nil }
            try check(token)
            return token.comparison(comparison, of: Array(keys.dropLast()))
        case (.keyPath, .aggregate(let bounds)) where comparison == .between && bounds.count == 2:
            let lower = ComparisonTree(left: left, right: bounds[0], comparison: .greaterThanOrEqualTo)
            let upper = ComparisonTree(left: left, right: bounds[1], comparison: .lessThanOrEqualTo)
            guard let lower = try lower.comparingTokens(check), let upper = try upper.comparingTokens(check) else {
                return nil
            }
            return .and([lower, upper])
        default: return nil
        }
    }
}

extension NSPersistentHistoryToken {
    /// Compares the transactions at `keys` with this token. In a store that the token does not contain, it has
    /// covered nothing.
    fileprivate func comparison(_ sign: ComparisonOperator, of keys: [String]) -> PredicateTree {
        let (store, number) = (
            ExpressionTree.keyPath(keys + ["storeID"]), ExpressionTree.keyPath(keys + ["transactionNumber"])
        )
        func compared(with last: Int64) -> PredicateTree {
            .comparison(ComparisonTree(left: number, right: .constant(last), comparison: sign))
        }
        func isStore(_ identifier: String) -> PredicateTree {
            .comparison(ComparisonTree(left: store, right: .constant(identifier), comparison: .equalTo))
        }
        let known = numbers.map { PredicateTree.and([isStore($0.key), compared(with: $0.value)]) }
        let isKnown = PredicateTree.or(numbers.keys.map(isStore))
        return .or(known + [.and([.not(isKnown), compared(with: 0)])])
    }
}

extension ComparisonOperator {
    /// The operator with its sides exchanged; `nil` for operators other than order comparisons.
    fileprivate var mirrored: ComparisonOperator? {
        switch self {
        case .lessThan: .greaterThan
        case .lessThanOrEqualTo: .greaterThanOrEqualTo
        case .greaterThan: .lessThan
        case .greaterThanOrEqualTo: .lessThanOrEqualTo
        default: nil
        }
    }
}
