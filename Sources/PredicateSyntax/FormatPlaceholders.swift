/// The placeholders of a predicate format string.
package enum FormatPlaceholders {
    /// The conversion behind each `%`, in order: `@`, `K`, `d`, `ld` …
    ///
    /// - Throws: where the text cannot be cut into words.
    package static func conversions(in text: String) throws(FormatError) -> [String] {
        try FormatScanner.tokens(of: text).compactMap { token in
            if case .placeholder(let conversion) = token.kind { conversion } else { nil }
        }
    }
}
