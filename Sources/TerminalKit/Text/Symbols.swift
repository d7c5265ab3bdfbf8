/// The signs that views draw, in the terminal's repertoire.
public struct Symbols: Hashable, Sendable {
    public let foldOpen: String
    public let foldClosed: String
    public let horizontal: String
    public let vertical: String
    public let topLeft: String
    public let topRight: String
    public let bottomLeft: String
    public let bottomRight: String
    public let ascending: String
    public let descending: String
    public let inserted: String
    public let moved: String
    public let updated: String
    public let pointer: String
    public let toOne: String
    public let checked: String
    public let unchecked: String
    public let separator: String
    public let moreLeft: String
    public let moreRight: String
    public let removed: String
    public let bar: String

    public static let unicode = Symbols(
        foldOpen: "▾", foldClosed: "▸", horizontal: "─", vertical: "│", topLeft: "┌", topRight: "┐", bottomLeft: "└",
        bottomRight: "┘", ascending: "↑", descending: "↓", inserted: "+", moved: "↕", updated: "~", pointer: "›",
        toOne: "→", checked: "✓", unchecked: "·", separator: "·", moreLeft: "‹", moreRight: "›", removed: "−", bar: "■")

    public static let ascii = Symbols(
        foldOpen: "-", foldClosed: "+", horizontal: "-", vertical: "|", topLeft: "+", topRight: "+", bottomLeft: "+",
        bottomRight: "+", ascending: "^", descending: "v", inserted: "+", moved: "%", updated: "~", pointer: ">",
        toOne: ">", checked: "x", unchecked: ".", separator: "|", moreLeft: "<", moreRight: ">", removed: "-", bar: "#")

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
