/// A column of a list.
public struct ListColumn: Hashable, Sendable {
    /// The identity of the column.
    public var id: String
    /// The text above the column.
    public var title: String
    /// The alignment of the texts.
    public var alignment: TextWidth.Alignment
    /// True if the column may be narrower than its text.
    public var isFlexible: Bool
    /// The width up to which a flexible column shows its text while other columns are hidden.
    public var leastWidth: Int
    /// The width set by the user; `nil` for the width of the texts.
    public var width: Int?

    /// Creates a column. The parameters have the meaning of the properties.
    public init(
        id: String, title: String, alignment: TextWidth.Alignment = .left, isFlexible: Bool = true,
        leastWidth: Int = 16,
        width: Int? = nil
    ) {
        self.id = id
        self.title = title
        self.alignment = alignment
        self.isFlexible = isFlexible
        self.leastWidth = leastWidth
        self.width = width
    }
}
