import Foundation
import PredicateSyntax

/// MATCHES: an ICU regular expression matches the whole text. `[d]` removes the marks from text and pattern.
enum MatchRelation {
    /// Returns the relation of MATCHES.
    ///
    /// - Throws: a `CocoaError` for a malformed constant pattern. A malformed pattern of a single object matches
    ///   nothing.
    static func relation(_ options: ComparisonOptions, right: PredicateValue?) throws -> PredicateCompiler.Relation {
        if case .text(let pattern) = right {
            let pattern = try TextPattern(pattern, options)
            return { left, _ in
                guard case .text(let text) = left else { return false }
                return pattern.matches(text)
            }
        }
        return { left, right in
            guard case .text(let text) = left, case .text(let pattern) = right else { return false }
            return (try? TextPattern(pattern, options))?.matches(text) ?? false
        }
    }
}

/// A prepared regular expression of MATCHES.
// SAFETY: immutable, and `NSRegularExpression` is safe on any thread.
final class TextPattern: @unchecked Sendable {
    private let expression: NSRegularExpression
    private let dropsMarks: Bool

    init(_ pattern: String, _ options: ComparisonOptions) throws {
        dropsMarks = options.contains(.diacriticInsensitive)
        do {
            // Checks the pattern alone: it must be valid without the group that anchors it.
            let bare = dropsMarks ? TextFolding.folded(pattern, .diacriticInsensitive) : pattern
            _ = try NSRegularExpression(pattern: bare)
            expression = try NSRegularExpression(
                pattern: "\\A(?:\(bare))\\z", options: options.contains(.caseInsensitive) ? .caseInsensitive : [])
        } catch {
            throw CoreDataError.make(
                CoreDataError.invalidPredicate,
                "Can't do regex matching, reason: the pattern \"\(pattern)\" is not a regular expression",
                underlying: error)
        }
    }

    func matches(_ text: String) -> Bool {
        let text = dropsMarks ? TextFolding.folded(text, .diacriticInsensitive) : text
        return expression.firstMatch(in: text, range: NSRange(location: 0, length: text.utf16.count)) != nil
    }
}
