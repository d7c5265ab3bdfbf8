/// The signs that views draw, in the terminal's repertoire.
public struct Symbols: Hashable, Sendable {
    /// A section that is unfolded.
    public let foldOpen: String
    /// A section that is folded.
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
    /// Sorted ascending.
    public let ascending: String
    /// Sorted descending.
    public let descending: String
    /// A row that came.
    public let inserted: String
    /// A row that moved.
    public let moved: String
    /// A row that changed.
    public let updated: String
    /// The item that the cursor is on.
    public let pointer: String
    /// The destination of a to-one relationship.
    public let toOne: String
    /// A choice that is on.
    public let checked: String
    /// A choice that is off.
    public let unchecked: String
    /// Between pieces of one line.
    public let separator: String
    /// More columns on the left.
    public let moreLeft: String
    /// More columns on the right.
    public let moreRight: String
    /// A row that went.
    public let removed: String
    /// A piece of a bar.
    public let bar: String

    /// The signs of Unicode.
    public static let unicode = Symbols(
        foldOpen: "▾", foldClosed: "▸", horizontal: "─", vertical: "│", topLeft: "┌", topRight: "┐", bottomLeft: "└",
        bottomRight: "┘", ascending: "↑", descending: "↓", inserted: "+", moved: "↕", updated: "~", pointer: "›",
        toOne: "→", checked: "✓", unchecked: "·", separator: "·", moreLeft: "‹", moreRight: "›", removed: "−", bar: "■")

    /// The signs of ASCII alone.
    public static let ascii = Symbols(
        foldOpen: "-", foldClosed: "+", horizontal: "-", vertical: "|", topLeft: "+", topRight: "+", bottomLeft: "+",
        bottomRight: "+", ascending: "^", descending: "v", inserted: "+", moved: "%", updated: "~", pointer: ">",
        toOne: ">", checked: "x", unchecked: ".", separator: "|", moreLeft: "<", moreRight: ">", removed: "x", bar: "#")

    /// The signs of a repertoire.
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
