import PredicateSyntax

/// `==` and, negated, `!=`.
enum EqualityRelation {
    static func equal(_ options: ComparisonOptions, right: PredicateValue?) -> PredicateCompiler.Relation {
        guard TextFolding.isNeeded(options) else { return { ValueOrder.areEqual($0, $1) } }
        if case .text(let text) = right {
            let folded = TextFolding.bytes(of: text, options)
            return { left, _ in
                guard case .text(let left) = left else { return false }
                return TextFolding.bytes(of: left, options) == folded
            }
        }
        return { ValueOrder.areEqual($0, $1, options) }
    }
}
