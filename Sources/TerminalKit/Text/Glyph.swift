/// The content of one cell of the screen, or in two adjoining ones: a spacing character with its marks.
public struct Glyph: Hashable, Sendable {
    /// One spacing scalar and at most four combining ones: what a terminal cell holds.
    public var text: String
    /// 1 or 2 columns.
    public var width: Int

    /// A glyph of that text, 1 or 2 columns wide.
    public init(_ text: String, width: Int) {
        self.text = text
        self.width = width
    }
}
