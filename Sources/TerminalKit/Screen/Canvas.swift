import Foundation

/// A rectangle of a frame to draw in, with its own origin. Drawing is clipped to it.
public struct Canvas {
    private let grid: CellGrid
    /// The rectangle in the frame's coordinates.
    public let frame: Rect
    /// The text measurement of the screen.
    public let text: TextWidth
    /// The symbols that the screen can show.
    public let symbols: Symbols

    /// Creates a canvas for a whole frame.
    public init(grid: CellGrid, text: TextWidth) {
        self.init(
            grid: grid, frame: Rect(x: 0, y: 0, width: grid.size.width, height: grid.size.height), text: text,
            symbols: Symbols(text.repertoire))
    }

    private init(grid: CellGrid, frame: Rect, text: TextWidth, symbols: Symbols) {
        self.grid = grid
        self.frame = frame
        self.text = text
        self.symbols = symbols
    }

    /// The size of the rectangle.
    public var size: Size { frame.size }
    /// The number of columns.
    public var width: Int { frame.width }
    /// The number of lines.
    public var height: Int { frame.height }

    /// The part of this canvas in a rectangle, given in this canvas's coordinates.
    public func part(x: Int, y: Int, width: Int, height: Int) -> Canvas {
        let rect = Rect(x: frame.minX + x, y: frame.minY + y, width: width, height: height)
        return Canvas(grid: grid, frame: rect.intersection(frame), text: text, symbols: symbols)
    }

    /// Blanks the whole canvas.
    public func clear(style: Style = .text) {
        for y in 0..<height { fillLine(y, style: style) }
    }

    /// Blanks a line, starting at `x`. Links that begin there are removed.
    public func fillLine(_ y: Int, from x: Int = 0, style: Style) {
        guard (0..<height).contains(y) else { return }
        let line = Rect(x: frame.minX + max(0, x), y: frame.minY + y, width: width - max(0, x), height: 1)
        grid.links.removeAll { line.contains($0.frame.origin) }
        for column in max(0, x)..<max(max(0, x), width) {
            grid.put(Glyph(" ", width: 1), x: frame.minX + column, y: frame.minY + y, style: style)
        }
    }

    /// Writes text, starting at `x`. Truncates it with an ellipsis at `limit` columns or at the edge.
    ///
    /// - Returns: The number of columns written.
    @discardableResult
    public func write(_ string: String, x: Int, y: Int, style: Style = .text, limit: Int? = nil) -> Int {
        guard (0..<height).contains(y), x >= 0, x < width else { return 0 }
        let room = min(limit ?? Int.max, width - x)
        guard room > 0 else { return 0 }
        var column = x
        for glyph in text.glyphs(text.truncated(string, to: room)) {
            grid.put(glyph, x: frame.minX + column, y: frame.minY + y, style: style)
            column += glyph.width
        }
        return column - x
    }

    /// Changes the style of cells in a line and keeps their text.
    public func restyle(x: Int, y: Int, count: Int, _ change: (Style) -> Style) {
        guard (0..<height).contains(y) else { return }
        for column in max(0, x)..<max(max(0, x), min(width, x + count)) {
            let place = Point(x: frame.minX + column, y: frame.minY + y)
            grid.restyle(x: place.x, y: place.y, style: change(grid[place.x, place.y].style))
        }
    }

    /// Draws a horizontal line.
    public func rule(y: Int, style: Style = .border) {
        for x in 0..<width { write(symbols.horizontal, x: x, y: y, style: style) }
    }

    /// Draws a frame along the edge, with a title in its top line.
    public func box(title: String = "", style: Style = .border) {
        guard width >= 2, height >= 2 else { return }
        for x in 1..<(width - 1) {
            write(symbols.horizontal, x: x, y: 0, style: style)
            write(symbols.horizontal, x: x, y: height - 1, style: style)
        }
        for y in 1..<(height - 1) {
            write(symbols.vertical, x: 0, y: y, style: style)
            write(symbols.vertical, x: width - 1, y: y, style: style)
        }
        write(symbols.topLeft, x: 0, y: 0, style: style)
        write(symbols.topRight, x: width - 1, y: 0, style: style)
        write(symbols.bottomLeft, x: 0, y: height - 1, style: style)
        write(symbols.bottomRight, x: width - 1, y: height - 1, style: style)
        if !title.isEmpty, width > 6 { write(" \(title) ", x: 2, y: 0, style: .heading, limit: width - 4) }
    }

    /// Draws a picture over some cells. Does nothing if it does not fit into the canvas.
    ///
    /// - Parameter png: The contents of a PNG file.
    public func place(png: Data, x: Int, y: Int, width: Int, height: Int) {
        guard x >= 0, y >= 0, width > 0, height > 0, x + width <= self.width, y + height <= self.height else { return }
        let rect = Rect(x: frame.minX + x, y: frame.minY + y, width: width, height: height)
        grid.pictures.append(Picture(png: png, frame: rect))
    }

    // MARK: Links

    /// The parts of the whole frame that act as keys.
    public var links: [KeyLink] { grid.links }

    /// Makes a part of a line act as keys when it is clicked.
    public func link(_ keys: [Key], x: Int, y: Int, width: Int) {
        let rect = Rect(x: frame.minX + x, y: frame.minY + y, width: width, height: 1).intersection(frame)
        if !keys.isEmpty, rect.width > 0, rect.height > 0 { grid.links.append(KeyLink(frame: rect, keys: keys)) }
    }

    /// Links the labels of keys written at a position, separated by spaces, and the text after them to the first key.
    ///
    /// - Parameter length: the width of the labels with the text after them.
    public func link(labels: String, x: Int, y: Int, length: Int) {
        let sequences = labels.split(separator: " ").map { ($0, KeySequence(label: String($0))) }
        guard sequences.allSatisfy({ $0.1 != nil }), let first = sequences.first?.1 else { return }
        guard sequences.count > 1 else { return link(first.keys, x: x, y: y, width: length) }
        var column = x
        for (label, sequence) in sequences {
            link(sequence?.keys ?? [], x: column, y: y, width: text.width(String(label)))
            column += text.width(String(label)) + 1
        }
    }

    /// Writes hints, separated by two spaces, each with the labels of keys before a text: `j k move  Esc close`.
    public func writeHints(_ hints: String, x start: Int = 0, y: Int) {
        write(hints, x: start, y: y, style: .muted)
        var x = start
        for hint in hints.split(separator: "  ") {
            let labels = hint.split(separator: " ").prefix { word in
                word.utf8.allSatisfy { $0 < 0x80 } && KeySequence(label: String(word))?.keys.count == 1
            }
            link(labels: labels.joined(separator: " "), x: x, y: y, length: text.width(String(hint)))
            x += text.width(String(hint)) + 2
        }
    }

    /// Shows the terminal's cursor at a position of this canvas.
    public func showCursor(x: Int, y: Int) {
        guard (0..<height).contains(y) else { return }
        grid.cursor = Point(x: frame.minX + min(max(0, x), max(0, width - 1)), y: frame.minY + y)
    }
}
