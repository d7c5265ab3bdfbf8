/// Selectors of sort descriptors → `SortSelector`. Other selectors do not exist here.
enum SelectorRule {
    private static let names: Set<String> = [
        "compare", "caseInsensitiveCompare", "localizedCompare", "localizedCaseInsensitiveCompare",
        "localizedStandardCompare",
    ]

    static func apply(to work: inout PortingWork) {
        var covered = 0
        for index in work.live where index >= covered {
            let source = work.source
            if let end = getter(at: index, work) {
                let key = source.text(end - 2).filter { $0 != "`" }
                KeyPathRule.write(key, index, end, "NSStringFromSelector", &work)
                covered = end
            } else if source.isToken(index, "#selector") {
                guard let (name, end) = selector(at: index, source) else {
                    work.note(
                        at: index,
                        "#selector: selectors are not available. Pass a closure, for example to "
                            + "addObserver(forName:object:queue:using:) or Timer.scheduledTimer(withTimeInterval:repeats:block:)"
                    )
                    continue
                }
                replace(index, end, name, in: &work)
            } else if work.isName(index), ["Selector", "NSSelectorFromString"].contains(source.text(index)) {
                if let (name, end) = literal(after: index, source) {
                    replace(index, end, name, in: &work)
                } else if isType(index, of: &work) {
                    work.replace(index, through: index, by: "SortSelector", otherwise: "Selector: write SortSelector")
                } else {
                    work.note(
                        at: index, about: source.text(index), ": selectors are not available. Pass a closure")
                }
            }
        }
    }

    /// The last token of `NSStringFromSelector(#selector(getter: Note.title))`; nil if `index` does not begin one.
    private static func getter(at index: Int, _ work: PortingWork) -> Int? {
        let source = work.source
        guard work.isName(index),
            source.areTokens(from: index, ["NSStringFromSelector", "(", "#selector", "(", "getter", ":"]),
            let end = source.partner(index + 1), source.partner(index + 3) == end - 1, source.isWord(end - 2)
        else { return nil }
        return end
    }

    private static func replace(_ first: Int, _ last: Int, _ name: String, in work: inout PortingWork) {
        let isDone = work.replace(
            first, through: last, by: "SortSelector.\(name)", otherwise: "selector: write SortSelector.\(name)")
        if isDone { work.needsCoreData = true }
    }

    /// `#selector(NSString.localizedCompare(_:))`, with or without its argument.
    private static func selector(at index: Int, _ source: SwiftSource) -> (name: String, end: Int)? {
        guard source.isToken(index + 1, "("), let end = source.partner(index + 1),
            ["NSString", "NSNumber", "NSDate"].contains(source.text(index + 2)), source.isToken(index + 3, ".")
        else { return nil }
        let name = source.text(index + 4)
        guard names.contains(name), name == "compare" || source.isToken(index + 2, "NSString") else { return nil }
        let hasArgument = source.areTokens(from: index + 5, ["(", "_", ":", ")"])
        return end == index + 5 || hasArgument && end == index + 9 ? (name, end) : nil
    }

    /// `Selector("localizedCompare:")`, with one pair of parentheses or two.
    private static func literal(after index: Int, _ source: SwiftSource) -> (name: String, end: Int)? {
        var place = index + 1
        while source.isToken(place, "(") { place += 1 }
        let depth = place - index - 1
        guard (1...2).contains(depth), source.kind(place) == .stringOpening, source.kind(place + 1) == .stringText,
            source.kind(place + 2) == .stringClosing, let end = source.partner(index + 1), end == place + 2 + depth
        else { return nil }
        let text = source.text(place + 1)
        guard text.hasSuffix(":"), names.contains(String(text.dropLast())) else { return nil }
        return (String(text.dropLast()), end)
    }

    /// True if the token is the type of a variable whose initial value is one of the selectors.
    private static func isType(_ index: Int, of work: inout PortingWork) -> Bool {
        let source = work.source
        guard source.isToken(index - 1, ":") else { return false }
        var place = index + 1
        if source.isToken(place, "?") { place += 1 }
        guard source.isToken(place, "=") else { return false }
        return source.isToken(place + 1, "#selector")
            ? selector(at: place + 1, source) != nil : literal(after: place + 1, source) != nil
    }
}
