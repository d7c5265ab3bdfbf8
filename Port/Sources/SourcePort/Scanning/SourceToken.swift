/// A piece of Swift source with a meaning of its own: the text between spaces and comments.
struct SourceToken {
    enum Kind {
        /// A name or a keyword, with its backticks; `$0` too.
        case word
        case number
        /// One character of an operator: operators are not put together.
        case sign
        /// One of `( ) [ ] { } , ; : . @ \`.
        case mark
        /// `#` and a word: `#if`, `#keyPath`.
        case directive
        /// A string literal is its opening quotes, then texts and interpolations in turn, then its closing quotes.
        case stringOpening, stringText, interpolationOpening, interpolationClosing, stringClosing
        case regex
    }

    let kind: Kind
    /// Its bytes in the file.
    let range: Range<Int>
    /// Whether nothing but spaces and comments stands before it on its line.
    let startsLine: Bool
}

/// Why a text is not taken for Swift.
struct ScanProblem: Error, Equatable {
    /// The byte at which what is wrong begins.
    let offset: Int
    let message: String
}
