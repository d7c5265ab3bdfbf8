import PredicateSyntax

/// Gives predicates and expressions of models as format strings.
enum SyntaxPrinter {
    /// The text of a source model as it stands there, the structure of a compiled one as text that parses back to it.
    static func text(_ predicate: PredicateDocument) -> String {
        if case .format(let text) = predicate { return text }
        return (try? FormatPrinter.string(PredicateTranslation.tree(predicate))) ?? "FALSEPREDICATE"
    }

    /// The text of a source model as it stands there, the structure of a compiled one as text that parses back to it.
    static func text(_ expression: ExpressionDocument) -> String {
        if case .format(let text) = expression { return text }
        return (try? FormatPrinter.string(PredicateTranslation.tree(expression))) ?? "nil"
    }

    /// One text for equal expressions, however they are spelled.
    static func standardText(_ expression: ExpressionDocument) -> String {
        (try? FormatPrinter.string(PredicateTranslation.tree(expression))) ?? text(expression)
    }
}
