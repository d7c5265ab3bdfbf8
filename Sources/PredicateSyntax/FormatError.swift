/// Why a predicate format string cannot be read: where, what could stand there, and what stands there.
package struct FormatError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The position as a number of characters from the start of the text: 0 is the first one.
    package let offset: Int
    /// What could stand there, as it goes on after "expected".
    package let expected: String
    /// What stands there, as it goes on after "found".
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
