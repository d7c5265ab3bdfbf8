/// A piece of SQL with the values of its `?`s. They stay together until the statement is prepared.
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

    /// Returns a `?` with its value.
    static func argument(_ value: SQLValue) -> SQLFragment { SQLFragment("?", [value]) }
}

extension Sequence where Element == SQLFragment {
    /// Concatenates the fragments with `separator` between them.
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
    /// Returns `name` for a statement: unchanged if it is a plain identifier, otherwise in double quotes.
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

/// Quoting of texts and names in statements.
package enum SQLText {
    /// Returns `text` between two quotes, with each quote in it doubled.
    ///
    /// Works on Unicode scalars, as databases do: in Swift a quote followed by a combining accent is another character.
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

    /// Returns `text` as a literal.
    package static func literal(_ text: String) -> String { enclosed(text, in: "'") }
}
