/// A token of Swift source. Spaces and comments are not tokens.
struct SourceToken {
    enum Kind {
        /// A name or a keyword, including backticks, or a name such as `$0`.
        case word
        case number
        /// One character of an operator. Operators of several characters are several tokens.
        case sign
        /// One of `( ) [ ] { } , ; : . @ \`.
        case mark
        /// `#` and a word: `#if`, `#keyPath`.
        case directive
        /// Parts of a string literal: the opening quotes, texts and interpolations, the closing quotes.
        case stringOpening, stringText, interpolationOpening, interpolationClosing, stringClosing
        case regex
    }

    let kind: Kind
    /// Range of the token's bytes in the file.
    let range: Range<Int>
    /// True if the token is the first of its line.
    let startsLine: Bool
}

/// The reason why a text cannot be read as Swift.
struct ScanProblem: Error, Equatable {
    /// Offset of the first wrong byte.
    let offset: Int
    let message: String
}
