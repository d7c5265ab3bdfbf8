/// A syntax error in a predicate format string: the position, the expected text, and the text found.
package struct FormatError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The position as a number of characters from the start of the text: 0 is the first one.
    package let offset: Int
    /// The text that the grammar expects there, worded to follow "expected".
    package let expected: String
    /// The text found there, worded to follow "found".
    package let found: String

    /// One line, without the position: `expected a value after ==, found the end`.
    package var message: String { "expected \(expected), found \(found)" }

    /// One line with the position, counted from 1.
    package var description: String { "\(message) (at character \(offset + 1))" }

    package init(offset: Int, expected: String, found: String) {
        self.offset = offset
        self.expected = expected
        self.found = found
    }
}
