import Foundation
import PredicateSyntax

/// The error of `NSPredicate.parse(format:arguments:)`: the reason and position of a syntax error. An addition to
/// Apple's API, for programs in which people type predicates; Apple's framework raises an exception instead. A value,
/// safe on any thread.
public struct PredicateFormatError: LocalizedError, CustomNSError, CustomStringConvertible, Hashable, Sendable {
    /// The position of the error in characters from the start of the text: 0 is the first character, the length of
    /// the text is its end.
    public let characterOffset: Int

    /// The expected and the found syntax in one line: `expected a value after ==, found the end`.
    public let message: String

    /// The syntax allowed at this position: `a value after ==`. For programs that translate the message.
    public let expected: String

    /// The text at this position: `the end`.
    public let found: String

    init(_ error: FormatError) {
        characterOffset = error.offset
        message = error.message
        expected = error.expected
        found = error.found
    }

    /// The message with the position, counted from 1.
    public var description: String { "\(message) (at character \(characterOffset + 1))" }

    public var errorDescription: String? { description }

    /// `NSCocoaErrorDomain`.
    public static var errorDomain: String { NSCocoaErrorDomain }
    /// `NSFormattingError`.
    public var errorCode: Int { 2048 }
    /// The description, and the message as the reason.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description, "reason": message] }
}
