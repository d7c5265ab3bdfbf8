/// A declaration or a statement, of a file or of the code between two braces.
struct SourceItem {
    enum Kind {
        case type, function, initializer, variable, importing, otherDeclaration
        case statement
    }

    let kind: Kind
    /// All tokens of the declaration, from attributes and modifiers on.
    let tokens: Range<Int>
    /// The token after attributes and modifiers: `class`, `func`, `var` …, or the first token of a statement.
    let keyword: Int
    /// The brace that opens the body of a type, a function, or a computed or observed variable; otherwise nil.
    let body: Int?

    /// Attributes and modifiers.
    var prefix: Range<Int> { tokens.lowerBound..<keyword }
    /// The tokens from the keyword to the body, or to the end.
    var header: Range<Int> { keyword..<(body ?? tokens.upperBound) }
}

/// Finds the items of a file. It may read two items on consecutive lines as one. This matters only when an item is put
/// inside a condition, which is done line by line.
final class ItemReader {
    let source: SwiftSource
    /// Cached items, by their opening brace; −1 for the file.
    private var found: [Int: [SourceItem]] = [:]

    init(_ source: SwiftSource) { self.source = source }

    static let modifiers: Set<String> = [
        "public", "private", "open", "internal", "fileprivate", "package", "static", "final", "override", "required",
        "convenience", "lazy", "weak", "unowned", "mutating", "nonmutating", "dynamic", "optional", "indirect",
        "prefix",
        "postfix", "infix", "nonisolated", "isolated", "distributed", "borrowing", "consuming", "sending",
    ]
    private static let kinds: [String: SourceItem.Kind] = [
        "class": .type, "struct": .type, "enum": .type, "protocol": .type, "extension": .type, "actor": .type,
        "func": .function, "init": .initializer, "deinit": .function, "subscript": .function, "var": .variable,
        "let": .variable, "import": .importing, "typealias": .otherDeclaration, "associatedtype": .otherDeclaration,
        "case": .otherDeclaration, "macro": .otherDeclaration, "operator": .otherDeclaration,
        "precedencegroup": .otherDeclaration,
    ]
    /// Words after which an item continues on the next line.
    private static let leadingOn: Set<String> = [
        "else", "in", "is", "as", "where", "try", "await", "throw", "let", "var", "func", "class", "struct", "enum",
        "extension",
        "protocol", "actor", "init", "throws", "rethrows", "async", "import", "if", "guard", "while", "for", "switch",
    ]
    /// Words at the beginning of a line that continue the item of the previous line.
    private static let following: Set<String> = [
        "else", "catch", "where", "as", "is", "throws", "rethrows", "async", "in",
    ]
    /// Signs at the beginning of a line that continue the previous line. `&`, `!` and `-` may begin a statement.
    private static let followingSigns: Set<String> = ["=", "?", "+", "*", "|", "<", ">", "%", "^", "/"]

    /// Maximum number of tokens in an attribute's generic arguments.
    private static let longestArguments = 200

    /// Items between the brace `opening` and its partner, or of the file if `opening` is nil.
    func items(in opening: Int?) -> [SourceItem] {
        if let items = found[opening ?? -1] { return items }
        let items = readItems(in: opening)
        found[opening ?? -1] = items
        return items
    }

    private func readItems(in opening: Int?) -> [SourceItem] {
        var result: [SourceItem] = []
        var index = opening.map { $0 + 1 } ?? 0
        let end = opening.flatMap(source.partner) ?? source.tokens.count
        while index < end {
            if isCondition(index) {
                // Lines such as `#if` do not belong to an item.
                index += 1
                while index < end, !source.startsLine(index) { index += 1 }
            } else if source.isToken(index, ";") {
                index += 1
            } else {
                let item = item(from: index, before: end)
                result.append(item)
                index = item.tokens.upperBound
            }
        }
        return result
    }

    /// Types and extensions of the file, including nested types up to `deepest` levels. Excluded code is skipped.
    func types() -> [SourceItem] {
        var result: [SourceItem] = []
        var groups: [(opening: Int?, depth: Int)] = [(nil, 0)]
        while let (opening, depth) = groups.popLast() {
            for item in items(in: opening) where item.kind == .type && !source.isExcluded[item.keyword] {
                if let body = item.body, depth < Self.deepest { groups.append((body, depth + 1)) }
                result.append(item)
            }
        }
        return result
    }

    /// Maximum nesting of types that is read.
    private static let deepest = 20

    /// The items that contain a token, outermost first.
    func path(to token: Int) -> [SourceItem] {
        var openings: [Int] = []
        var place = source.parent(token)
        while let opening = place {
            if source.isToken(opening, "{") { openings.append(opening) }
            place = source.parent(opening)
        }
        var path: [SourceItem] = []
        for opening in [nil] + openings.reversed().map(Optional.some) {
            guard let item = item(with: token, in: items(in: opening)) else { break }
            path.append(item)
        }
        return path
    }

