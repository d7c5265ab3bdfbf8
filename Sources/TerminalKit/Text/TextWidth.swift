import Foundation

/// Measures, truncates and pads text by its width in screen columns.
///
/// Terminals, C libraries and Unicode disagree about clusters, so text is first converted to glyphs of undisputed
/// width. An emoji sequence becomes its first emoji, a variation selector is dropped, and invisible characters
/// (controls, bidirectional controls, a mark without a base) are replaced by visible ones.
public struct TextWidth: Hashable, Sendable {
    /// The characters that the terminal can show.
    public enum Repertoire: Hashable, Sendable {
        case unicode
        /// Only ASCII: letters lose their marks, and characters without an ASCII equivalent become `?`.
        case ascii
    }

    /// The side on which text is aligned in a wider field.
    public enum Alignment: Hashable, Sendable {
        case left
        case right
    }

    /// The characters that the terminal can show.
    public let repertoire: Repertoire

    /// Creates a measurement for a terminal with that repertoire.
    public init(_ repertoire: Repertoire = .unicode) { self.repertoire = repertoire }

    /// The mark at the end of truncated text.
    public var ellipsis: String { repertoire == .unicode ? "…" : "~" }

    /// Converts `text` to glyphs, in order.
    public func glyphs(_ text: String) -> [Glyph] {
        var result: [Glyph] = []
        result.reserveCapacity(text.utf8.count)
        for character in text { appendGlyphs(of: character, to: &result) }
        return result
    }

    /// Returns the first glyphs of `text`, and true if these are all and fit into `columns`. Reads only these.
    private func glyphs(_ text: some Sequence<Character>, upTo columns: Int) -> (glyphs: [Glyph], isWhole: Bool) {
        var result: [Glyph] = []
        var (used, counted) = (0, 0)
        for character in text {
            appendGlyphs(of: character, to: &result)
            while counted < result.count {
                used += result[counted].width
                counted += 1
            }
            if used > columns { return (result, false) }
        }
        return (result, true)
    }

    /// The width of `text` in columns, at most `limit`.
    public func width(_ text: some Sequence<Character>, upTo limit: Int) -> Int {
        let (glyphs, isWhole) = glyphs(text, upTo: limit)
        return isWhole ? glyphs.reduce(0) { $0 + $1.width } : limit
    }

    /// The width of `text` in columns. Counts plain ASCII without segmenting it.
    public func width(_ text: String) -> Int {
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text.utf8.count }
        return glyphs(text).reduce(0) { $0 + $1.width }
    }

    /// Returns `text` truncated to at most `columns`, with an ellipsis in the last one if it was too long.
    public func truncated(_ text: String, to columns: Int) -> String {
        guard columns > 0 else { return "" }
        let (glyphs, isWhole) = glyphs(text, upTo: columns)
        if isWhole { return glyphs.map(\.text).joined() }
        var used = 0
        var result = ""
        for glyph in glyphs {
            if used + glyph.width > columns - 1 { break }
            result += glyph.text
            used += glyph.width
        }
        return result + ellipsis
    }

    /// Returns `text` truncated or filled with spaces to exactly `columns`.
    public func padded(_ text: String, to columns: Int, alignment: Alignment = .left) -> String {
        let cut = truncated(text, to: columns)
        let fill = String(repeating: " ", count: max(0, columns - width(cut)))
        return alignment == .left ? cut + fill : fill + cut
    }

    // MARK: One cluster

    private func appendGlyphs(of character: Character, to result: inout [Glyph]) {
        if let ascii = character.asciiValue, character.unicodeScalars.count == 1, ascii >= 0x20, ascii < 0x7F {
            result.append(Glyph(String(character), width: 1))
            return
        }
        switch repertoire {
        case .unicode: appendUnicode(character, to: &result)
        case .ascii: appendASCII(character, to: &result)
        }
    }

    private func appendUnicode(_ character: Character, to result: inout [Glyph]) {
        let scalars = Array(character.unicodeScalars)
        if let emoji = Self.leadingEmoji(of: scalars) {
            result.append(Glyph(String(emoji), width: Self.width(of: emoji)))
            return
        }
        var current: Glyph?
        for scalar in scalars {
            if let picture = Self.picture(of: scalar) {
                if let finished = current { result.append(finished) }
                current = nil
                result.append(Glyph(String(picture), width: 1))
            } else if Self.isZeroWidth(scalar) {
                guard Self.isMark(scalar) else { continue }
                var base = current ?? Glyph("\u{25CC}", width: 1)
                if base.text.unicodeScalars.count < 5 { base.text.unicodeScalars.append(scalar) }
                current = base
            } else {
                if let finished = current { result.append(finished) }
                current = Glyph(String(scalar), width: Self.width(of: scalar))
            }
        }
        if let current { result.append(current) }
    }

    private func appendASCII(_ character: Character, to result: inout [Glyph]) {
        for scalar in character.unicodeScalars where scalar.value < 0x20 || scalar.value == 0x7F {
            result.append(Glyph("^", width: 1))
            result.append(Glyph(String(Unicode.Scalar(UInt8(scalar.value ^ 0x40))), width: 1))
        }
        if character.unicodeScalars.allSatisfy({ $0.value < 0x20 || $0.value == 0x7F }) { return }
        if let replacement = Self.asciiReplacements[character] {
            for letter in replacement { result.append(Glyph(String(letter), width: 1)) }
            return
        }
        let letters = String(character).decomposedStringWithCompatibilityMapping.unicodeScalars
            .filter { $0.value >= 0x20 && $0.value < 0x7F }
        if letters.isEmpty {
            if character.unicodeScalars.contains(where: { !Self.isZeroWidth($0) }) {
                result.append(Glyph("?", width: 1))
            }
        } else {
            for letter in letters { result.append(Glyph(String(letter), width: 1)) }
        }
    }

    /// ASCII transcriptions of letters and symbols that Unicode does not decompose to ASCII.
    private static let asciiReplacements: [Character: String] = [
        "ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ł": "l",
        "Ł": "L", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th", "ı": "i", "…": "~", "–": "-", "—": "-", "‘": "'",
        "’": "'", "“": "\"", "”": "\"", "→": ">", "←": "<", "↑": "^", "↓": "v", "·": ".", "•": "*", "×": "x",
        "−": "-", "■": "#", "≠": "!=", "≤": "<=", "≥": ">=", "✓": "x", "▸": "+", "▾": "-", "°": "", "‹": "<",
        "›": ">", "«": "<<", "»": ">>", "€": "EUR", "№": "No",
    ]
}

