/// A file that is being ported: its source, and the edits and notes so far.
struct PortingWork {
    let source: SwiftSource
    let items: ItemReader
    let facts: PortFacts
    private(set) var edits = EditList()
    private(set) var notes: [PortNote] = []
    private var told: Set<PortNote> = []
    /// Kind of the notes that the current rule adds.
    var kind = PortKind.framework
    /// For each token, true if rules skip it: a condition excludes it, or a rule has put it inside a condition.
    private var isAside: [Bool]
    /// True if the file uses a name that `CoreData` declares here, such as one that Foundation has on Apple's systems.
    var needsCoreData = false

    init(_ source: SwiftSource, _ facts: PortFacts) {
        self.source = source
        self.facts = facts
        items = ItemReader(source)
        isAside = source.isExcluded
    }

    /// Indexes of the tokens that rules do not skip, in order.
    var live: [Int] { source.tokens.indices.filter { !isAside[$0] } }

    func isLive(_ index: Int) -> Bool { isAside.indices.contains(index) && !isAside[index] }

    mutating func putAside(_ tokens: Range<Int>) { for index in tokens { isAside[index] = true } }

    /// True if a token is a word that is not accessed as a member.
    func isName(_ index: Int) -> Bool { source.isWord(index) && !source.isToken(index - 1, ".") }

    // MARK: Changes

    /// Replaces the tokens from `first` to `last`, unless there is a comment between them.
    /// - Returns: False if they were not replaced; `otherwise` is then added as a note.
    @discardableResult
    mutating func replace(_ first: Int, through last: Int, by text: String, otherwise: String) -> Bool {
        let range = source.tokens[first].range.lowerBound..<source.tokens[last].range.upperBound
        guard source.hasOnlyBlanks(between: first, and: last), edits.add(range, text) else {
            note(at: first, otherwise)
            return false
        }
        return true
    }

    /// Removes tokens and the blanks after them, or the whole line if it contains nothing else.
    /// - Returns: False if they were not removed; `otherwise` is then added as a note.
    @discardableResult
    mutating func remove(_ first: Int, through last: Int, otherwise: String) -> Bool {
        let start = source.tokens[first].range.lowerBound
        var end = source.tokens[last].range.upperBound
        guard source.hasOnlyBlanks(between: first, and: last) else {
            note(at: first, otherwise)
            return false
        }
        let blanks = source.bytes[end...].prefix { $0.isBlank }
        let following = source.bytes[blanks.endIndex...].first
        var range = start..<blanks.endIndex
        let lineStart = source.lineStart(at: start)
        let isOnlyOfLine = source.bytes[lineStart..<start].allSatisfy { $0.isBlank } && (following?.isLineBreak ?? true)
        if isOnlyOfLine {
            range = lineStart..<source.nextLineStart(at: end)
        } else if following?.isLineBreak ?? true {
            // At the end of a line, the blanks before the tokens are removed instead.
            end = source.tokens[last].range.upperBound
            let before = source.bytes[..<start].reversed().prefix { $0.isBlank }.count
            range = start - before..<end
        }
        guard edits.add(range, "") else {
            note(at: first, otherwise)
            return false
        }
        return true
    }

    /// Replaces bytes, or adds `note` if another edit overlaps them.
    mutating func replace(bytes range: Range<Int>, by text: String, note: String, at token: Int) {
        if !edits.add(range, text) { self.note(at: token, note) }
    }

    /// Inserts text at an offset. Returns false if an edit replaces the bytes around it.
    @discardableResult
    mutating func insert(_ text: String, at offset: Int) -> Bool { edits.add(offset..<offset, text) }

    /// Moves whole lines with the edits in them, and removes an empty line after or before them.
    /// - Parameter separator: Text to insert before the lines at their new place.
    /// - Returns: True if they were moved.
    mutating func move(_ lines: Range<Int>, to offset: Int, after separator: String) -> Bool {
        guard let inner = edits.take(lines) else { return false }
        let changes = inner.map {
            SourceEdit(
                range: $0.range.lowerBound - lines.lowerBound..<$0.range.upperBound - lines.lowerBound,
                replacement: $0.replacement)
        }
        let text = String(decoding: EditList.apply(changes, to: Array(source.bytes[lines])), as: UTF8.self)
        var gone = lines
        let next = source.nextLineStart(at: lines.upperBound),
            previous = source.lineStart(at: max(lines.lowerBound, 1) - 1)
        if isBlank(lines.upperBound..<next) {
            gone = lines.lowerBound..<next
        } else if isBlank(previous..<lines.lowerBound) {
            gone = previous..<lines.upperBound
        }
        guard edits.add(gone, "") || edits.add(lines, "") else { return false }
        return insert(separator + text, at: offset)
    }

    private func isBlank(_ range: Range<Int>) -> Bool {
        source.bytes[range].allSatisfy { $0.isBlank || $0.isLineBreak }
    }

    /// True if the file imports any of the modules.
    func imports(_ modules: Set<String>) -> Bool {
        items.items(in: nil).contains { item in
            item.kind == .importing && modules.contains(ImportedModule(item, source).name)
        }
    }

    /// Adds a note about a module that roster's package `Shims` has.
    mutating func needsShim(_ module: String, at token: Int) {
        note(
            at: token, about: module,
            ": the package Shims of roster has this module. roster port --package adds it as a dependency",
            isLeft: false)
    }

    /// Adds a note, once for each line and message.
    ///
    /// - Parameters:
    ///   - subject: Name at the beginning of the message, if it differs from place to place.
    ///   - isLeft: True if a person has to do something.
    mutating func note(at token: Int, about subject: String = "", _ sentence: String, isLeft: Bool = true) {
        let note = PortNote(
            line: source.line(at: source.tokens[token].range.lowerBound), kind: kind, subject: subject,
            sentence: sentence, isLeft: isLeft)
        if told.insert(note).inserted { notes.append(note) }
    }
}
