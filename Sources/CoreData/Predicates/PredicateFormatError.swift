import Foundation
import PredicateSyntax

/// Why `NSPredicate.parse(format:arguments:)` refused a format string. An addition to Apple's interface,
/// for programs that let people type predicates: where Apple's framework raises an exception, this says what is wrong
/// and where. A value, safe on any thread.
public struct PredicateFormatError: LocalizedError, CustomNSError, CustomStringConvertible, Hashable, Sendable {
    /// The place of the mistake as a number of characters from the start of the text: 0 is the first character, the
    /// length of the text is its end.
    public let characterOffset: Int

    /// What was expected there and what was found, as one line: `expected a value after ==, found the end`.
    public let message: String

    /// What the grammar allows there, without the rest of the line: `a value after ==`. For programs that say it in another
    /// language.
    public let expected: String

    /// What the text has there: `the end`.
    public let found: String

    init(_ error: FormatError) {
        characterOffset = error.offset
        message = error.message
        expected = error.expected
        found = error.found
    }

    /// The message with the place, counted from 1 as a person counts.
    public var description: String { "\(message) (at character \(characterOffset + 1))" }

    public var errorDescription: String? { description }

    /// `NSCocoaErrorDomain`.
    public static var errorDomain: String { NSCocoaErrorDomain }
    /// `NSFormattingError`.
    public var errorCode: Int { 2048 }
    /// The description, and the message as the reason.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description, "reason": message] }
}