// MARK: - Scalars

extension TextWidth {
    /// The width of a scalar that has one.
    static func width(of scalar: Unicode.Scalar) -> Int { WideRanges.contain(scalar) ? 2 : 1 }

    /// True if a scalar takes no column of its own.
    static func isZeroWidth(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x300 { return false }
        if (0x1160...0x11FF).contains(scalar.value) || (0xD7B0...0xD7FF).contains(scalar.value) { return true }
        if isMark(scalar) { return true }
        // Arabic and Syriac number signs are format characters, but take a column.
        if [0x0600...0x0605, 0x06DD...0x06DD, 0x070F...0x070F, 0x0890...0x0891, 0x08E2...0x08E2]
            .contains(where: { $0.contains(scalar.value) })
        {
            return false
        }
        return scalar.properties.generalCategory == .format
    }

    /// True if a scalar is drawn onto the previous one.
    static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        if (0x1160...0x11FF).contains(scalar.value) || (0xD7B0...0xD7FF).contains(scalar.value) { return true }
        guard scalar.value >= 0x300, !scalar.properties.isVariationSelector else { return false }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return true
        default: return false
        }
    }

    /// The visible replacement of a scalar that is invisible, or would change the terminal's state or the text
    /// direction.
    static func picture(of scalar: Unicode.Scalar) -> Unicode.Scalar? {
        switch scalar.value {
        case 0x00..<0x20: return Unicode.Scalar(0x2400 + scalar.value)
        case 0x7F: return "\u{2421}"
        case 0xAD: return "-"
        case 0x80..<0xA0, 0x2028, 0x2029, 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: return "\u{FFFD}"
        default: return nil
        }
    }

    /// The first emoji of a sequence of several scalars; `nil` if the cluster is not an emoji sequence.
    private static func leadingEmoji(of scalars: [Unicode.Scalar]) -> Unicode.Scalar? {
        guard scalars.count > 1, let first = scalars.first else { return nil }
        let isEmoji = first.properties.isEmoji && !(0x1F1E6...0x1F1FF).contains(first.value)
        guard isEmoji else { return nil }
        let isSequence = scalars.dropFirst().contains { scalar in
            scalar.value == 0x200D || scalar.value == 0xFE0F || scalar.value == 0x20E3
                || scalar.properties.isEmojiModifier || (0xE0020...0xE007F).contains(scalar.value)
        }
        return isSequence ? first : nil
    }
}

// MARK: - Lines

extension TextWidth {
    /// Returns `text` broken between words into lines of at most `columns`. Longer words are broken too.
    public func wrapped(_ text: String, to columns: Int) -> [String] { Array(WrappedLines(text, to: columns, self)) }
}

/// A text broken between words into lines, one at a time: the cost depends on the lines read, not on the text's length.
public struct WrappedLines: Sequence, IteratorProtocol {
    private let columns: Int
    private let measure: TextWidth
    private let breaksAtNewlines: Bool
    /// The rest of the text after the lines returned so far; `nil` at the end.
    private var rest: Substring?

    /// - Parameter breaksAtNewlines: True if line breaks in the text also end lines.
    public init(_ text: String, to columns: Int, _ measure: TextWidth, breaksAtNewlines: Bool = false) {
        self.columns = Swift.max(1, columns)
        self.measure = measure
        self.breaksAtNewlines = breaksAtNewlines
        rest = text[...]
    }

    /// True if all lines were returned.
    public var isAtEnd: Bool { rest == nil }

    /// The next line.
    public mutating func next() -> String? {
        // The space at which the previous line was broken is skipped.
        guard let text = rest?.drop(while: { $0 == " " }) else { return nil }
        var (used, place) = (0, text.startIndex)
        var space: Substring.Index?
        while place < text.endIndex {
            let character = text[place]
            let behind = text.index(after: place)
            if breaksAtNewlines, character.isNewline { return line(text[..<place], before: text[behind...]) }
            used += measure.width(CollectionOfOne(character), upTo: columns + 1)
            if used > columns {
                if character == " " { return line(text[..<place], before: text[behind...]) }
                if let space { return line(text[..<space], before: text[text.index(after: space)...]) }
                // A cluster wider than a line has its own line.
                guard place == text.startIndex else { return line(text[..<place], before: text[place...]) }
                return line(text[..<behind], before: behind == text.endIndex ? nil : text[behind...])
            }
            if character == " " { space = place }
            place = behind
        }
        return line(text, before: nil)
    }

    private mutating func line(_ line: Substring, before rest: Substring?) -> String {
        self.rest = rest
        return String(line)
    }
}
