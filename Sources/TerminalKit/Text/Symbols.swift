/// The symbols that views draw, for the terminal's repertoire.
public struct Symbols: Hashable, Sendable {
    /// An unfolded section.
    public let foldOpen: String
    /// A folded section.
    public let foldClosed: String
    /// A horizontal line.
    public let horizontal: String
    /// A vertical line.
    public let vertical: String
    /// A corner of a box.
    public let topLeft: String
    /// A corner of a box.
    public let topRight: String
    /// A corner of a box.
    public let bottomLeft: String
    /// A corner of a box.
    public let bottomRight: String
    /// Ascending sort order.
    public let ascending: String
    /// Descending sort order.
    public let descending: String
    /// An inserted row.
    public let inserted: String
    /// A moved row.
    public let moved: String
    /// An updated row.
    public let updated: String
    /// The item under the cursor.
    public let pointer: String
    /// The destination of a to-one relationship.
    public let toOne: String
    /// A selected choice.
    public let checked: String
    /// A choice that is not selected.
    public let unchecked: String
    /// A separator between parts of a line.
    public let separator: String
    /// More columns on the left.
    public let moreLeft: String
    /// More columns on the right.
    public let moreRight: String
    /// A removed row.
    public let removed: String
    /// A segment of a bar.
    public let bar: String

    /// The Unicode symbols.
    public static let unicode = Symbols(
        foldOpen: "▾", foldClosed: "▸", horizontal: "─", vertical: "│", topLeft: "┌", topRight: "┐", bottomLeft: "└",
        bottomRight: "┘", ascending: "↑", descending: "↓", inserted: "+", moved: "↕", updated: "~", pointer: "›",
        toOne: "→", checked: "✓", unchecked: "·", separator: "·", moreLeft: "‹", moreRight: "›", removed: "−", bar: "■")

    /// The ASCII symbols.
    public static let ascii = Symbols(
        foldOpen: "-", foldClosed: "+", horizontal: "-", vertical: "|", topLeft: "+", topRight: "+", bottomLeft: "+",
        bottomRight: "+", ascending: "^", descending: "v", inserted: "+", moved: "%", updated: "~", pointer: ">",
        toOne: ">", checked: "x", unchecked: ".", separator: "|", moreLeft: "<", moreRight: ">", removed: "x", bar: "#")

    /// The symbols of a repertoire.
    public init(_ repertoire: TextWidth.Repertoire) { self = repertoire == .unicode ? .unicode : .ascii }

    private init(
        foldOpen: String, foldClosed: String, horizontal: String, vertical: String, topLeft: String, topRight: String,
        bottomLeft: String, bottomRight: String, ascending: String, descending: String, inserted: String, moved: String,
        updated: String, pointer: String, toOne: String, checked: String, unchecked: String, separator: String,
        moreLeft: String, moreRight: String, removed: String, bar: String
    ) {
        self.foldOpen = foldOpen
        self.foldClosed = foldClosed
        self.horizontal = horizontal
        self.vertical = vertical
        self.topLeft = topLeft
        self.topRight = topRight
        self.bottomLeft = bottomLeft
        self.bottomRight = bottomRight
        self.ascending = ascending
        self.descending = descending
        self.inserted = inserted
        self.moved = moved
        self.updated = updated
        self.pointer = pointer
        self.toOne = toOne
        self.checked = checked
        self.unchecked = unchecked
        self.separator = separator
        self.moreLeft = moreLeft
        self.moreRight = moreRight
        self.removed = removed
        self.bar = bar
    }
}
