import Foundation

/// Members that one file declares and uses, collected word by word.
struct MemberWords {
    private(set) var uses: Set<String> = []
    private(set) var names: Set<String> = []
    private(set) var members: Set<String> = []
    /// The effect of the previous word if it declares names.
    private var keyword: Keyword?
    /// End of the current line if it declares enum cases.
    private var caseLine: UnsafePointer<CChar>?

    private enum Keyword { case declares, cases }

    private static let declaring: Set<String> = ["func", "var", "let", "typealias"]

    /// Records a word that begins with a small letter. Names of fewer than three letters are ignored, because string
    /// literals inside interpolations contain such words.
    ///
    /// - Parameter start: The beginning of the file's code.
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
        // Statements in functions are as deep as members of nested types. Their constants and variables are not
        // members.
        guard depth == 4 || depth == 8 && (head.contains("func ") || head.contains("case ")) else { return }
        if !head.contains("private ") { members.insert(name) }
    }
}
