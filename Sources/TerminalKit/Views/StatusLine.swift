/// A status line at the bottom or top, with pieces aligned left and right. If space is short, the left pieces after the
/// first one are cut first.
public struct StatusLine {
    /// The pieces at the left.
    public var left: [(text: String, role: Role)]
    /// The pieces at the right, which keep their width.
    public var right: [(text: String, role: Role)]

    /// Creates a line from pieces.
    public init(left: [(String, Role)] = [], right: [(String, Role)] = []) {
        self.left = left.map { (text: $0.0, role: $0.1) }
        self.right = right.map { (text: $0.0, role: $0.1) }
    }

    /// Draws the line in the whole width at `y`.
    ///
    /// - Returns: The columns of each piece at the left; empty for those that did not fit.
    @discardableResult
    public func draw(in canvas: Canvas, y: Int, style: Style = .status) -> [Range<Int>] {
        canvas.fillLine(y, style: style)
        let rightWidth = right.reduce(0) { $0 + canvas.text.width($1.text) }
        let first = left.first.map { canvas.text.width($0.text) } ?? 0
        let room = max(min(first, canvas.width / 2), canvas.width - rightWidth - 1)
        var x = 0
        let places = left.map { piece in
            let start = x
            if x < room { x += canvas.write(piece.text, x: x, y: y, style: Style(piece.role), limit: room - x) }
            return start..<x
        }
        var end = max(x + 1, canvas.width - rightWidth)
        for piece in right { end += canvas.write(piece.text, x: end, y: y, style: Style(piece.role)) }
        return places
    }
}
