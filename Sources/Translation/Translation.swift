import CGettext
import Foundation

/// The program's texts in the user's language, from message catalogues of the C library.
///
/// English is what the sources hold; a catalogue `LANGUAGE/LC_MESSAGES/roster.mo` has the rest. Until ``start(catalogs:)``
/// was called, and in English, texts stay as they are.
public enum Translation {
    /// Set once at the start, before other threads run; read by all.
    // SAFETY: set once at the start, before other threads run.
    nonisolated(unsafe) private static var isActive = false

    /// Takes the language that the environment asks for (`LC_ALL`, `LC_MESSAGES`, `LANG`, and `LANGUAGE` over them).
    ///
    /// A locale that is asked for and not installed still gives its language. Call once, at the start.
    ///
    /// - Parameter folder: where the catalogues are.
    public static func start(catalogs folder: String, environment: [String: String]) {
        let wanted = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let language = wanted.prefix { $0 != "." && $0 != "@" }
        guard !language.isEmpty, language != "C", language != "POSIX" else { return }
        if roster_messages_locale("") == 0 {
            // gettext looks at LANGUAGE in any locale but C's own.
            guard roster_messages_locale("C.UTF-8") != 0 else { return }
            if (environment["LANGUAGE"] ?? "").isEmpty { setenv("LANGUAGE", String(language), 1) }
        }
        roster_characters_in_utf8()
        roster_messages_bind(folder)
        isActive = true
    }

    /// A text in the user's language; the text itself where there is none.
    public static func text(_ english: String) -> String {
        // The empty text stands for the catalogue's head.
        guard isActive, !english.isEmpty else { return english }
        return english.withCString { String(cString: roster_message($0)) }
    }

    /// A text with `arguments` in place of `%s`, in order, or of `%1$s` by their number.
    static func filled(_ format: String, _ arguments: [String]) -> String {
        var result = ""
        var rest = format[...]
        var next = 0
        while let percent = rest.firstIndex(of: "%") {
            result += rest[..<percent]
            rest = rest[percent...]
            if let match = rest.prefixMatch(of: /%(?:(\d)\$)?s/) {
                let index = match.1.flatMap { Int($0) }.map { $0 - 1 } ?? next
                next += 1
                if arguments.indices.contains(index) { result += arguments[index] }
                rest = rest[match.range.upperBound...]
            } else {
                result.append("%")
                rest = rest.dropFirst()
            }
        }
        return result + rest
    }
}

/// An English text in the user's language.
///
/// - Parameter arguments: the replacement of each `%s`.
public func tr(_ english: String, _ arguments: String...) -> String {
    let text = Translation.text(english)
    return arguments.isEmpty ? text : Translation.filled(text, arguments)
}

/// A text with places for values, written as a string with interpolations: the catalogue has it as `changed %s`.
public struct Sentence: ExpressibleByStringInterpolation {
    let format: String
    let arguments: [String]

    /// A text without places.
    public init(stringLiteral value: String) {
        format = value
        arguments = []
    }

    /// A text whose places are the interpolations, in order.
    public init(stringInterpolation: StringInterpolation) {
        format = stringInterpolation.format
        arguments = stringInterpolation.arguments
    }

    /// Collects the words and the values of a text.
    public struct StringInterpolation: StringInterpolationProtocol {
        var format = ""
        var arguments: [String] = []

        /// An empty text.
        public init(literalCapacity: Int, interpolationCount: Int) { format.reserveCapacity(literalCapacity) }

        /// Adds words, which the catalogue has as they are.
        public mutating func appendLiteral(_ literal: String) { format += literal }

        /// Adds a place with its value.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            format += "%s"
            arguments.append(value.description)
        }
    }
}

/// An English sentence in the user's language. The catalogue has the whole of it, with a place for each interpolation, so
/// that a language may order the places as it wants.
public func sentence(_ english: Sentence) -> String {
    Translation.filled(Translation.text(english.format), english.arguments)
}
