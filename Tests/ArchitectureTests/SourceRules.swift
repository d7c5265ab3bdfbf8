import Foundation

// Rules about a file's text. Each returns the numbers of the lines that break it, counted from 0.

extension SourceText {
    // MARK: Reasons

    private var uncheckedLines: [Int] {
        lines(with: "@unchecked Sendable").filter { code($0).contains("@unchecked Sendable") }
    }

    /// Line of the comment that explains why the `@unchecked Sendable` on a line is sound: the first `SAFETY:` line in
    /// the comment of its declaration.
    private func reason(ofUnchecked number: Int) -> Int? {
        headers(of: number).prefix(2).lazy
            .compactMap { self.commentLines(above: $0).last { self.line($0).contains("SAFETY:") } }.first
    }

    /// Uses of `@unchecked Sendable` without an explanation.
    func unexplainedUncheckedLines() -> [Int] { uncheckedLines.filter { reason(ofUnchecked: $0) == nil } }

    private static let unsafeNames = [
        "nsafe", "Unmanaged", "Unretained<", "@exclusivity", "assumingMemoryBound", "bindMemory",
        "ManagedBufferPointer", "@_effects",
    ]

    /// Uses of unsafe code without an explanation: a comment with `SAFETY:` in the twelve lines before, or at an
    /// enclosing declaration. Explanations of `@unchecked Sendable` do not count.
    func unexplainedUnsafeLines() -> [Int] {
        let uses = Set(Self.unsafeNames.flatMap(lines(with:))).sorted().filter { number in
            let code = code(number)
            return Self.unsafeNames.contains { code.contains($0) }
        }
        guard !uses.isEmpty else { return [] }
        let reasons = Set(lines(with: "SAFETY:")).subtracting(uncheckedLines.compactMap(reason(ofUnchecked:)))
        return uses.filter { use in
            if (max(0, use - 12)...use).contains(where: reasons.contains) { return false }
            return !headers(of: use).contains { commentLines(above: $0).contains(where: reasons.contains) }
        }
    }

    // MARK: Declarations

    /// Public declarations without a documentation comment. Requirements of protocols of the standard library and
    /// Foundation, and overrides of documented members, need none.
    func undocumentedLines() -> [Int] {
        let candidates = Set(lines(with: "public ") + lines(with: "open ")).sorted()
        return candidates.filter { number in
            guard !isComment(number), isDeclaration(number) else { return false }
            guard !commentLines(above: number).contains(where: { begins($0, with: "///") }) else { return false }
            return !line(number).contains(Self.witnesses)
        }
    }

    private static let keywords: Set<Substring> = [
        "class", "struct", "enum", "protocol", "actor", "func", "var", "let", "init", "subscript", "typealias", "macro",
    ]

    /// True if a line begins a public declaration that is neither an extension nor an override.
    private func isDeclaration(_ number: Int) -> Bool {
        var isPublic = false
        for word in line(number).split(separator: " ") {
            if word == "public" || word == "open" {
                isPublic = true
            } else if word == "override" || word == "extension" {
                return false
            } else if word == "class" || !Self.keywords.contains(word.prefix { $0.isLetter }) {
                // An attribute or a modifier. `class` may be the modifier of a member or the keyword of a type.
                guard word.first == "@" || word.allSatisfy({ $0.isLowercase || "()".contains($0) }) else {
                    return isPublic && line(number).contains("class ")
                }
            } else {
                return isPublic
            }
        }
        return false
    }

    /// Public functions and initialisers that throw and whose comments do not document the errors.
    func silentThrowingLines() -> [Int] {
        let candidates = Set(lines(with: "public ") + lines(with: "open ")).sorted()
        return candidates.filter { number in
            guard !isComment(number), isDeclaration(number), throwsByItself(number) else { return false }
            let comment = commentLines(above: number).map(line)
            return !comment.contains { $0.contains("hrows") || $0.contains("rror") }
        }
    }

    /// True if the declaration on a line contains `throws` outside of its parameters, which may be closures.
    private func throwsByItself(_ number: Int) -> Bool {
        guard line(number).contains("func ") || line(number).contains("init") else { return false }
        var depth = 0
        for next in number..<min(number + 12, lineCount) {
            for word in code(next).split(separator: " ") {
                // `rethrows` is documented by the type of the closure.
                if depth == 0, word == "throws" { return true }
                if depth == 0, word == "{" { return false }
                depth += word.reduce(0) { $0 + ($1 == "(" || $1 == "[" ? 1 : $1 == ")" || $1 == "]" ? -1 : 0) }
            }
            if depth == 0, next > number || !code(next).hasSuffix("(") { break }
        }
        return false
    }

    nonisolated(unsafe) private static let witnesses =
        /func (==|<|hash\(into|encode\(|copy\(with|index\(|next\(\)|make(Async)?Iterator)|init\??\((coder|from decoder)|CodingKeys|var (description|debugDescription|errorDescription|hashValue|startIndex|endIndex)\b|subscript\(position: Int\)|typealias (Element|Index|Iterator)\b/

    /// Functions, initialisers and computed properties of more than `limit` lines.
    func longFunctions(limit: Int) -> [Int] {
        let starts = Set(
            lines(with: "func ") + lines(with: "init") + lines(with: "subscript") + lines(with: "var "))
        return starts.sorted().filter { number in
            guard let indentation = indentation(of: number), !isComment(number) else { return false }
            guard lineCount - number > limit, isLong(number, indentation, limit) else { return false }
            return line(number).contains(
                /^\s*(@\w+(\([^)]*\))? )*([a-z]+(\(\w+\))? )*(func |init[?(<]|subscript[(<]|var .*\{$)/)
        }
    }

    /// True if the body of the declaration on a line ends more than `limit` lines later. A declaration without a body
    /// is followed by a line that is not indented deeper.
    private func isLong(_ number: Int, _ indentation: Int, _ limit: Int) -> Bool {
        (number + 1...number + limit).allSatisfy { next in
            guard let deep = self.indentation(of: next), deep <= indentation else { return true }
            return begins(next, with: ")") || begins(next, with: "where ") || begins(next, with: "{")
        }
    }
}