    private func item(with token: Int, in items: [SourceItem]) -> SourceItem? {
        var (low, high) = (0, items.count)
        while low < high {
            let middle = (low + high) / 2
            if items[middle].tokens.upperBound <= token { low = middle + 1 } else { high = middle }
        }
        return low < items.count && items[low].tokens.contains(token) ? items[low] : nil
    }

    private func isCondition(_ index: Int) -> Bool {
        guard source.kind(index) == .directive, source.startsLine(index) else { return false }
        return ["#if", "#elseif", "#else", "#endif"].contains(source.text(index))
    }

    private func item(from start: Int, before end: Int) -> SourceItem {
        let keyword = endOfPrefix(from: start, before: end)
        var kind = source.isWord(keyword) ? Self.kinds[source.text(keyword)] ?? .statement : .statement
        if source.text(keyword) == "actor" || source.text(keyword) == "macro" {
            if !source.isWord(keyword + 1) { kind = .statement }
        }
        var body: Int?
        var hasValue = false
        var index = keyword
        while index < end {
            if index > keyword, source.startsLine(index), !goesOn(at: index, hasBody: body != nil, kind) { break }
            if source.isToken(index, ";") || isCondition(index) { break }
            if source.isToken(index, "="), kind == .variable { hasValue = true }
            if source.isToken(index, "{"), body == nil, kind != .statement, kind != .importing, !hasValue {
                body = index
            }
            index = source.next(after: index)
        }
        let last = min(max(index, keyword + 1), end)
        return SourceItem(kind: kind, tokens: start..<last, keyword: min(keyword, last), body: body)
    }

    /// Index of the first token after attributes and modifiers.
    private func endOfPrefix(from start: Int, before end: Int) -> Int {
        var index = start
        while index < end {
            if source.isToken(index, "@"), source.isWord(index + 1) {
                index = endOfAttribute(at: index)
            } else if source.isWord(index), isModifier(index) {
                index += 1
                if source.isToken(index, "("), source.touches(index - 1, index) { index = source.next(after: index) }
            } else {
                break
            }
        }
        return min(index, max(start, end - 1))
    }

    private func isModifier(_ index: Int) -> Bool {
        let word = source.text(index)
        if word == "class" {
            return ["func", "var", "let", "subscript", "override", "final"].contains(source.text(index + 1))
        }
        guard Self.modifiers.contains(word) else { return false }
        // A variable may have the name of a modifier: `optional = 1`, `prefix.count`.
        let next = index + 1
        return source.isWord(next) || source.isToken(next, "(") || source.isToken(next, "@")
    }

    /// Index of the first token after an attribute and its arguments.
    func endOfAttribute(at index: Int) -> Int {
        var end = index + 2
        while source.isToken(end, "."), source.isWord(end + 1) { end += 2 }
        if source.isToken(end, "<") {
            let limit = min(end + Self.longestArguments, source.tokens.count)
            while end < limit, !source.isToken(end - 1, ">") { end += 1 }
        }
        if source.isToken(end, "("), source.touches(end - 1, end) { end = source.next(after: end) }
        return end
    }

    /// True if the token at the beginning of a line continues the item of the previous line.
    private func goesOn(at index: Int, hasBody: Bool, _ kind: SourceItem.Kind) -> Bool {
        let isStatement = kind == .statement
        if source.isWord(index) {
            let word = source.text(index)
            if Self.following.contains(word), isStatement || !hasBody { return true }
        } else if source.isToken(index, ".") || source.isToken(index, ",") {
            return true
        } else if source.isToken(index, "{") {
            return !hasBody
        } else if source.kind(index) == .sign {
            if hasBody, !isStatement { return false }
            if Self.followingSigns.contains(source.text(index)) { return true }
            if source.isToken(index, "-"), source.isToken(index + 1, ">") { return true }
            // A binary operator is followed by a blank: `&& other`, `- 1`.
            var last = index
            while source.kind(last + 1) == .sign, source.touches(last, last + 1) { last += 1 }
            return !source.touches(last, last + 1)
        }
        let last = index - 1
        switch source.kind(last) {
        case .word: return Self.leadingOn.contains(source.text(last)) && !isArgumentLabel(last)
        case .mark:
            return source.isToken(last, ",") || source.isToken(last, ":") && !isLabel(index)
                || source.isToken(last, ".")
        case .sign:
            // A postfix operator touches the token before it: `value!`.
            return !(source.touches(last - 1, last) && ["!", "?", ">"].contains(source.text(last)))
        default: return false
        }
    }

    private func isArgumentLabel(_ index: Int) -> Bool { source.isToken(index - 1, ".") }

    /// True if the colon before `index` ends a label of a `switch`.
    private func isLabel(_ index: Int) -> Bool {
        var start = index - 1
        while start > 0, !source.startsLine(start) { start -= 1 }
        return ["case", "default", "@"].contains(source.text(start))
    }
}

extension SwiftSource {
    /// True if there is nothing between two consecutive tokens.
    func touches(_ first: Int, _ second: Int) -> Bool {
        guard tokens.indices.contains(first), tokens.indices.contains(second) else { return false }
        return tokens[first].range.upperBound == tokens[second].range.lowerBound
    }
}
