import PredicateSyntax

/// Translates BEGINSWITH, ENDSWITH, CONTAINS, LIKE and MATCHES.
extension PredicateToSQL {
    mutating func textSearch(
        _ search: SQLTextSearch, _ left: SQLOperand, _ right: SQLOperand, _ options: ComparisonOptions
    ) throws -> SQLFragment {
        if case .constant(.text(let pattern)) = right, search == .matches { _ = try TextPattern(pattern, options) }
        guard let text = try textFragment(left), let part = try textFragment(right) else { return truth(false) }
        if !TextFolding.isNeeded(options) {
            let dialect = schema.dialect
            if search == .contains { return "\(dialect.positionFunction)(" + text + ", " + part + ") > 0" }
            if search == .endsWith, let end = dialect.endFunction {
                return (end + "(" + text + ", length(" + part + ")) = " + part).parenthesized
            }
            if search == .beginsWith, case .expression = left, case .constant(.text(let prefix)) = right {
                return range(text, prefix)
            }
        }
        return try schema.dialect.functions(for: "this search of texts").search(
            search, text, part, options)
    }

    /// Returns one side as SQL of a text; `nil` for a constant of another type, in which nothing is found.
    private func textFragment(_ operand: SQLOperand) throws -> SQLFragment? {
        switch operand {
        case .constant(.text(let text)): return .argument(try schema.dialect.comparable(.text(text), with: .text))
        case .constant(.collection): throw NeedsMemory("collections are searched in memory")
        case .constant: return nil
        case .expression(let expression) where expression.kind == .text: return expression.fragment
        case .expression, .many, .list: throw NeedsMemory("only texts are searched in SQL")
        }
    }

    /// Matches texts from `prefix` up to the least one after all with that prefix, a range that an index serves.
    private func range(_ text: SQLFragment, _ prefix: String) -> SQLFragment {
        if prefix.isEmpty { return text + " IS NOT NULL" }
        let lower = text + " >= " + .argument(.text(prefix))
        guard let end = Self.successor(of: prefix) else { return lower }
        return (lower + " AND " + text + " < " + .argument(.text(end))).parenthesized
    }

    /// The least text greater than every text that begins with `prefix`; `nil` if none exists.
    static func successor(of prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            // UTF-8 keeps the order of scalars. Surrogates are not scalars.
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            if let scalar = Unicode.Scalar(next) {
                return String(String.UnicodeScalarView(scalars + [scalar]))
            }
        }
        return nil
    }
}
