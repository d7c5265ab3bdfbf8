import Foundation

/// One of the columns that a user names: a key path or an expression, with a title after `as`.
struct ColumnText {
    /// The key path or expression.
    let source: String
    let title: String

    /// - Parameter text: `wins`, `homeVenue.name as venue` or `wins / (wins + losses) as rate`.
    init(_ text: String) {
        let text = text.trimmingCharacters(in: .whitespaces)
        let word = Self.places(in: text) { rest in rest.prefix(4).lowercased() == " as " }.last
        if let word {
            source = text[..<word].trimmingCharacters(in: .whitespaces)
            title = text[text.index(word, offsetBy: 4)...].trimmingCharacters(in: .whitespaces)
        } else {
            (source, title) = (text, text)
        }
    }

    /// True if the source has no operators, calls or constants.
    var isKeyPath: Bool {
        source.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { key in
            key.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } && key.first?.isNumber != true
        }
    }

    /// The parts of a list between its commas, apart from those in brackets and quotation marks.
    static func list(_ text: String) -> [String] {
        var parts: [String] = []
        var start = text.startIndex
        for comma in places(in: text, where: { $0.first == "," }) {
            parts.append(String(text[start..<comma]))
            start = text.index(after: comma)
        }
        return (parts + [String(text[start...])]).map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// The places outside of brackets and quotation marks where the rest of the text is wanted.
    private static func places(in text: String, where isWanted: (Substring) -> Bool) -> [String.Index] {
        var (places, depth, quote): ([String.Index], Int, Character?) = ([], 0, nil)
        for place in text.indices {
            let character = text[place]
            if let open = quote {
                if character == open { quote = nil }
            } else if "\"'".contains(character) {
                quote = character
            } else if "([{".contains(character) {
                depth += 1
            } else if ")]}".contains(character) {
                depth -= 1
            } else if depth == 0, isWanted(text[place...]) {
                places.append(place)
            }
        }
        return places
    }
}
