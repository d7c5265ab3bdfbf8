/// One line of text being edited, with the keys that every shell has.
public struct LineEditor: Hashable, Sendable {
    /// The text, character by character.
    public private(set) var characters: [Character]
    /// Before which character the next one goes.
    public private(set) var cursor: Int
    /// The first column shown when the text is wider than its field.
    private var scroll = 0

    /// An editor with the cursor behind the text.
    public init(_ text: String = "") {
        characters = Array(text)
        cursor = characters.count
    }

    /// The text. Setting it puts the cursor behind it.
    public var text: String {
        get { String(characters) }
        set { self = LineEditor(newValue) }
    }

    /// The text left of the cursor.
    public var textBeforeCursor: String { String(characters[..<cursor]) }

    /// Puts text at the cursor. A combining mark joins the character before.
    public mutating func insert(_ text: String) {
        let flat = text.map { $0.isNewline || $0 == "\t" ? " " : $0 }
        let joined = Array(String(characters[..<cursor]) + String(flat))
        characters = joined + characters[cursor...]
        cursor = joined.count
    }

    /// Replaces the characters of a range and leaves the cursor behind the new ones.
    public mutating func replace(_ range: Range<Int>, with text: String) {
        let clamped = range.clamped(to: 0..<characters.count)
        characters.replaceSubrange(clamped, with: Array(text))
        cursor = clamped.lowerBound + text.count
    }

    /// Acts on a key. Answers `false` for keys that are no editing keys.
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

    /// Paints the line in one line of a canvas and scrolls so that the cursor is seen.
    public mutating func draw(
        in canvas: Canvas, x: Int, y: Int, width: Int, style: Style, showsCursor: Bool
    ) {
        guard width > 0 else { return }
        let before = canvas.text.width(textBeforeCursor)
        scroll = firstColumn(width: width, text: canvas.text)
        var column = 0
        for glyph in canvas.text.glyphs(text) {
            if column >= scroll, column - scroll + glyph.width <= width {
                canvas.write(glyph.text, x: x + column - scroll, y: y, style: style)
            }
            column += glyph.width
        }
        if showsCursor { canvas.showCursor(x: x + before - scroll, y: y) }
    }

    /// In which column of its field a character stands, as `draw` shows it: nothing is left of the first one.
    func column(ofCharacter index: Int, width: Int, text: TextWidth) -> Int {
        max(0, text.width(String(characters.prefix(index))) - firstColumn(width: width, text: text))
    }

    /// The first column shown, so that the cursor is seen.
    private func firstColumn(width: Int, text: TextWidth) -> Int {
        let before = text.width(textBeforeCursor)
        if before < scroll { return before }
        return before - scroll > width - 1 ? before - width + 1 : scroll
    }

    private mutating func remove(_ range: Range<Int>) {
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
