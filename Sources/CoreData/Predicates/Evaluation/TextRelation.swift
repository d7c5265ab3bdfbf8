import PredicateSyntax

/// BEGINSWITH, ENDSWITH and CONTAINS of texts. False for other values.
enum TextRelation {
    enum Kind: Int64 {
        case contains = 0
        case beginsWith = 1
        case endsWith = 2

        // SAFETY: the caller holds the bytes during the call, and no pointer is kept.
        func holds(_ text: UnsafeBufferPointer<UInt8>, _ part: UnsafeBufferPointer<UInt8>) -> Bool {
            switch self {
            case .contains: TextBytes.contains(text, part)
            case .beginsWith: TextBytes.begins(text, with: part)
            case .endsWith: TextBytes.ends(text, with: part)
            }
        }
    }

    static func relation(
        _ kind: Kind, _ options: ComparisonOptions, right: PredicateValue?
    ) -> PredicateCompiler.Relation {
        if case .text(let part) = right {
            let search = TextSearch(part, kind, options)
            return { left, _ in
                guard case .text(let text) = left else { return false }
                return TextBytes.with(text) { search.finds(in: $0) }
            }
        }
        return { left, right in
            guard case .text(let text) = left, case .text(let part) = right else { return false }
            return TextBytes.with(text) { TextSearch(part, kind, options).finds(in: $0) }
        }
    }
}

/// A prepared search for one text. Reads UTF-8 in place, and folds ASCII while it searches.
final class TextSearch: Sendable {
    private let kind: TextRelation.Kind
    private let options: ComparisonOptions
    private let part: [UInt8]

    init(_ part: String, _ kind: TextRelation.Kind, _ options: ComparisonOptions) {
        self.kind = kind
        self.options = options
        self.part = TextFolding.bytes(of: part, options)
    }

    // SAFETY: the caller holds the bytes during the call, and no pointer is kept.
    func finds(in text: UnsafeBufferPointer<UInt8>) -> Bool {
        part.withUnsafeBufferPointer { part in
            guard TextFolding.isNeeded(options) else { return kind.holds(text, part) }
            if text.count < part.count && TextFolding.isASCII(text) { return false }
            return TextFolding.bytes(of: text, options).withUnsafeBufferPointer { kind.holds($0, part) }
        }
    }
}
