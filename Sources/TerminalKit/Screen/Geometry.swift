/// A position on the screen in columns and lines, counted from the top left.
public struct Point: Hashable, Sendable {
    /// The column, counted from 0.
    public var x: Int
    /// The line, counted from 0.
    public var y: Int

    /// Creates a position from column and line.
    public init(x: Int, y: Int) {
        self.x = x
        self.y = y
    }
}

/// A size in columns and lines.
public struct Size: Hashable, Sendable {
    /// The number of columns.
    public var width: Int
    /// The number of lines.
    public var height: Int

    /// Creates a size.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}

/// A rectangle of the screen.
public struct Rect: Hashable, Sendable {
    /// The top left position.
    public var origin: Point
    /// The size.
    public var size: Size

    /// Creates a rectangle. Negative sizes become 0.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.origin = Point(x: x, y: y)
        self.size = Size(width: max(0, width), height: max(0, height))
    }

    /// The first column.
    public var minX: Int { origin.x }
    /// The first line.
    public var minY: Int { origin.y }
    /// The column after the last one.
    public var maxX: Int { origin.x + size.width }
    /// The line after the last one.
    public var maxY: Int { origin.y + size.height }
    /// The number of columns.
    public var width: Int { size.width }
    /// The number of lines.
    public var height: Int { size.height }

    /// True if the position is in the rectangle.
    public func contains(_ point: Point) -> Bool {
        (minX..<maxX).contains(point.x) && (minY..<maxY).contains(point.y)
    }

    /// The common part of both rectangles; empty if they do not intersect.
    public func intersection(_ other: Rect) -> Rect {
        let left = max(minX, other.minX)
        let top = max(minY, other.minY)
        return Rect(x: left, y: top, width: min(maxX, other.maxX) - left, height: min(maxY, other.maxY) - top)
    }
}
