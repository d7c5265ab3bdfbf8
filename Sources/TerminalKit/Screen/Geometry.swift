/// A place on the screen, counted from the top left, in columns and lines.
public struct Point: Hashable, Sendable {
    /// The column, counted from 0.
    public var x: Int
    /// The line, counted from 0.
    public var y: Int

    /// The place in that column and line.
    public init(x: Int, y: Int) {
        self.x = x
        self.y = y
    }
}

/// An extent in columns and lines.
public struct Size: Hashable, Sendable {
    /// How many columns.
    public var width: Int
    /// How many lines.
    public var height: Int

    /// The extent of so many columns and lines.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}

/// A part of the screen.
public struct Rect: Hashable, Sendable {
    /// The top left place.
    public var origin: Point
    /// The present extent.
    public var size: Size

    /// The part from a place on; a negative extent is none.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.origin = Point(x: x, y: y)
        self.size = Size(width: max(0, width), height: max(0, height))
    }

    /// The first column.
    public var minX: Int { origin.x }
    /// The first line.
    public var minY: Int { origin.y }
    /// The column behind the last one.
    public var maxX: Int { origin.x + size.width }
    /// The line behind the last one.
    public var maxY: Int { origin.y + size.height }
    /// How many columns.
    public var width: Int { size.width }
    /// How many lines.
    public var height: Int { size.height }

    /// Whether a place is in the part.
    public func contains(_ point: Point) -> Bool {
        (minX..<maxX).contains(point.x) && (minY..<maxY).contains(point.y)
    }

    /// The part that both have; empty where they do not meet.
    public func intersection(_ other: Rect) -> Rect {
        let left = max(minX, other.minX)
        let top = max(minY, other.minY)
        return Rect(x: left, y: top, width: min(maxX, other.maxX) - left, height: min(maxY, other.maxY) - top)
    }
}
