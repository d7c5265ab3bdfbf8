/// The contents of one cell of the screen, or of two adjacent ones: a spacing character with its marks.
public struct Glyph: Hashable, Sendable {
    /// One spacing scalar and at most four combining ones, as a terminal cell can contain.
    public var text: String
    /// The width, 1 or 2 columns.
    public var width: Int

    /// Creates a glyph with that text, 1 or 2 columns wide.
    public init(_ text: String, width: Int) {
        self.text = text
        self.width = width
    }
}
