import Foundation
import PredicateSyntax

/// LIKE: `?` matches one Unicode scalar, `*` any number of them, and `\` escapes the next scalar.
enum LikeRelation {
    static func relation(_ options: ComparisonOptions, right: PredicateValue?) -> PredicateCompiler.Relation {
        if case .text(let pattern) = right {
            let pattern = LikePattern(pattern, options)
            return { left, _ in
                guard case .text(let text) = left else { return false }
                return TextBytes.with(text) { pattern.matches($0) }
            }
        }
        return { left, right in
            guard case .text(let text) = left, case .text(let pattern) = right else { return false }
            return TextBytes.with(text) { LikePattern(pattern, options).matches($0) }
        }
    }
}

/// A prepared LIKE pattern.
final class LikePattern: Sendable {
    private enum Step: Equatable, Sendable {
        case scalar(Unicode.Scalar)
        case one
        case many
    }

    private let steps: [Step]
    private let options: ComparisonOptions

    init(_ pattern: String, _ options: ComparisonOptions) {
        self.options = options
        var steps: [Step] = []
        var literal = String.UnicodeScalarView()
        func endLiteral() {
            let folded = TextFolding.isNeeded(options) ? TextFolding.folded(String(literal), options) : String(literal)
            steps += folded.unicodeScalars.map { .scalar($0) }
            literal = String.UnicodeScalarView()
        }
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            switch scalar {
            case _ where isEscaped:
                literal.append(scalar)
                isEscaped = false
            case "\\": isEscaped = true
            case "?":
                endLiteral()
                steps.append(.one)
            case "*":
                endLiteral()
                if steps.last != .many { steps.append(.many) }
            default: literal.append(scalar)
            }
        }
        if isEscaped { literal.append("\\") }
        endLiteral()
        self.steps = steps
    }

    /// True if the whole text matches. Worst-case cost: the product of both lengths.
    // SAFETY: the caller holds the bytes during the call, and no pointer is kept.
    func matches(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        let folded = TextFolding.bytes(of: utf8, options)
        let text = Array(String(decoding: folded, as: UTF8.self).unicodeScalars)
        var position = 0
        var step = 0
        var retry: (position: Int, step: Int)?
        while position < text.count {
            if step < steps.count, steps[step] == .many {
                retry = (position, step + 1)
                step += 1
            } else if step < steps.count, steps[step] == .one || steps[step] == .scalar(text[position]) {
                position += 1
                step += 1
            } else if let again = retry {
                // Retry with the last `*` matching one scalar more.
                retry = (again.position + 1, again.step)
                position = again.position + 1
                step = again.step
            } else {
                return false
            }
        }
        return steps[step...].allSatisfy { $0 == .many }
    }
}
