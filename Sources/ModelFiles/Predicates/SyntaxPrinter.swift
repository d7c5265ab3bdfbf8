import PredicateSyntax

/// Converts predicates and expressions of models to format strings.
enum SyntaxPrinter {
    /// The text of a source model unchanged; the structure of a compiled one as text that parses to the same structure.
    static func text(_ predicate: PredicateDocument) -> String {
        if case .format(let text) = predicate { return text }
        return (try? FormatPrinter.string(PredicateTranslation.tree(predicate))) ?? "FALSEPREDICATE"
    }

    /// The text of a source model unchanged; the structure of a compiled one as text that parses to the same structure.
    static func text(_ expression: ExpressionDocument) -> String {
        if case .format(let text) = expression { return text }
        return (try? FormatPrinter.string(PredicateTranslation.tree(expression))) ?? "nil"
    }

    /// A text that is the same for equal expressions, however they are written.
    static func standardText(_ expression: ExpressionDocument) -> String {
        (try? FormatPrinter.string(PredicateTranslation.tree(expression))) ?? text(expression)
    }
}
