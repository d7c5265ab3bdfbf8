/// Finds the tokens that conditions such as `#if os(iOS)` certainly exclude on Linux.
struct ConditionReader {
    let bytes: [UInt8]
    let tokens: [SourceToken]

    /// An `#if` without its `#endif` so far.
    private struct Level {
        /// True if the code around the `#if` is excluded.
        let outer: Bool
        /// True if one of the branches so far is certain to be compiled.
        var isTaken = false
        var isExcluded = false
        let offset: Int
    }

    /// For each token, true if it is excluded or belongs to a condition's line.
    ///
    /// - Throws: ``ScanProblem`` if an `#if` or its `#endif` is missing.
    func excluded() throws(ScanProblem) -> [Bool] {
        var result = [Bool](repeating: false, count: tokens.count)
        var levels: [Level] = []
        var index = 0
        while index < tokens.count {
            guard tokens[index].kind == .directive else {
                result[index] = levels.last?.isExcluded ?? false
                index += 1
                continue
            }
            let word = text(index)
            switch word {
            case "#if":
                levels.append(Level(outer: levels.last?.isExcluded ?? false, offset: tokens[index].range.lowerBound))
            case "#elseif", "#else", "#endif":
                if levels.isEmpty { throw problem(word + " without #if", index) }
            default:
                result[index] = levels.last?.isExcluded ?? false
                index += 1
                continue
            }
            var end = index + 1
            while end < tokens.count, !tokens[end].startsLine { end += 1 }
            for place in index..<end { result[place] = true }
            if word == "#endif" {
                levels.removeLast()
            } else {
                var reader = ConditionExpression(tokens: (index + 1..<end).map(text))
                let value = word == "#else" ? true : reader.value()
                let last = levels.count - 1
                levels[last].isExcluded = levels[last].outer || levels[last].isTaken || value == false
                if value == true { levels[last].isTaken = true }
            }
            index = end
        }
        if let last = levels.last { throw ScanProblem(offset: last.offset, message: "#if without #endif") }
        return result
    }

    private func text(_ index: Int) -> String { String(decoding: bytes[tokens[index].range], as: UTF8.self) }

    private func problem(_ message: String, _ index: Int) -> ScanProblem {
        ScanProblem(offset: tokens[index].range.lowerBound, message: message)
    }
}

/// Evaluates the condition of an `#if`. The value is nil if it depends on more than the system.
struct ConditionExpression {
    let tokens: [String]
    private var position = 0

    init(tokens: [String]) { self.tokens = tokens }

    /// Maximum nesting. The value of a deeper condition is nil.
    private static let deepest = 50

    mutating func value() -> Bool? { either(0) }

    private mutating func either(_ depth: Int) -> Bool? {
        var result = both(depth)
        while take("|", "|") {
            let other = both(depth)
            result = result == true || other == true ? true : result == false && other == false ? false : nil
        }
        return result
    }

    private mutating func both(_ depth: Int) -> Bool? {
        var result = single(depth)
        while take("&", "&") {
            let other = single(depth)
            result = result == false || other == false ? false : result == true && other == true ? true : nil
        }
        return result
    }

    private mutating func single(_ depth: Int) -> Bool? {
        guard position < tokens.count, depth < Self.deepest else { return nil }
        let word = tokens[position]
        position += 1
        switch word {
        case "!": return single(depth + 1).map { !$0 }
        case "(":
            let result = either(depth + 1)
            _ = take(")")
            return result
        case "true": return true
        case "false": return false
        default:
            guard take("(") else { return nil }
            let argument = position < tokens.count ? tokens[position] : ""
            let isSimple = position + 1 < tokens.count && tokens[position + 1] == ")"
            while position < tokens.count, !take(")") { position += 1 }
            return isSimple || word == "canImport" ? Self.value(of: word, argument) : nil
        }
    }

    private static func value(of question: String, _ argument: String) -> Bool? {
        switch question {
        case "os": argument == "Linux"
        case "targetEnvironment": false
        case "_runtime": argument != "_ObjC"
        case "canImport":
            AbsentModule.named(argument) != nil || ["Darwin", "ObjectiveC"].contains(argument)
                ? false
                : ["Foundation", "CoreData", "Dispatch", "Glibc", "Swift", "XCTest"].contains(argument) ? true : nil
        default: nil
        }
    }

    private mutating func take(_ words: String...) -> Bool {
        guard position + words.count <= tokens.count, Array(tokens[position..<position + words.count]) == words else {
            return false
        }
        position += words.count
        return true
    }
}
