import PredicateSyntax

// Searches that ignore case or diacritics have no exact SQL if the database cannot call the evaluators' functions. The
// database can still decide for texts whose characters fold as ASCII does. It returns all other texts for a check in
// memory, which are few rows in most tables.

extension PredicateToSQL {
    /// Returns a condition that all matching rows meet, and perhaps others; `nil` if none narrows the rows.
    ///
    /// - Throws: as ``translateConjunction(_:)``.
    mutating func superset(_ predicate: PredicateTree) throws -> SQLFragment? {
        guard schema.dialect.unlikeASCII != nil else { return nil }
        let before = (scopes, variables)
        do {
            if let fragment = try nested(4, { try $0.narrowing(predicate) }) { return try Self.bounded(fragment) }
        } catch is NeedsMemory {}
        (scopes, variables) = before
        return nil
    }

    private mutating func narrowing(_ predicate: PredicateTree) throws -> SQLFragment? {
        switch predicate {
        case .and:
            let terms = try translateConjunction(predicate).terms
            return terms.isEmpty ? nil : Self.balanced(terms[...], " AND ").parenthesized
        case .or:
            var terms: [SQLFragment] = []
            for part in predicate.disjuncts {
                guard let term = try alternative(part) else { return nil }
                terms.append(term)
            }
            return Self.balanced(terms[...], " OR ").parenthesized
        case .comparison(let tree): return try folded(tree)
        case .constant, .not, .opaque: return nil
        }
    }

    private mutating func alternative(_ part: PredicateTree) throws -> SQLFragment? {
        if case .exact(let fragment) = try translate(part) { return fragment }
        return try superset(part)
    }

    private mutating func folded(_ tree: ComparisonTree) throws -> SQLFragment? {
        guard let unlike = schema.dialect.unlikeASCII, tree.modifier == .direct,
            !tree.options.contains(.localeSensitive), TextFolding.isNeeded(tree.options),
            case .expression(let left) = try operand(tree.left), left.kind == .text,
            case .constant(.text(let part)) = try operand(tree.right)
        else { return nil }
        let folded = String(decoding: TextFolding.bytes(of: part, tree.options), as: UTF8.self)
        let argument = SQLFragment.argument(try schema.dialect.comparable(.text(folded), with: .text))
        let text = tree.options.contains(.caseInsensitive) ? "lower(" + left.fragment + ")" : left.fragment
        let position = "\(schema.dialect.positionFunction)(" + text + ", " + argument + ")"
        let found: SQLFragment
        switch tree.comparison {
        case .equalTo: found = text + " = " + argument
        case .contains: found = position + " > 0"
        case .beginsWith: found = position + " = 1"
        case .endsWith:
            guard let end = schema.dialect.endFunction else { return nil }
            found = SQLFragment("\(end)(") + text + ", length(" + argument + ")) = " + argument
        default: return nil
        }
        return (found + " OR " + left.fragment + SQLFragment(unlike)).parenthesized
    }
}
