/// Moves overrides from extensions into the class if it is in the same file. Extensions cannot override here.
enum OverrideRule {
    private static let accesses: Set<String> = ["public", "open", "package", "internal", "fileprivate", "private"]

    /// Classes that a file declares.
    private struct Classes {
        /// Classes of the file that are not nested in another type, by name.
        let byName: [String: [SourceItem]]
        /// For each token, true if it is inside an `#if` block.
        let isConditional: [Bool]

        init(_ work: PortingWork) {
            let source = work.source
            let classes = work.items.items(in: nil).filter {
                $0.kind == .type && work.isLive($0.keyword) && source.isToken($0.keyword, "class")
            }
            byName = Dictionary(grouping: classes) { TypeHeader($0, source).name }
            var depth = 0
            isConditional = source.tokens.indices.map { index in
                if source.isToken(index, "#if") { depth += 1 }
                if source.isToken(index, "#endif") { depth -= 1 }
                return depth > 0
            }
        }
    }

    static func apply(to work: inout PortingWork) {
        var isFilled: Set<Int> = []
        var known: Classes?
        for item in work.items.types() where work.source.isToken(item.keyword, "extension") {
            guard let body = item.body else { continue }
            let overrides = work.items.items(in: body).compactMap { member in
                member.prefix.first { work.source.isToken($0, "override") && work.isLive($0) }.map { (member, $0) }
            }
            guard !overrides.isEmpty else { continue }
            let classes = known ?? Classes(work)
            known = classes
            let home = home(of: item, classes, work)
            for (member, overriding) in overrides {
                if let home, !classes.isConditional[member.keyword],
                    move(member, of: item, to: home, isFirst: !isFilled.contains(home), &work)
                {
                    isFilled.insert(home)
                } else {
                    work.note(
                        at: overriding, about: work.source.text(member.keyword + 1),
                        ": extensions cannot override. Move it into the class"
                    )
                }
            }
        }
    }

    /// The brace that opens the body of an extension's class; nil if members cannot be moved there.
    private static func home(of item: SourceItem, _ classes: Classes, _ work: PortingWork) -> Int? {
        let source = work.source
        let words = words(before: item, source)
        let isPlain = words.allSatisfy(["public", "package", "internal"].contains)
        guard isPlain, source.parent(item.keyword) == nil, !source.isToken(item.keyword + 2, "."),
            !classes.isConditional[item.keyword], !item.header.contains(where: { source.isToken($0, "where") }),
            let found = classes.byName[TypeHeader(item, source).name], found.count == 1,
            !classes.isConditional[found[0].keyword]
        else { return nil }
        return found[0].body
    }

    /// Modifiers and attributes of an extension, without those that ObjectiveCRule removes.
    private static func words(before item: SourceItem, _ source: SwiftSource) -> [String] {
        item.prefix.map(source.text).filter { !["@", "objc"].contains($0) }
    }

    /// - Parameter isFirst: True if nothing has been moved into the class yet.
    /// - Returns: True if the member was moved.
    private static func move(
        _ member: SourceItem, of item: SourceItem, to home: Int, isFirst: Bool, _ work: inout PortingWork
    ) -> Bool {
        let source = work.source
        guard FrameworkPlace.hasLines(member.tokens, source), let closing = source.partner(home),
            source.startsLine(closing)
        else { return false }
        let first = member.tokens.lowerBound
        let start = source.lineStart(ofCommentsAbove: first)
        // A block comment above the member would not be moved with it.
        guard source.tokens[first].range.lowerBound > start, !source.gap(after: first - 1).contains(UInt8(ascii: "*"))
        else { return false }
        let access = words(before: item, source).first { $0 != "internal" }
        if let access, !member.prefix.contains(where: { accesses.contains(source.text($0)) }) {
            let place = member.prefix.first { source.isToken($0, "override") } ?? member.keyword
            work.insert(access + " ", at: source.tokens[place].range.lowerBound)
        }
        let end = source.nextLineStart(at: source.tokens[member.tokens.upperBound - 1].range.upperBound - 1)
        let separator = isFirst && home + 1 == closing ? "" : source.lineBreak
        return work.move(
            start..<end, to: source.lineStart(at: source.tokens[closing].range.lowerBound), after: separator)
    }
}
