/// Finds the smallest part of a file that contains a token and can be put inside a condition.
enum FrameworkPlace {
    private static let control: Set<String> = [
        "if", "for", "while", "do", "repeat", "switch", "guard", "return", "throw", "defer", "break", "continue",
        "case", "default", "else", "catch", "fallthrough",
    ]

    /// - Returns: nil if every such part shares a line with other code.
    static func tokens(around token: Int, in work: PortingWork) -> Range<Int>? {
        let path = work.items.path(to: token)
        guard let found = smallest(around: token, path, work) else { return nil }
        if hasLines(found, work.source) { return found }
        // A declaration on one line can be put inside a condition as a whole.
        return path.last { item in
            item.tokens.contains(found.lowerBound) && isOneLine(item.tokens, work.source)
                && hasLines(item.tokens, work.source)
        }?.tokens
    }

    private static func isOneLine(_ tokens: Range<Int>, _ source: SwiftSource) -> Bool {
        let last = source.tokens[tokens.upperBound - 1].range.upperBound - 1
        return source.line(at: source.tokens[tokens.lowerBound].range.lowerBound) == source.line(at: last)
    }

    /// True if these tokens share no line with other tokens.
    static func hasLines(_ tokens: Range<Int>, _ source: SwiftSource) -> Bool {
        source.startsLine(tokens.lowerBound) && source.startsLine(tokens.upperBound)
    }

    private static func smallest(around token: Int, _ path: [SourceItem], _ work: PortingWork) -> Range<Int>? {
        for (depth, item) in path.enumerated() {
            switch item.kind {
            case .type:
                // Inside the body, look for a member.
                guard let body = item.body, token > body, depth < path.count - 1 else { return item.tokens }
            case .function, .initializer:
                guard let body = item.body, token > body else { return item.tokens }
                return statement(from: depth + 1, in: path, work.source) ?? item.tokens
            case .statement: return statement(from: depth, in: path, work.source)
            case .variable, .importing, .otherDeclaration: return item.tokens
            }
        }
        return nil
    }

    /// The outermost statement that can be left out: a call or an assignment.
    private static func statement(from depth: Int, in path: [SourceItem], _ source: SwiftSource) -> Range<Int>? {
        for (place, item) in path.enumerated().dropFirst(depth) {
            guard item.kind == .statement else { return nil }
            // Only statements in the body of an `if` or a loop can be left out, not the condition.
            if control.contains(source.text(item.keyword)) { continue }
            return mayGo(Array(path[...place]), source) ? item.tokens : nil
        }
        return nil
    }

    /// True if the code around the last statement of a path compiles without it.
    static func mayGo(_ path: [SourceItem], _ source: SwiftSource) -> Bool {
        guard let item = path.last else { return false }
        guard source.startsLine(item.tokens.lowerBound), source.startsLine(item.tokens.upperBound) else { return false }
        guard let opening = source.parent(item.tokens.lowerBound) else { return true }
        guard path.count > 1 else { return false }
        let outer = path[path.count - 2]
        // A `case` must contain a statement.
        if source.isToken(outer.keyword, "switch") { return false }
        let isAlone = opening + 1 == item.tokens.lowerBound && source.partner(opening) == item.tokens.upperBound
        if !isAlone { return true }
        switch outer.kind {
        case .function:
            return outer.body == opening && !outer.header.contains { source.areTokens(from: $0, ["-", ">"]) }
        case .initializer: return outer.body == opening
        case .statement:
            let isBlock = ["if", "for", "while", "do"].contains(source.text(outer.keyword))
            return isBlock && source.parent(opening) == source.parent(outer.keyword)
        default: return false
        }
    }
}
