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
