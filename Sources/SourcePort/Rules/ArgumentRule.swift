/// `NSPredicate(format: "id == %@", id as CVarArg)` → without the cast: dates and UUIDs are no `CVarArg` here, and formats take values
/// of any type.
enum ArgumentRule {
    private static let takers: Set<String> = ["NSPredicate", "NSExpression", "NSComparisonPredicate"]

    static func apply(to work: inout PortingWork) {
        for index in work.live where work.isName(index) && work.source.isToken(index, "CVarArg") {
            let source = work.source
            let message =
                "CVarArg: dates, UUIDs and objects are none here; formats of predicates take values of any type"
            guard isArgument(index, source), let cast = cast(before: index, source) else {
                work.note(at: index, message)
                continue
            }
            let last = source.isToken(cast.type, "[") ? index + 1 : index
            let start = source.tokens[cast.start - 1].range.upperBound
            guard source.hasOnlyBlanks(between: cast.start - 1, and: last) else {
                work.note(at: index, message)
                continue
            }
            work.replace(bytes: start..<source.tokens[last].range.upperBound, by: "", note: message, at: index)
        }
    }

    /// Where the cast begins whose type ends at `index`, and where its type does.
    private static func cast(before index: Int, _ source: SwiftSource) -> (start: Int, type: Int)? {
        var type = index
        if source.isToken(type - 1, "[") {
            guard source.isToken(index + 1, "]") else { return nil }
            type -= 1
        }
        var place = type - 1
        if source.isToken(place, "!") { place -= 1 }
        return source.isToken(place, "as") && place > 0 ? (place, type) : nil
    }

    /// Whether it stands in the arguments of a predicate or an expression.
    private static func isArgument(_ index: Int, _ source: SwiftSource) -> Bool {
        var place = source.parent(index)
        while let opening = place {
            if source.isToken(opening, "("), takers.contains(source.text(opening - 1)) { return true }
            if source.isToken(opening, "{") { return false }
            place = source.parent(opening)
        }
        return false
    }
}

/// `mutableSetValue(forKey: "tags") as? Set<Tag>` → a cast of its copy: the set that follows its relationship is empty after a cast.
enum MutableSetRule {
    static func apply(to work: inout PortingWork) {
        for index in work.live where work.source.isToken(index, "mutableSetValue") {
            let source = work.source
            guard source.isToken(index + 1, "("), let end = source.partner(index + 1), source.isToken(end + 1, "as"),
                source.isToken(end + 3, "Set"), source.isToken(end + 4, "<")
            else { continue }
            work.replace(
                end, through: end, by: ").copy()", otherwise: "mutableSetValue(forKey:) cast to a Set: cast its copy()")
        }
    }
}
