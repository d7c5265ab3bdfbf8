import Foundation
import Translation

/// A typed text to find in the rows of a list.
///
/// `japan saitama` are two words: a row matches if it shows both, in any order and columns. `"south korea"` is one word,
/// and `/^b.*l$/` a regular expression that one cell has to match. Case and diacritics are ignored unless the text
/// contains `\C`, as in vi.
nonisolated struct FindPattern: Equatable {
    /// The text as typed.
    let text: String
    /// The words, or the regular expression.
    let terms: [FindTerm]
    /// The reason why the text is not a valid regular expression; `nil` if it is valid.
    let problem: String?

    init(_ text: String) {
        self.text = text
        let isExact = text.contains(#"\C"#)
        let pattern = text.replacing(#"\C"#, with: "").trimmingCharacters(in: .whitespaces)
        guard pattern.hasPrefix("/"), pattern.count > 1 else {
            terms = Self.words(pattern).map { FindTerm(word: $0, isExact: isExact) }
            problem = nil
            return
        }
        // The closing slash is optional: it is missing while the user types.
        let inner = pattern.dropFirst()
        let expression = String(inner.hasSuffix("/") ? inner.dropLast() : inner)
        let term = FindTerm(expression: expression, isExact: isExact)
        terms = expression.isEmpty ? [] : [term].compactMap(\.self)
        problem = term == nil ? sentence("\(expression) is not a regular expression") : nil
    }

    /// Splits a text at spaces, except between quotation marks. The last mark may be missing.
    private static func words(_ text: String) -> [String] {
        var words: [String] = []
        var rest = text[...]
        while true {
            rest = rest.drop(while: \.isWhitespace)
            guard let first = rest.first else { return words }
            if first == "\"", rest.count > 1 {
                let quoted = rest.dropFirst().prefix { $0 != "\"" }
                if !quoted.isEmpty { words.append(String(quoted)) }
                rest = rest.dropFirst(quoted.count + 2)
            } else {
                let word = rest.prefix { !$0.isWhitespace }
                words.append(String(word))
                rest = rest.dropFirst(word.count)
            }
        }
    }

    /// The pattern that finds a whole text; its words if it cannot be quoted.
    static func literal(_ text: String) -> String {
        let isWord = !text.contains(where: \.isWhitespace) && !text.hasPrefix("/")
        return isWord || text.contains("\"") ? text : "\"\(text)\""
    }

    /// True if the texts of a row match.
    func matches(_ texts: [String]) -> Bool {
        !terms.isEmpty && terms.allSatisfy { term in texts.contains { term.isIn($0) } }
    }

    /// The indices of the texts that contain one of the terms.
    func places(in texts: [String]) -> [Int] {
        texts.indices.filter { index in terms.contains { $0.isIn(texts[index]) } }
    }

    /// The parts of a text to highlight.
    func found(in text: String) -> [String] { terms.flatMap { $0.found(in: text) } }
}

/// One word or regular expression of a pattern.
nonisolated struct FindTerm: Equatable {
    let text: String
    private let expression: NSRegularExpression?
    private let isExact: Bool

    init(word: String, isExact: Bool) { (text, expression, self.isExact) = (word, nil, isExact) }

    /// - Returns: `nil` if the expression is malformed.
    init?(expression: String, isExact: Bool) {
        let options: NSRegularExpression.Options = isExact ? [] : .caseInsensitive
        guard let regex = try? NSRegularExpression(pattern: expression, options: options) else { return nil }
        (text, self.expression, self.isExact) = (expression, regex, isExact)
    }

    var isExpression: Bool { expression != nil }

    func isIn(_ other: String) -> Bool {
        if let expression { return expression.firstMatch(in: other, range: Self.whole(other)) != nil }
        return other.range(of: text, options: isExact ? [] : [.caseInsensitive, .diacriticInsensitive]) != nil
    }

    func found(in other: String) -> [String] {
        guard let expression else { return !isExact || isIn(other) ? [text] : [] }
        return expression.matches(in: other, range: Self.whole(other)).compactMap { match in
            Range(match.range, in: other).map { String(other[$0]) }
        }
    }

    private static func whole(_ text: String) -> NSRange { NSRange(text.startIndex..., in: text) }

    /// The predicate for the texts at a key path.
    func predicate(_ keyPath: String) -> NSPredicate {
        if isExpression {
            let pattern = "(?s:.*)(?:\(text))(?s:.*)"
            return NSPredicate(format: isExact ? "%K MATCHES %@" : "%K MATCHES[c] %@", keyPath, pattern)
        }
        return NSPredicate(format: isExact ? "%K CONTAINS %@" : "%K CONTAINS[cd] %@", keyPath, text)
    }
}
