/// A piece of SQL and the values of its `?`s, joined as values until the statement is prepared.
package struct SQLFragment: Equatable {
    package var text: String
    package var arguments: [SQLValue]

    init(_ text: String, _ arguments: [SQLValue] = []) {
        self.text = text
        self.arguments = arguments
    }

    static func + (left: SQLFragment, right: SQLFragment) -> SQLFragment {
        SQLFragment(left.text + right.text, left.arguments + right.arguments)
    }

    static func += (left: inout SQLFragment, right: SQLFragment) {
        left.text += right.text
        left.arguments += right.arguments
    }

    static func + (left: SQLFragment, right: String) -> SQLFragment { SQLFragment(left.text + right, left.arguments) }

    static func + (left: String, right: SQLFragment) -> SQLFragment { SQLFragment(left + right.text, right.arguments) }

    /// The fragment in parentheses.
    var parenthesized: SQLFragment { "(" + self + ")" }

    /// One bound value.
    static func argument(_ value: SQLValue) -> SQLFragment { SQLFragment("?", [value]) }
}

extension Sequence where Element == SQLFragment {
    /// The fragments one after the other with `separator` between them.
    func joined(separator: String) -> SQLFragment {
        var result = SQLFragment("")
        var isFirst = true
        for fragment in self {
            if !isFirst { result.text += separator }
            isFirst = false
            result += fragment
        }
        return result
    }
}

/// Names in SQL text.
enum SQLName {
    /// `name` as it may stand in a statement: as it is when it is a plain identifier, else in double quotes.
    static func quoted(_ name: String) -> String {
        let isPlain =
            name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                    true
                default: false
                }
            } && name.utf8.first.map { $0 > UInt8(ascii: "9") } == true
        return isPlain ? name : SQLText.enclosed(name, in: "\"")
    }
}

/// Texts and names between quotes in a statement.
package enum SQLText {
    /// `text` between two quotes, with each quote in it doubled.
    ///
    /// By scalars, as a database reads it: a quote with an accent behind it is one character to Swift, and not that quote.
    package static func enclosed(_ text: String, in quote: Unicode.Scalar) -> String {
        var result = String.UnicodeScalarView()
        result.append(quote)
        for scalar in text.unicodeScalars {
            if scalar == quote { result.append(quote) }
            result.append(scalar)
        }
        result.append(quote)
        return String(result)
    }

    /// `text` as a literal.
    package static func literal(_ text: String) -> String { enclosed(text, in: "'") }
}
