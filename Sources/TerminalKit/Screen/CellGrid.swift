/// One frame of the screen in memory: what views paint into and what a screen shows.
///
/// A wide glyph owns its cell and the next; the next one is marked as a continuation. Overwriting either half blanks the
/// other, so a frame never holds half a glyph.
public final class CellGrid {
    /// One cell.
    public struct Cell: Hashable, Sendable {
        /// The glyph; empty in the second cell of a wide one.
        public var text: String
        /// How the cell is drawn.
        public var style: Style
        /// 0 marks the second cell of a wide glyph.
        public var width: UInt8

        /// A cell with a space.
        public static let blank = Cell(text: " ", style: .text, width: 1)
    }

    /// The extent, one cell at least.
    public let size: Size
    /// The cells, line by line.
    public private(set) var cells: [Cell]
    /// Pictures over the cells; a screen that cannot show any leaves them out.
    public internal(set) var pictures: [Picture] = []
    /// Where the terminal's cursor stands; `nil` hides it.
    public var cursor: Point?

    /// A frame of blank cells.
    public init(size: Size) {
        self.size = Size(width: max(1, size.width), height: max(1, size.height))
        cells = Array(repeating: .blank, count: self.size.width * self.size.height)
    }

    /// The cell at a place, which must be in the frame.
    public subscript(x: Int, y: Int) -> Cell { cells[y * size.width + x] }

    /// The cells of one line.
    public func line(_ y: Int) -> ArraySlice<Cell> { cells[(y * size.width)..<((y + 1) * size.width)] }

    /// Puts one glyph; one that does not fit in the line is left out.
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

    /// Blanks the other half of a wide glyph of which the cell at `index` is one.
    private func release(_ index: Int) {
        if cells[index].width == 0, index % size.width > 0 {
            cells[index - 1] = Cell(text: " ", style: cells[index - 1].style, width: 1)
        } else if cells[index].width == 2 {
            cells[index + 1] = Cell(text: " ", style: cells[index + 1].style, width: 1)
        }
    }
}
