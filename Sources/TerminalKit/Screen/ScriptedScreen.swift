/// A screen in memory: keys go in from a script, frames come out as text.
public final class ScriptedScreen: Screen {
    /// The present extent.
    public private(set) var size: Size
    /// How the screen measures text.
    public let text: TextWidth
    /// None: events come from the script.
    public var inputDescriptor: Int32? { nil }
    /// Whether pictures can be shown.
    public var showsPictures = false
    /// The frame shown last.
    public private(set) var frame: CellGrid
    /// How many frames were shown.
    public private(set) var frameCount = 0
    private var pending: [Event] = []

    /// A blank screen of that extent.
    public init(width: Int, height: Int, repertoire: TextWidth.Repertoire = .unicode) {
        size = Size(width: width, height: height)
        text = TextWidth(repertoire)
        frame = CellGrid(size: size)
    }

    /// Shows a frame.
    public func present(_ frame: CellGrid) {
        self.frame = frame
        frameCount += 1
    }

    /// The events that were sent since the last call.
    public func readEvents() -> [Event] {
        defer { pending = [] }
        return pending
    }

    /// Does nothing: there is no terminal.
    public func invalidate() {}
    /// Does nothing: there is no terminal.
    public func updateSize() {}
    /// Does nothing: there is no terminal.
    public func suspend() {}

    /// Adds an event for the next `readEvents`.
    public func send(_ event: Event) { pending.append(event) }

    /// Adds keys in the notation of ``KeySequence``: `"jj<Enter>"`.
    public func send(keys: String) {
        for key in KeySequence(keys).keys { pending.append(.key(key)) }
    }

    /// Adds text as it is typed, every character a key.
    public func send(text: String) {
        for character in text { pending.append(.key(Key(.character(character)))) }
    }

    /// Changes the extent, as a user does who drags the window's corner.
    public func resize(width: Int, height: Int) {
        size = Size(width: width, height: height)
        pending.append(.resize(size))
    }

    // MARK: Reading the frame

    /// The frame's lines as text, without trailing spaces.
    public var lines: [String] {
        (0..<frame.size.height).map { y in
            let cells = frame.line(y)
            guard let last = cells.lastIndex(where: { $0.text != " " && !$0.text.isEmpty }) else { return "" }
            var line = ""
            for cell in cells[...last] { line += cell.text }
            return line
        }
    }

    /// The frame as text: its lines, and beneath them the styles, a letter for each cell, selected ones in brackets.
    public func dump(styles: Bool = true) -> String {
        var result = lines.joined(separator: "\n") + "\n"
        guard styles else { return result }
        result += String(repeating: "=", count: size.width) + "\n"
        for y in 0..<frame.size.height {
            var line = ""
            var wasSelected = false
            for cell in frame.line(y) {
                if cell.style.isSelected != wasSelected {
                    wasSelected = cell.style.isSelected
                    line.append(wasSelected ? "[" : "]")
                }
                line.append(cell.style.role.letter)
            }
            if wasSelected { line.append("]") }
            while line.last == "." { line.removeLast() }
            result += line + "\n"
        }
        if let cursor = frame.cursor { result += "cursor \(cursor.x),\(cursor.y)\n" }
        return result
    }
}
