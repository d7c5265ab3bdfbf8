/// Why a predicate format string cannot be read: the position, what was expected there, and what was found.
package struct FormatError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The position as a number of characters from the start of the text: 0 is the first one.
    package let offset: Int
    /// What the grammar allows there, worded to follow "expected".
    package let expected: String
    /// What the text has there, worded to follow "found".
    package let found: String

    /// One line, without the position: `expected a value after ==, found the end`.
    package var message: String { "expected \(expected), found \(found)" }

    /// One line with the position, counted from 1 as a person counts.
    package var description: String { "\(message) (at character \(offset + 1))" }

    package init(offset: Int, expected: String, found: String) {
        self.offset = offset
        self.expected = expected
        self.found = found
    }
}
