/// An array literal where an `NSSet` is expected → `NSSet(array: […])`. Foundation's sets have no literals here.
enum SetRule {
    private static let sets: Set<String> = ["NSSet", "NSMutableSet"]
    /// Types with array literals here.
    private static let others: Set<String> = ["[", "Array", "Set", "NSOrderedSet", "NSArray", "NSMutableArray"]

    static func apply(to work: inout PortingWork) {
        for index in work.live where work.source.isToken(index, "[") {
            let source = work.source
            guard let end = source.partner(index), let type = set(of: index, end, work),
                !(index + 1..<end).contains(where: { source.isToken($0, ":") && source.parent($0) == index })
            else { continue }
            work.insert("\(type)(array: ", at: source.tokens[index].range.lowerBound)
            work.insert(")", at: source.tokens[end].range.upperBound)
        }
    }

    private static func set(of opening: Int, _ end: Int, _ work: PortingWork) -> String? {
        if work.source.isToken(end + 1, "as"), work.source.beginsExpression(opening) {
            return [work.source.text(end + 2)].first(where: sets.contains)
        }
        guard isWhole(end, work.source) else { return nil }
        return set(assignedAt: opening - 1, work) ?? set(passedAt: opening - 1, work)
    }

    /// True if a literal that ends at `end` is a complete expression.
    private static func isWhole(_ end: Int, _ source: SwiftSource) -> Bool {
        [")", "}", ",", ";", ""].contains(source.text(end + 1))
            || source.startsLine(end + 1) && !["as", "is", "."].contains(source.text(end + 1))
                && source.kind(end + 1) != .sign
    }

    /// The set type in `let tags: NSSet? =`, or of `note.tags =` if every `tags` of the program has it; otherwise nil.
    private static func set(assignedAt index: Int, _ work: PortingWork) -> String? {
        let source = work.source
        guard source.isToken(index, "="), !source.touches(index - 1, index),
            source.isWord(index - 1) || source.isToken(index - 1, "?")
        else { return nil }
        let last = source.isToken(index - 1, "?") ? index - 2 : index - 1
        let name = source.text(last)
        if source.isToken(last - 1, ":") { return sets.contains(name) ? name : nil }
        guard last == index - 1, source.isToken(last - 1, ".") else { return nil }
        let types = work.facts.memberTypes[name] ?? []
        return types.count == 1 ? types.first.flatMap { sets.contains($0) ? $0 : nil } : nil
    }

    /// The type of the parameter of `note.addToTags(`; nil if another method of that name takes a type with literals.
    private static func set(passedAt index: Int, _ work: PortingWork) -> String? {
        let source = work.source
        guard source.isToken(index, "("), source.isWord(index - 1), source.isToken(index - 2, ".") else { return nil }
        let types = work.facts.memberTypes[source.text(index - 1) + "("] ?? []
        return types.contains("NSSet") && types.isDisjoint(with: others) ? "NSSet" : nil
    }
}
