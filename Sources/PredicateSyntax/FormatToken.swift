/// One word, number, text or sign of a predicate format string.
struct FormatToken: Equatable {
    enum Kind: Equatable {
        /// A word: a key, a keyword or the name of a function with its colons. `keyword` is its upper-case form if that
        /// is reserved; `nil` after `#`.
        case word(String, keyword: String?)
        /// `@name` of a collection operator, with the `@`.
        case operatorKey(String)
        /// `$name`, without the `$`.
        case variable(String)
        /// The digits of the text, with prefix and exponent.
        case number(String)
        /// A quoted text, with escapes resolved.
        case text(String)
        /// `%@`, `%K` or a printf number: the conversion without the `%`.
        case placeholder(String)
        /// An operator or a bracket.
        case sign(String)
        case end
    }

    let kind: Kind
    /// The start, in scalars.
    let start: Int
    /// The end, in scalars.
    let end: Int
}
