import Foundation

extension TextWidth {
    /// The columns of `text` in which `needle` is found, without regard to case and marks.
    func matches(of needle: String, in text: String) -> [Range<Int>] {
        let needle = glyphs(needle).map { Self.folded($0.text) }
        let glyphs = glyphs(text)
        guard !needle.isEmpty, glyphs.count >= needle.count else { return [] }
        let folded = glyphs.map { Self.folded($0.text) }
        var found: [Range<Int>] = []
        var column = 0
        for start in 0...(glyphs.count - needle.count) {
            if folded[start..<(start + needle.count)].elementsEqual(needle) {
                let width = glyphs[start..<(start + needle.count)].reduce(0) { $0 + $1.width }
                found.append(column..<(column + width))
            }
            column += glyphs[start].width
        }
        return found
    }

    private static func folded(_ text: String) -> String {
        guard text.utf8.count > 1 else { return text.lowercased() }
        let base = text.decomposedStringWithCanonicalMapping.unicodeScalars.first
        return base.map { String($0).lowercased() } ?? text
    }
}
