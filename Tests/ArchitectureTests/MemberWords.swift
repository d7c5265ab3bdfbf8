import Foundation

/// The members that a file declares and uses, gathered word by word.
struct MemberWords {
    private(set) var uses: Set<String> = []
    private(set) var names: Set<String> = []
    private(set) var members: Set<String> = []
    /// What the word before was, where it declares names.
    private var keyword: Keyword?
    /// The end of the line of enum cases that the words are on.
    private var caseLine: UnsafePointer<CChar>?

    private enum Keyword { case declares, cases }

    private static let declaring: Set<String> = ["func", "var", "let", "typealias"]

    /// Notes a word that begins with a small letter. Shorter names than of three letters are left out: texts within texts have
    /// such words, too.
    ///
    /// - Parameter start: the beginning of the file's code.
    mutating func note(_ word: UnsafeBufferPointer<UInt8>, after start: UnsafePointer<CChar>) {
        guard let place = word.baseAddress else { return }
        let text = String(decoding: word, as: UTF8.self)
        defer { keyword = Self.declaring.contains(text) ? .declares : text == "case" ? .cases : nil }
        guard word.count >= 3 else { return }
        place.withMemoryRebound(to: CChar.self, capacity: word.count) { place in
            let isMember = place > start && place[-1] == CChar(UInt8(ascii: "."))
            if isMember { uses.insert(text) }
            switch keyword {
            case .declares?: declare(text, at: place, after: start)
            case .cases?:
                guard !isMember, text != "let", text != "var" else { break }
                declare(text, at: place, after: start)
                caseLine = place + strcspn(place, "\n")
            case nil:
                let end = place + word.count
                let isLabel = end.pointee == CChar(UInt8(ascii: ":"))
                if isLabel || caseLine.map({ place < $0 }) == true { names.insert(text) }
            }
        }
    }

    private mutating func declare(_ name: String, at place: UnsafePointer<CChar>, after start: UnsafePointer<CChar>) {
        names.insert(name)
        var line = place
        while line > start, line[-1] != 10 { line -= 1 }
        let depth = strspn(line, " ")
        let head = String(decoding: UnsafeRawBufferPointer(start: line, count: place - line), as: UTF8.self)
        // Statements of functions stand as deep as the members of nested types, and declare constants and variables.
        guard depth == 4 || depth == 8 && (head.contains("func ") || head.contains("case ")) else { return }
        if !head.contains("private ") { members.insert(name) }
    }
}
