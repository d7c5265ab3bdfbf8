/// A part of the screen that acts as keys when it is clicked, such as a hint.
public struct KeyLink: Hashable, Sendable {
    /// The cells of the part.
    public let frame: Rect
    /// The keys that a click presses.
    public let keys: [Key]
}

/// One frame of the screen in memory: views draw into it, and a screen shows it.
///
/// A wide glyph occupies its cell and the next one, which is marked as a continuation. Overwriting one half blanks the
/// other, so a frame never has half a glyph.
public final class CellGrid {
    /// One cell.
    public struct Cell: Hashable, Sendable {
        /// The glyph; empty in the second cell of a wide one.
        public var text: String
        /// The style of the cell.
        public var style: Style
        /// The number of columns of the glyph; 0 marks the second cell of a wide glyph.
        public var width: UInt8

        /// A cell that contains a space.
        public static let blank = Cell(text: " ", style: .text, width: 1)
    }

    /// The size, at least one cell.
    public let size: Size
    /// The cells, line by line.
    public private(set) var cells: [Cell]
    /// Pictures over the cells, for screens that can show them.
    public internal(set) var pictures: [Picture] = []
    /// Parts of the frame that act as keys when they are clicked.
    var links: [KeyLink] = []
    /// The position of the terminal's cursor; `nil` hides it.
    public var cursor: Point?

    /// Creates a frame of blank cells.
    public init(size: Size) {
        self.size = Size(width: max(1, size.width), height: max(1, size.height))
        cells = Array(repeating: .blank, count: self.size.width * self.size.height)
    }

    /// The cell at a position, which must be in the frame.
    public subscript(x: Int, y: Int) -> Cell { cells[y * size.width + x] }

    /// The cells of one line.
    public func line(_ y: Int) -> ArraySlice<Cell> { cells[(y * size.width)..<((y + 1) * size.width)] }

    /// Writes one glyph. Does nothing if it does not fit into the line.
    func put(_ glyph: Glyph, x: Int, y: Int, style: Style) {
        guard x >= 0, y >= 0, y < size.height, x + glyph.width <= size.width else { return }
        let index = y * size.width + x
        release(index)
        if glyph.width == 2 { release(index + 1) }
        cells[index] = Cell(text: glyph.text, style: style, width: UInt8(glyph.width))
        if glyph.width == 2 { cells[index + 1] = Cell(text: "", style: style, width: 0) }
    }

    /// Changes the style of a cell and keeps its glyph.
    func restyle(x: Int, y: Int, style: Style) {
        guard x >= 0, y >= 0, x < size.width, y < size.height else { return }
        cells[y * size.width + x].style = style
    }

    /// Blanks the other half if the cell at `index` is one half of a wide glyph.
    private func release(_ index: Int) {
        if cells[index].width == 0, index % size.width > 0 {
            cells[index - 1] = Cell(text: " ", style: cells[index - 1].style, width: 1)
        } else if cells[index].width == 2 {
            cells[index + 1] = Cell(text: " ", style: cells[index + 1].style, width: 1)
        }
    }
}
