/// A one-line text editor, with the usual keys of shells.
public struct LineEditor: Hashable, Sendable {
    /// The characters of the text.
    public private(set) var characters: [Character]
    /// The index at which the next character is inserted.
    public private(set) var cursor: Int
    /// The number of changes of the text.
    private(set) var revision = 0
    /// The first visible character if the text is wider than its field.
    private var first = 0

    /// Creates an editor with the cursor at the end of the text.
    public init(_ text: String = "") {
        characters = Array(text)
        cursor = characters.count
    }

    /// The text. Setting it moves the cursor to its end.
    public var text: String {
        get { String(characters) }
        set { self = LineEditor(newValue) }
    }

    /// The text before the cursor.
    public var textBeforeCursor: String { String(characters[..<cursor]) }

    /// Inserts text at the cursor. A combining mark joins the previous character.
    ///
    /// - Parameter keepsLines: True to keep line breaks and tabs, false to replace them by spaces.
    public mutating func insert(_ text: String, keepsLines: Bool = false) {
        let flat = keepsLines ? Array(text) : text.map { $0.isNewline || $0 == "\t" ? " " : $0 }
        let start = max(0, cursor - 1)
        let joined = Array(String(characters[start..<cursor] + flat))
        characters.replaceSubrange(start..<cursor, with: joined)
        cursor = start + joined.count
        revision += 1
    }

    /// Replaces the characters of a range and moves the cursor to the end of the new ones.
    public mutating func replace(_ range: Range<Int>, with text: String) {
        let clamped = range.clamped(to: 0..<characters.count)
        characters.replaceSubrange(clamped, with: Array(text))
        cursor = clamped.lowerBound + text.count
        revision += 1
    }

    /// Handles a key. Returns `false` if it is not an editing key.
    public mutating func handle(_ key: Key) -> Bool {
        if let character = key.typed {
            insert(String(character))
            return true
        }
        switch (key.code, key.modifiers) {
        case (.left, []), (.character("b"), .control): cursor = max(0, cursor - 1)
        case (.right, []), (.character("f"), .control): cursor = min(characters.count, cursor + 1)
        case (.home, []), (.character("a"), .control): cursor = 0
        case (.end, []), (.character("e"), .control): cursor = characters.count
        case (.left, .control), (.character("b"), .alt): cursor = wordStart
        case (.right, .control), (.character("f"), .alt): cursor = wordEnd
        case (.backspace, []), (.character("h"), .control): remove(max(0, cursor - 1)..<cursor)
        case (.delete, []), (.character("d"), .control): remove(cursor..<min(characters.count, cursor + 1))
        case (.character("u"), .control): remove(0..<cursor)
        case (.character("k"), .control): remove(cursor..<characters.count)
        case (.character("w"), .control), (.backspace, .alt): remove(wordStart..<cursor)
        case (.character("d"), .alt): remove(cursor..<wordEnd)
        default: return false
        }
        return true
    }

    /// Draws the text in one line of a canvas, scrolled to make the cursor visible.
    public mutating func draw(
        in canvas: Canvas, x: Int, y: Int, width: Int, style: Style, showsCursor: Bool
    ) {
        guard width > 0 else { return }
        first = firstShown(width: width, text: canvas.text)
        var (column, index) = (0, first)
        while column < width, index < characters.count {
            for glyph in canvas.text.glyphs(String(characters[index])) {
                if column + glyph.width <= width { canvas.write(glyph.text, x: x + column, y: y, style: style) }
                column += glyph.width
            }
            index += 1
        }
        if showsCursor { canvas.showCursor(x: x + self.column(of: cursor, from: first, canvas.text), y: y) }
    }

    /// The width of the text in columns, at most `limit`.
    public func width(upTo limit: Int, _ text: TextWidth) -> Int { text.width(characters, upTo: limit) }

    /// The column of a character in its field, as drawn by `draw`; 0 for characters scrolled out at the left.
    func column(ofCharacter index: Int, width: Int, text: TextWidth) -> Int {
        let first = firstShown(width: width, text: text)
        return index < first ? 0 : column(of: min(index, characters.count), from: first, text)
    }

    private func column(of index: Int, from first: Int, _ text: TextWidth) -> Int {
        text.width(String(characters[first..<index]))
    }

    /// The first visible character that keeps the cursor visible. Reads no more of the text than fits.
    private func firstShown(width: Int, text: TextWidth) -> Int {
        guard cursor > first else { return cursor }
        var (index, used) = (cursor, 0)
        while index > first {
            used += text.width(String(characters[index - 1]))
            if used > width - 1 { return index }
            index -= 1
        }
        return first
    }

    private mutating func remove(_ range: Range<Int>) {
        if !range.isEmpty { revision += 1 }
        characters.removeSubrange(range)
        cursor = range.lowerBound
    }

    private static func isWord(_ character: Character) -> Bool { character.isLetter || character.isNumber }

    private var wordStart: Int {
        var index = cursor
        while index > 0, !Self.isWord(characters[index - 1]) { index -= 1 }
        while index > 0, Self.isWord(characters[index - 1]) { index -= 1 }
        return index
    }

    private var wordEnd: Int {
        var index = cursor
        while index < characters.count, !Self.isWord(characters[index]) { index += 1 }
        while index < characters.count, Self.isWord(characters[index]) { index += 1 }
        return index
    }
}
