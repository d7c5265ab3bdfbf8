/// `#keyPath(Note.folder.name)` → `"folder.name"`.
enum KeyPathRule {
    static func apply(to work: inout PortingWork) {
        for index in work.live where work.source.isToken(index, "#keyPath") {
            guard work.source.isToken(index + 1, "("), let end = work.source.partner(index + 1),
                let keys = keys(index + 2..<end, work.source)
            else {
                work.note(at: index, "#keyPath contains more than names: write the key path as a string")
                continue
            }
            write(keys, index, end, "#keyPath", &work)
        }
    }

    /// Replaces an expression by a string literal with its value.
    ///
    /// - Parameter name: The expression's first word, for messages.
    static func write(_ keys: String, _ index: Int, _ end: Int, _ name: String, _ work: inout PortingWork) {
        let message = "\(name): write \"\(keys)\""
        if let (first, last) = interpolation(around: index, end, work.source) {
            // Inside a string literal, `\(#keyPath(…))` becomes plain text.
            work.replace(first, through: last, by: keys, otherwise: message)
        } else {
            work.replace(index, through: end, by: "\"\(keys)\"", otherwise: message)
        }
    }

    /// The key path without its leading types; nil if the tokens are not names and dots.
    private static func keys(_ tokens: Range<Int>, _ source: SwiftSource) -> String? {
        var words: [String] = []
        for (place, index) in tokens.enumerated() {
            if place % 2 == 1 {
                guard source.isToken(index, ".") else { return nil }
            } else {
                guard source.isWord(index) else { return nil }
                words.append(source.text(index).filter { $0 != "`" })
            }
        }
        guard tokens.count % 2 == 1 else { return nil }
        var keys = words[...]
        while keys.count > 1, let first = keys.first, first.first?.isUppercase == true || first == "self" {
            keys.removeFirst()
        }
        guard let first = keys.first, first.first?.isUppercase == false, first != "self" else { return nil }
        return keys.joined(separator: ".")
    }

    /// First and last token of the string interpolation that contains only these tokens, or nil.
    private static func interpolation(around first: Int, _ last: Int, _ source: SwiftSource) -> (Int, Int)? {
        guard source.kind(first - 1) == .interpolationOpening, source.kind(last + 1) == .interpolationClosing else {
            return nil
        }
        return (first - 1, last + 1)
    }
}
