/// The placeholders of a predicate format string.
package enum FormatPlaceholders {
    /// The conversion of each `%`, in order: `@`, `K`, `d`, `ld` …
    ///
    /// - Throws: if the text cannot be split into tokens.
    package static func conversions(in text: String) throws(FormatError) -> [String] {
        try FormatScanner.tokens(of: text).compactMap { token in
            if case .placeholder(let conversion) = token.kind { conversion } else { nil }
        }
    }
}
