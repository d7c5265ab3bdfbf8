/// Numbers from a file can have any value. Adding, subtracting, multiplying or narrowing one without a check can trap.
///
/// The rule checks the code on the line of the call that reads a number, and uses in the same block of the constant
/// that holds it.
extension SourceText {
    /// Folders whose files read stores, models, caches, archives and histories.
    static let readingFolders = [
        "Sources/SQLiteAccess/", "Sources/CoreData/Stores/", "Sources/CoreData/ResultsController/Cache/",
        "Sources/CoreData/History/", "Sources/CoreData/Support/", "Sources/ModelFiles/",
    ]

    /// Lines that are sound although the rule finds them, each with the reason.
    static let soundArithmetic: [(path: String, code: String, reason: String)] = [
        (
            "Sources/ModelFiles/PropertyLists/BinaryPropertyListReader.swift",
            "count <= (trailer - table) / offsetSize", "the line above says that `table` is at most `trailer`"
        )
    ]

    private static let words = ["integer(", "real(", "word(", "number(", "].integer", "].real"]

    /// An argument of an SQL function. A schema in a file may call the function with any number.
    nonisolated(unsafe) private static let argument = #/\barguments\[\w+\]\.(integer|real)\b/#

    /// A call that reads a number from a row, an archive, a property list or bytes. The second group is its name.
    nonisolated(unsafe) private static let reading =
        #/(?:\b(?:statement|connection|archive|row|header)\??\.(integer|real)\(|\b(integer|real)\(at: |\b(word|number)\((?=\d|at: |bytes|words|start|header|page))/#

    nonisolated(unsafe) private static let naming = #/\b(?:let|var) (\w+)(?:: [\w.]+\??)? = (?:try[?!]? )?$/#

    /// An operator before a call or before the name of its receiver, except for arrows and operators like `&+`.
    nonisolated(unsafe) private static let operatorBefore = #/[^&<>+*/-] ?[-+*] (?:try )?$/#
    nonisolated(unsafe) private static let operatorAfter = #/^(?: \?\? [\w.]+\)?)? [-+*] /#

    /// Initialisers that trap if the value does not fit. An `Int` holds all integers of a row, but not all other
    /// numbers.
    private static func narrowing(_ name: Substring?) -> String {
        name == "integer" ? "(?:UInt(?:8|16|32|64)?|Int(?:8|16|32))" : "U?Int(?:8|16|32|64)?"
    }

    /// Lines that calculate with such a number, or narrow it, without a check.
    func uncheckedArithmeticLines() throws -> [Int] {
        var found: Set<Int> = []
        for number in Set(Self.words.flatMap(lines(with:))).sorted() where !isComment(number) {
            let code = code(number)
            guard !code.contains("func ") else { continue }
            for argument in code.matches(of: Self.argument) {
                let before = code[..<argument.range.lowerBound]
                let isNarrowed = try Regex("\\b\(Self.narrowing(argument.1))\\($").firstMatch(in: before) != nil
                let isOperand = before.contains(Self.operatorBefore)
                if isNarrowed || isOperand || code[argument.range.upperBound...].contains(Self.operatorAfter) {
                    found.insert(number)
                }
            }
            for call in code.matches(of: Self.reading) {
                let name = call.1 ?? call.2 ?? call.3
                let before = code[..<call.range.lowerBound]
                let rest = Self.behindCall(code[call.range.lowerBound...])
                let isNarrowed = try Regex("\\b\(Self.narrowing(name))\\((?:try )?$").firstMatch(in: before) != nil
                if isNarrowed || before.contains(Self.operatorBefore) || rest.contains(Self.operatorAfter) {
                    found.insert(number)
                }
                guard let named = before.firstMatch(of: Self.naming)?.1 else { continue }
                found.formUnion(
                    try uses(of: named, narrowing: Self.narrowing(name), isReal: name == "real", after: number))
            }
        }
        return found.sorted().filter { number in
            !Self.soundArithmetic.contains { $0.path == path && line(number).contains($0.code) }
        }
    }

    /// The rest of a line after the parentheses of its first call.
    private static func behindCall(_ code: Substring) -> Substring {
        var depth = 0
        for index in code.indices {
            if code[index] == "(" { depth += 1 }
            if code[index] == ")" { depth -= 1 }
            if code[index] == ")", depth == 0 { return code[code.index(after: index)...] }
        }
        return ""
    }

    /// Following lines of the block that calculate with a constant or narrow it. Sums of floating-point numbers do not
    /// trap.
    private func uses(of name: Substring, narrowing: String, isReal: Bool, after start: Int) throws -> [Int] {
        let sums = "|\\b\(name) [-+*]=? |[^&<>+*/-] ?[-+*] \(name)\\b(?!\\.)"
        let use = try Regex("\\b\(narrowing)\\(\(name)\\)" + (isReal ? "" : sums))
        let depth = indentation(of: start) ?? 0
        return (start + 1..<lineCount).prefix { (indentation(of: $0) ?? depth) >= depth }
            .filter { !isComment($0) && code($0).contains(use) }
    }
}
